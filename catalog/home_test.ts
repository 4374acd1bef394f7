import assert from "node:assert/strict";
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { describe, it } from "node:test";
import { type Ending, temporaryFolder } from "../tests/support/temporary.ts";
import { findHome, type HomePlaces, homeToInit, initHome, makeHome } from "./home.ts";

const ME = process.getuid?.();

function places(folder: string, more: Partial<HomePlaces> = {}): HomePlaces {
  return {
    workingFolder: folder,
    userDataFolder: join(folder, "user-data"),
    userId: ME,
    userName: (id) => `user ${id}`,
    ...more,
  };
}

function chosen(folder: string, path: string): HomePlaces {
  return places(folder, { chosen: { path, by: "--home" } });
}

describe("findHome()", () => {
  it("takes the chosen home, then the nearest .tarn upward, then the user's own", (t) => {
    const folder = temporaryFolder(t);
    const inner = join(folder, "a", "b");
    fs.mkdirSync(inner, { recursive: true });
    assert.deepEqual(findHome(places(inner)), {
      folder: join(inner, "user-data"),
      ready: false,
      isTrusted: true,
    });
    makeHome(join(folder, ".tarn"));
    assert.deepEqual(findHome(places(inner)), {
      folder: join(folder, ".tarn"),
      ready: true,
      isTrusted: false,
    });
    makeHome(join(folder, "a", ".tarn"));
    assert.deepEqual(findHome(places(inner)), {
      folder: join(folder, "a", ".tarn"),
      ready: true,
      isTrusted: false,
    });
    assert.deepEqual(findHome(chosen(inner, "../x")), {
      folder: join(folder, "a", "x"),
      ready: false,
      isTrusted: true,
      chosenBy: "--home",
    });
  });

  it("makes nothing", (t) => {
    const folder = temporaryFolder(t);
    findHome(chosen(folder, "home"));
    findHome(places(folder));
    assert.deepEqual(fs.readdirSync(folder), []);
  });

  it("refuses what is no home", (t) => {
    const folder = temporaryFolder(t);
    fs.writeFileSync(join(folder, "file"), "x");
    assert.throws(() => findHome(chosen(folder, ".")), { code: "not_a_home" });
    assert.throws(() => findHome(chosen(folder, "file")), { code: "not_a_home" });
    assert.throws(() => findHome(chosen(folder, "file/inner")), { code: "not_a_home" });
    fs.writeFileSync(join(folder, ".tarn"), "");
    assert.throws(() => findHome(places(folder)), { code: "not_a_home" });
  });

  it("refuses a home whose marker is damaged, or of a later version", (t) => {
    const folder = temporaryFolder(t);
    const home = join(folder, "home");
    makeHome(home);
    const codes: Record<string, string> = {
      "": "not_a_home",
      "{": "not_a_home",
      "null": "not_a_home",
      '{"format":"1"}': "not_a_home",
      '{"format":3}': "home_too_new",
    };
    for (const [marker, code] of Object.entries(codes)) {
      fs.writeFileSync(join(home, "tarn-home.json"), marker);
      assert.throws(() => findHome(chosen(folder, "home")), { code }, marker);
    }
  });

  it("refuses a home that lost its marker instead of making a new one in it", (t) => {
    const folder = temporaryFolder(t);
    const home = join(folder, "home");
    makeHome(home);
    fs.writeFileSync(join(home, "kv", "data.mdb"), "x");
    fs.rmSync(join(home, "tarn-home.json"));
    assert.throws(() => findHome(chosen(folder, "home")), { code: "not_a_home" });
  });

  it("refuses another user's home, naming the owner", (t) => {
    const folder = temporaryFolder(t);
    makeHome(join(folder, ".tarn"));
    const asAnother = places(folder, { userId: (ME ?? 0) + 1 });
    assert.throws(() => findHome(asAnother), {
      code: "home_of_another_user",
      message: new RegExp(`"user ${ME}"`),
    });
    assert.throws(() => findHome({ ...asAnother, chosen: { path: ".tarn", by: "--home" } }), {
      code: "home_of_another_user",
    });
  });

  it("refuses a home of which a part is another user's", (t) => {
    if (!mayGiveAway()) return;
    const folder = temporaryFolder(t);
    const home = join(folder, ".tarn");
    makeHome(home);
    for (const part of [join(home, "kv"), home, folder]) {
      fs.chownSync(part, 65534, 65534);
      assert.throws(() => findHome(places(folder)), { code: "home_of_another_user" }, part);
      fs.chownSync(part, 0, 0);
    }
    assert.equal(findHome(places(folder)).ready, true);
  });

  it("refuses a .tarn that is another user's symlink to a home of one's own", (t) => {
    if (!mayGiveAway()) return;
    const folder = temporaryFolder(t), elsewhere = temporaryFolder(t);
    makeHome(join(elsewhere, "home"));
    fs.symlinkSync(join(elsewhere, "home"), join(folder, ".tarn"));
    assert.equal(findHome(places(folder)).ready, true);
    fs.lchownSync(join(folder, ".tarn"), 65534, 65534);
    assert.throws(() => findHome(places(folder)), { code: "home_of_another_user" });
  });
});

/** Only root can give files away; for other users the comparison of ids is tested above. */
function mayGiveAway(): boolean {
  return ME === 0;
}

describe("makeHome()", () => {
  it("makes the folders, private, and the marker", (t) => {
    const home = join(temporaryFolder(t), "a", "home");
    makeHome(home);
    assert.deepEqual(fs.readdirSync(home).sort(), ["kv", "native", "storage", "tarn-home.json"]);
    assert.equal(JSON.parse(fs.readFileSync(join(home, "tarn-home.json"), "utf8")).format, 2);
    assert.equal(fs.statSync(home).mode & 0o777, 0o700);
    assert.equal(fs.statSync(join(home, "kv")).mode & 0o777, 0o700);
  });

  it("finishes what a killed one left, and is done twice without harm", (t) => {
    for (const left of [[], ["kv"], ["kv", "storage"], ["kv", "storage", "native"]]) {
      const home = join(temporaryFolder(t), "home");
      for (const name of left) fs.mkdirSync(join(home, name), { recursive: true });
      if (left.length === 3) fs.writeFileSync(join(home, "tarn-home.json.0011.tmp"), '{"form');
      const found = findHome(chosen(dirname(home), home));
      assert.deepEqual(found, { folder: home, ready: false, isTrusted: true, chosenBy: "--home" });
      makeHome(home);
      fs.writeFileSync(join(home, "kv", "data.mdb"), "kept");
      makeHome(home);
      assert.equal(findHome(chosen(dirname(home), home)).ready, true);
      assert.equal(fs.readFileSync(join(home, "kv", "data.mdb"), "utf8"), "kept");
    }
  });

  it("says clearly when it may not", (t) => {
    const folder = temporaryFolder(t);
    fs.writeFileSync(join(folder, "file"), "x");
    assert.throws(() => makeHome(join(folder, "file", "home")), { code: "not_a_home" });
  });
});

describe("initHome()", () => {
  it("makes DIR/.tarn, or the chosen home, once", (t: Ending) => {
    const folder = temporaryFolder(t);
    assert.equal(homeToInit(undefined, places(folder)), join(folder, ".tarn"));
    assert.equal(homeToInit("x", chosen(folder, "home")), join(folder, "x", ".tarn"));
    assert.equal(homeToInit(undefined, chosen(folder, "home")), join(folder, "home"));
    const home = homeToInit("x", places(folder));
    initHome(home, places(folder));
    assert.throws(() => initHome(home, places(folder)), { code: "home_exists", kind: "exists" });
  });

  it("refuses a link that leads nowhere, and says so", (t) => {
    const folder = temporaryFolder(t), link = join(folder, "link");
    fs.symlinkSync(join(folder, "gone"), link);
    assert.throws(() => initHome(link, places(folder)), {
      code: "not_a_home",
      message: /a link to what is not there$/,
    });
    assert.deepEqual(fs.readdirSync(folder), ["link"]);
  });
});
