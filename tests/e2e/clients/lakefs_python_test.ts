import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { serveHome } from "../../support/server.ts";
import { pythonWith, runPython } from "./python.ts";

const PACKAGES = ["lakefs==0.16.0", "lakefs-sdk==1.88.0", "lakefs-client==1.44.0"];

const PROGRAMS = [
  { name: "lakefs", file: "lakefs_python.py", user: "py-admin" },
  { name: "lakefs-sdk", file: "lakefs_sdk_python.py", user: "sdk-admin" },
  { name: "lakefs-client", file: "lakefs_client_python.py", user: "old-admin" },
];

for (const { name, file, user } of PROGRAMS) {
  test(`the Python package ${name} does its work`, async (t) => {
    const python = pythonWith(t, PACKAGES);
    if (!python) return;
    const server = await serveHome(t, { user });
    const program = fileURLToPath(new URL(file, import.meta.url));
    const { url, accessKeyId, secretAccessKey } = server;
    const { code, output } = await runPython(python, [program, url, accessKeyId, secretAccessKey]);
    assert.equal(code, 0, output);
    assert.match(output, /^all done$/m);
    // 501 is an answer; the others would be failures of ours.
    assert.deepEqual(server.log().split("\n").filter((line) => /"status":50[^1]/.test(line)), []);
  });
}
