import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { serveHome } from "../../support/server.ts";
import { pythonWith, runPython } from "./python.ts";

const PACKAGES = [
  "lakefs-spec==0.15.1",
  "lakefs==0.16.0",
  "lakefs-sdk==1.88.0",
  "pandas==3.1.1",
  "pyarrow==26.0.1",
  "duckdb==2.0.1",
  "deltalake==1.6.6",
];

const PROGRAMS = [
  { name: "lakefs-spec does its work, under pandas and DuckDB", file: "lakefs_spec_python.py" },
  { name: "deltalake keeps tables at lakefs:// addresses", file: "lakefs_delta_python.py" },
];

for (const { name, file } of PROGRAMS) {
  test(`the Python package ${name}`, async (t) => {
    const python = pythonWith(t, PACKAGES);
    if (!python) return;
    const server = await serveHome(t);
    const program = fileURLToPath(new URL(file, import.meta.url));
    const { url, accessKeyId, secretAccessKey } = server;
    const { code, output } = await runPython(python, [program, url, accessKeyId, secretAccessKey]);
    assert.equal(code, 0, output);
    assert.match(output, /^all done$/m);
    assert.deepEqual(server.log().split("\n").filter((line) => /"status":50[^1]/.test(line)), []);
  });
}
