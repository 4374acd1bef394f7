/** A server that answers uploads before they are in the database: its journal, other commands beside it, kills and copies. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import type { Home } from "../support/home.ts";
import { requireTool } from "../support/requires.ts";
import { serveAgain, type ServedHome, serveHome } from "../support/server.ts";

const MAIN = "lakefs://repo/main";
const ARGS = ["--durability", "relaxed", "--log-level", "error"];

async function upload(server: ServedHome, path: string, body = path): Promise<void> {
  const at = `/repositories/repo/branches/main/objects?path=${encodeURIComponent(path)}`;
  const answer = await server.fetch("POST", at, { body });
  assert.equal(answer.status, 201, await answer.text());
}

async function pathsOf(home: Home, ref = MAIN, env: Record<string, string> = {}): Promise<string[]> {
  const listed = await home.json(["ls", "-r", ref], { env });
  return listed.map(({ path }: { path: string }) => path);
}

const journalOf = (home: Home) => join(home.path, "kv", "journal");

describe("a server with relaxed uploads", () => {
  it("shows them at once to other commands, which may write and commit beside it", async (t) => {
    const server = await serveHome(t, { args: ARGS });
    await server.ok(["repo", "create", "lakefs://repo"]);
    const expected: string[] = [];
    for (let i = 0; i < 30; i++) {
      const [path, by] = [`f${String(i).padStart(2, "0")}`, `g${i}`];
      await upload(server, path);
      expected.push(path);
      assert.ok((await pathsOf(server)).includes(path), path);
      if (i % 5 === 0) {
        await server.ok(["put", `${MAIN}/${by}`, "-"], { stdin: "by a command" });
        await upload(server, by, "over it");
        expected.push(by);
      }
      if (i % 7 === 0) {
        await upload(server, "gone");
        await server.ok(["rm", `${MAIN}/gone`]);
      }
      if (i % 10 === 0) {
        await server.ok(["commit", MAIN, "-m", `${i}`]);
        assert.deepEqual(await pathsOf(server, `${MAIN}@`), expected.toSorted());
        assert.equal(await server.text(["status", MAIN]), "");
      }
    }
    assert.deepEqual(await pathsOf(server), expected.toSorted());
    assert.equal(await server.text(["cat", `${MAIN}/g5`]), "over it");
    assert.ok(fs.existsSync(journalOf(server)));
    server.process.kill("SIGTERM");
    await server.ended;
    assert.ok(!fs.existsSync(journalOf(server)));
    assert.deepEqual(await pathsOf(server), expected.toSorted());
  });

  it("leaves what it answered to the commands that come after a kill", async (t) => {
    const server = await serveHome(t, { args: ARGS });
    await server.ok(["repo", "create", "lakefs://repo"]);
    for (let i = 0; i < 40; i++) await upload(server, `f${i}`);
    server.process.kill("SIGKILL");
    await server.ended;
    assert.ok(fs.existsSync(journalOf(server)));
    assert.equal((await pathsOf(server)).length, 40);
    const { "key-value store": _, ...found } = await server.json(["doctor"]);
    assert.doesNotMatch(JSON.stringify(found), /kv_journal_corrupt/);
    await server.ok(["commit", MAIN, "-m", "what is left"]);
    assert.equal((await pathsOf(server, `${MAIN}@`)).length, 40);
    // Nothing is in it any more.
    fs.rmSync(journalOf(server));
    assert.equal((await pathsOf(server)).length, 40);
  });

  it("says what is wrong with a journal that is damaged, and how to go on without", async (t) => {
    const server = await serveHome(t, { args: ARGS });
    await server.ok(["repo", "create", "lakefs://repo"]);
    await upload(server, "a");
    await upload(server, "b");
    server.process.kill("SIGKILL");
    await server.ended;
    fs.writeFileSync(journalOf(server), "no journal");
    for (const command of [["ls", MAIN], ["put", `${MAIN}/c`, "-"]]) {
      const { code, stderr } = await server.run([...command, "--json"], { stdin: "" });
      assert.equal(code, 10, stderr);
      const error = JSON.parse(stderr);
      assert.equal(error.code, "kv_journal_corrupt");
      assert.match(error.hint, /move the journal/);
    }
    assert.equal((await server.run(["doctor"])).code, 1);
    fs.renameSync(journalOf(server), join(server.folder, "journal"));
    await server.ok(["put", `${MAIN}/c`, "-"], { stdin: "" });
    const credential = { access_key_id: server.accessKeyId, secret_access_key: server.secretAccessKey };
    await upload(await serveAgain(t, server, { credential, args: ARGS }), "d");
    assert.ok((await pathsOf(server)).includes("d"));
  });

  it("is copied while it takes uploads: each copy holds all that was answered before, or is refused", async (t) => {
    if (!requireTool(t, "cp")) return;
    const server = await serveHome(t, { args: ARGS });
    await server.ok(["repo", "create", "lakefs://repo"]);
    let count = 0, most = 0, isOver = false;
    const uploading = (async () => {
      while (!isOver) {
        if (count < most) await upload(server, `f${count++}`);
        else await new Promise((resolve) => setTimeout(resolve, 5));
      }
    })();
    let whole = 0, refused = 0;
    for (let i = 0; i < 15; i++) {
      // Without a bound each copy takes longer than the one before: where the disk is slow, without end.
      most = count + 200;
      const before = count - 1;
      const copy = join(server.folder, `copy-${i}`);
      await promisify(execFile)("cp", ["-r", server.path, copy]).catch(() => {});
      const { code, stdout, stderr } = await server.run(["ls", "-r", MAIN, "--json"], {
        env: { TARN_HOME: copy },
      });
      assert.ok(code === 0 || code === 10, `exit ${code}: ${stderr}`);
      if (code === 10) refused++;
      else {
        const listed = new Set(JSON.parse(stdout.toString()).map(({ path }: { path: string }) => path));
        for (let f = 0; f < before; f++) assert.ok(listed.has(`f${f}`), `copy ${i} of ${before} lacks f${f}`);
        whole++;
      }
    }
    isOver = true;
    await uploading;
    t.diagnostic(`${whole} whole, ${refused} refused`);
    assert.ok(whole > 0);
  });
});
