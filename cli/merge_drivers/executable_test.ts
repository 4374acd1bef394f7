import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { describe, it } from "node:test";
import { lossyText, utf8 } from "../../base/bytes.ts";
import { type Ending, temporaryFolder } from "../../tests/support/temporary.ts";
import type { DriverSides } from "./driver.ts";
import { executableDriver } from "./executable.ts";

const SIDES: DriverSides = { base: utf8("base"), source: utf8("source"), destination: utf8("destination") };

/** Runs a shell script as a driver; fails the test if it leaves anything in the folder for temporary files. */
async function runScript(
  t: Ending,
  script: string,
  { sides = SIDES, ...limits }: { sides?: DriverSides; maxResultBytes?: number; timeLimitMs?: number } = {},
) {
  const folder = temporaryFolder(t);
  const program = join(folder, "driver");
  writeFileSync(program, `#!/bin/sh\n${script}\n`);
  chmodSync(program, 0o755);
  const temporary = join(folder, "tmp");
  mkdirSync(temporary);
  const driver = executableDriver(program, { temporaryFolder: temporary, maxResultBytes: 1000, ...limits });
  try {
    return await driver.merge(sides, "a b/c");
  } finally {
    assert.deepEqual(readdirSync(temporary), []);
  }
}

describe("executableDriver()", () => {
  it("takes what the program writes to its fourth file", async (t) => {
    const result = await runScript(t, 'cat "$1" "$2" "$3" > "$4"; echo "said"');
    assert.equal(lossyText(result as Uint8Array), "basesourcedestination");
  });

  it("tells which sides are missing, the path, and nothing of our environment", async (t) => {
    const result = await runScript(t, 'test -f "$1" && test ! -s "$1" && env > "$4"', {
      sides: { ...SIDES, base: undefined, source: undefined },
    });
    const lines = lossyText(result as Uint8Array).split("\n");
    assert.ok(lines.includes("TARN_MERGE_MISSING=base source"));
    assert.ok(lines.includes("TARN_MERGE_PATH=a b/c"));
    const known = /^(PATH|HOME|TMPDIR|LANG|TARN_MERGE_\w+|PWD|OLDPWD|SHLVL|_)=|^$/;
    assert.deepEqual(lines.filter((line) => !known.test(line)), []);
  });

  it("leaves a conflict on exit code 1", async (t) => {
    assert.deepEqual(await runScript(t, 'echo x > "$4"; exit 1'), {
      conflict: "the program left it a conflict",
    });
  });

  const failures: readonly (readonly [name: string, script: string, says: RegExp])[] = [
    [
      "on any other exit code, with the last line of what the program said",
      "echo one >&2; echo two >&2; exit 3",
      /with "exec:.*": it ended with 3: two$/,
    ],
    ["when a signal ends it", "kill -9 $$", /SIGKILL/],
    ["when it writes no result", "true", /no result/],
    ["when its result is no file", 'ln -s /etc/passwd "$4"', /no result/],
    ["when its result is too large", 'head -c 1001 /dev/zero > "$4"', /1001 bytes/],
  ];
  for (const [name, script, says] of failures) {
    it(`fails ${name}`, async (t) => {
      await assert.rejects(runScript(t, script), (error: { code: string; message: string }) => {
        assert.equal(error.code, "merge_driver_failed");
        assert.match(error.message, says);
        return true;
      });
    });
  }

  it("ends a program that takes too long", async (t) => {
    await assert.rejects(runScript(t, "exec sleep 100", { timeLimitMs: 50 }), /SIGKILL/);
  });

  it("does not wait for what the program left running", async (t) => {
    const folder = temporaryFolder(t);
    const merging = runScript(t, `sleep 60 & echo $! > "${folder}/left"; cp "$2" "$4"; exit 0`);
    const left = () => Number(readFileSync(join(folder, "left"), "utf8"));
    try {
      assert.equal(lossyText(await merging as Uint8Array), "source");
      assert.doesNotThrow(() => process.kill(left(), 0), "it is still running");
    } finally {
      process.kill(left());
    }
  });

  it("fails when there is no such program, or it is none", async (t) => {
    const folder = temporaryFolder(t);
    const place = { temporaryFolder: folder, maxResultBytes: 1 };
    const noScript = join(folder, "no-script");
    writeFileSync(noScript, "no first line\n", { mode: 0o755 });
    for (
      const [program, says] of [
        ["/nowhere/at-all", /there is no such program/],
        [noScript, /it is no program; a script must begin with #!/],
        [folder, /it may not be run/],
      ] as const
    ) {
      const merging = Promise.resolve(executableDriver(program, place).merge(SIDES, "a"));
      await assert.rejects(merging, (error: { code: string; message: string }) => {
        assert.equal(error.code, "merge_driver_failed");
        assert.match(error.message, says);
        return true;
      });
    }
  });
});
