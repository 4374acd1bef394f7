/** The short form of `bench/soak.sh --serve --kill`. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { soakServer } from "../../bench/serve_soak/mod.ts";
import { binaryPath } from "../support/binary.ts";
import { temporaryFolder } from "../support/temporary.ts";

test("clients that do all kinds of things find what they were answered, also when the server is killed", async (t) => {
  const lines: string[] = [];
  const soaked = await soakServer({
    binary: binaryPath(),
    environment: { TARN_HOME: join(temporaryFolder(t), "home") },
    args: [],
    // Draws kills 5 and 13 seconds after the start.
    seed: 1,
    clients: 6,
    repositories: 2,
    seconds: 20,
    killEverySeconds: 6,
    print: (line) => lines.push(line),
  }).catch((error) => assert.fail(`${error.message}\n${lines.join("\n")}`));
  assert.ok(soaked.kills >= 2, `${soaked.kills} kills`);
  assert.ok(soaked.answered > 100, `${soaked.answered} answers`);
});
