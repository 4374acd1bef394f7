/** A command that makes a home where there is none makes nothing if it fails: neither the home nor a key-value store. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { openHome } from "../support/home.ts";

type Failing = readonly [line: string, code: string, env?: Readonly<Record<string, string>>];

const FAILING: readonly Failing[] = [
  ["auth key nobody", "user_not_found"],
  ["auth key nobody", "user_not_found", { TARN_KV: "lmdb:kv" }],
  ["auth setup a\nb", "invalid_user_name"],
  ["auth setup a\nb", "invalid_user_name", { TARN_KV: "lmdb:kv" }],
  ["auth setup me", "secret_key_missing", { TARN_SECRET_KEY_FILE: "nowhere/key" }],
  ["auth setup me", "secret_key_invalid", { TARN_SECRET_KEY_FILE: "no-key" }],
  ["auth setup me", "invalid_kv_address", { TARN_KV: "what:ever" }],
  ["repo create repo", "invalid_uri"],
  ["repo create lakefs://R", "invalid_repository_name"],
  ["repo create lakefs://R", "invalid_repository_name", { TARN_KV: "lmdb:kv" }],
  ["repo create lakefs://repo --default-branch a..b", "invalid_branch_name"],
  ["repo create lakefs://repo --raggedness 99999999999", "invalid_chunking"],
  ["repo create lakefs://repo --storage-namespace s3://bucket/x", "invalid_storage_namespace"],
  ["repo create lakefs://repo --storage-namespace local://FOLDER/home/x", "invalid_storage_namespace"],
  ["repo create lakefs://repo --storage-namespace local://FOLDER", "invalid_storage_namespace"],
  ["repo create lakefs://repo --storage-namespace local://FOLDER/taken", "namespace_in_use"],
  ["repo create lakefs://repo --storage-namespace local://FOLDER/no-key/x", "storage_unavailable"],
  ["repo create lakefs://repo", "invalid_kv_address", { TARN_KV: "what:ever" }],
  ["repo create lakefs://repo", "kv_unavailable", { TARN_KV: "postgres://tarn@127.0.0.1:1/tarn" }],
  ["quickstart nowhere", "file_not_found"],
  ["quickstart empty", "empty_folder"],
  ["serve --listen nowhere", "invalid_argument"],
  ["serve --listen 127.0.0.1:PORT", "cannot_listen"],
  ["serve --listen 203.0.113.7:80", "setup_needed"],
];

test("a command that fails makes no home, and no key-value store", async (t) => {
  const home = openHome(t);
  for (const folder of ["empty", "taken/data"]) {
    fs.mkdirSync(join(home.folder, folder), { recursive: true });
  }
  for (const file of ["taken/data/x", "no-key"]) {
    fs.writeFileSync(join(home.folder, file), "text", { mode: 0o600 });
  }
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  t.after(() => void taken.close());
  const { port } = taken.address() as { port: number };
  const before = fs.readdirSync(home.folder, { recursive: true }).sort();
  for (const [line, code, env] of FAILING) {
    const args = line.replace("FOLDER", home.folder).replace("PORT", `${port}`).split(" ");
    const { stderr } = await home.run([...args, "--json"], { env, timeoutMs: 30_000 });
    assert.equal(JSON.parse(stderr).code, code, line);
    assert.deepEqual(fs.readdirSync(home.folder, { recursive: true }).sort(), before, line);
  }
  for (
    const [line, env] of [
      ["repo create lakefs://repo --storage-namespace local://here", {}],
      ["auth setup me", {}],
      ["auth key me", {}],
      ["repo create lakefs://repo", { TARN_KV: "lmdb:kv", TARN_HOME: join(home.folder, "home2") }],
    ] as const
  ) await home.ok(line.split(" "), { env });
});
