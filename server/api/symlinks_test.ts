import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { lossyText } from "../../base/bytes.ts";
import type { Ending } from "../../tests/support/temporary.ts";
import { type TestRepository, testRepository } from "./testing.ts";

interface SymlinkRepository extends TestRepository {
  /** Writes the files, and returns all that there are, by their paths below the location that is answered. */
  links(branch: string, location?: string): Promise<Record<string, string[]>>;
  addressOf(path: string, branch?: string): Promise<string>;
}

async function symlinkRepository(t: Ending): Promise<SymlinkRepository> {
  const repository = await testRepository(t);
  const { ask, engine } = repository;
  const base = engine.objects.locate("data").slice(0, -"data".length);
  return {
    ...repository,
    async links(branch, location) {
      const query = location === undefined ? "" : `?location=${encodeURIComponent(location)}`;
      const answer = await ask(201, "POST", `/refs/${encodeURIComponent(branch)}/symlink${query}`);
      assert.ok(answer.json.location.startsWith(base), answer.text);
      const root = `${decodeURIComponent(answer.json.location.slice(base.length))}/`;
      const files: Record<string, string[]> = {};
      for await (const page of engine.objects.pages({ prefix: root })) {
        for (const { key } of page.objects) {
          const text = lossyText(await engine.objects.read(key, 0, 10_000));
          assert.match(text, /\n$/);
          files[key.slice(root.length)] = text.slice(0, -1).split("\n");
        }
      }
      return files;
    },
    async addressOf(path, branch = "main") {
      const answer = await ask(200, "GET", `/refs/${branch}/objects/stat?path=${encodeURIComponent(path)}`);
      return answer.json.physical_address;
    },
  };
}

describe("symlink files", () => {
  it("name the objects of each folder, committed or staged, by their physical addresses", async (t) => {
    const { commit, put, links, addressOf } = await symlinkRepository(t);
    await commit("main", "t/year=2021/month=11/a", "1");
    await put("main", "t/year=2021/month=11/b", "2");
    await put("main", "t/year=2021/month=12/ü 1", "3");
    await put("main", "t/top", "4");
    await put("main", "tt/other", "5");
    assert.deepEqual(await links("main", "t"), {
      "symlink.txt": [await addressOf("t/top")],
      "year=2021/month=11/symlink.txt": [
        await addressOf("t/year=2021/month=11/a"),
        await addressOf("t/year=2021/month=11/b"),
      ],
      "year=2021/month=12/symlink.txt": [await addressOf("t/year=2021/month=12/ü 1")],
    });
    const all = await links("main");
    assert.deepEqual(Object.keys(all), [
      "t/symlink.txt",
      "t/year=2021/month=11/symlink.txt",
      "t/year=2021/month=12/symlink.txt",
      "tt/symlink.txt",
    ]);
  });

  it("are as of the last time: of folders that are gone none is left, and others' are not touched", async (t) => {
    const { ask, branch, put, links, addressOf } = await symlinkRepository(t);
    await put("main", "t/p=1/a", "1");
    await put("main", "t/p=2/a", "2");
    await put("main", "u/a", "3");
    await branch("main/t");
    await put("main/t", "p=9/a", "4");
    assert.deepEqual(Object.keys(await links("main/t")), ["p=9/symlink.txt"]);
    await links("main");
    await ask(204, "DELETE", "/branches/main/objects?path=t%2Fp%3D1%2Fa");
    await ask(204, "DELETE", "/branches/main/objects?path=u%2Fa");
    await put("main", "t/p=2/b", "5");
    assert.deepEqual(await links("main", "t/"), {
      "p=2/symlink.txt": [await addressOf("t/p=2/a"), await addressOf("t/p=2/b")],
    });
    // Only what is below the location is written anew.
    assert.deepEqual(Object.keys(await links("main", "u")), []);
    assert.deepEqual(Object.keys(await links("main/t")), ["p=9/symlink.txt"]);
  });

  it("leave out what only marks a folder", async (t) => {
    const { put, links, addressOf } = await symlinkRepository(t);
    await put("main", "t/", "");
    await put("main", "t/empty/", "");
    await put("main", "t/a", "1");
    assert.deepEqual(await links("main", "t"), { "symlink.txt": [await addressOf("t/a")] });
  });

  it("are not made for paths that would lead elsewhere", async (t) => {
    const { ask, put, engine } = await symlinkRepository(t);
    for (const folder of ["../../../data/", "a/../../b/", "./", "a/.."]) {
      await put("main", `${folder}/x`, "1");
      await ask(400, "POST", `/refs/main/symlink?location=${encodeURIComponent(folder)}`);
    }
    await ask(400, "POST", "/refs/main/symlink");
    for await (const page of engine.objects.pages()) {
      for (const { key } of page.objects) assert.doesNotMatch(key, /symlinks.*\.\./);
    }
  });

  it("are made of branches alone", async (t) => {
    const { ask, commit } = await symlinkRepository(t);
    const id = await commit("main", "a", "1");
    await ask(201, "POST", "/tags", { id: "v1", ref: "main" });
    for (const ref of ["v1", id, "main~1", "main@", "missing", ".."]) {
      const answer = await ask(404, "POST", `/refs/${encodeURIComponent(ref)}/symlink`).catch((error) => {
        if (ref === "..") return undefined;
        throw error;
      });
      if (answer) assert.doesNotMatch(answer.text, /_lakefs/);
    }
  });
});
