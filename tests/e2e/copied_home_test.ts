/**
 * `cp -r` of a home while others write to it. Such a copy may be torn; each one either holds a state that is whole, or is
 * refused as damaged where that is met.
 */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { type Home, openHome } from "../support/home.ts";
import { requireTool } from "../support/requires.ts";

const COPIES = 20;

/** Stages and commits until it is told to stop; returns how often. */
async function write(home: Home, branch: string, isOver: () => boolean): Promise<number> {
  for (let i = 0;; i++) {
    if (isOver()) return i;
    const uri = `lakefs://repo/${branch}`;
    await home.ok(["put", `${uri}/${branch}/f${i}`, "-"], { stdin: `${branch} ${i}` });
    await home.ok(["commit", uri, "-m", `${branch} ${i}`]);
  }
}

/** Reads whatever the copy's refs lead to. Returns `false` where the copy is refused as damaged. */
async function isWhole(home: Home, copy: string): Promise<boolean> {
  const env = { TARN_HOME: copy };
  const read = async (args: readonly string[]) => {
    const { code, signal, stdout, stderr } = await home.run([...args, "--json"], { env });
    assert.ok(code === 0 || code === 10, `${args.join(" ")}: exit ${code ?? signal}\n${stderr}`);
    return code === 0 ? JSON.parse(stdout.toString()) : undefined;
  };
  const branches = await read(["branch", "list", "lakefs://repo"]);
  for (const { id } of branches ?? []) {
    const uri = `lakefs://repo/${id}`;
    const commits = await read(["log", uri]);
    const objects = await read(["ls", "-r", `${uri}@`]);
    if (!commits || !objects) return false;
    // Each commit but those of the beginning has brought one object.
    const own = objects.filter(({ path }: { path: string }) => path.startsWith(`${id}/`)).length;
    const brought = commits.filter(({ message }: { message: string }) => message.startsWith(`${id} `)).length;
    assert.equal(own, brought, `${id} has ${brought} commits and ${own} objects`);
    const last = objects.filter(({ path }: { path: string }) => path.startsWith(`${id}/`)).at(-1);
    if (last) {
      const { code } = await home.run(["cat", `${uri}@/${last.path}`], { env });
      assert.ok(code === 0 || code === 10 || code === 3);
      if (code !== 0) return false;
    }
  }
  return branches !== undefined;
}

test(`of ${COPIES} copies made under load each is whole or refused, none wrong`, async (t) => {
  if (!requireTool(t, "cp")) return;
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  await home.ok(["branch", "lakefs://repo/side", "--from", "main"]);
  let isOver = false;
  const writers = ["main", "side"].map((branch) => write(home, branch, () => isOver));
  const copies: string[] = [];
  try {
    while (copies.length < COPIES) {
      await new Promise((resolve) => setTimeout(resolve, 60));
      const copy = join(home.folder, `copy-${copies.length}`);
      try {
        await promisify(execFile)("cp", ["-r", home.path, copy]);
      } catch {
        // A temporary file was gone before it was copied.
        assert.ok(existsSync(copy));
      }
      copies.push(copy);
    }
  } finally {
    isOver = true;
  }
  assert.ok((await Promise.all(writers)).every((times) => times > 0));
  let whole = 0;
  for (const copy of copies) if (await isWhole(home, copy)) whole++;
  t.diagnostic(`${whole} of ${COPIES} copies are whole`);
  const still = join(home.folder, "still");
  await promisify(execFile)("cp", ["-r", home.path, still]);
  assert.equal(await isWhole(home, still), true, "a copy made while nobody writes is whole");
});
