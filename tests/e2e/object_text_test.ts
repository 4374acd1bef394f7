/** What stands beside an object's bytes is served in headers: nothing that would break them is taken. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { exchange, signed } from "../../server/gateway/testing.ts";
import { openHome } from "../support/home.ts";
import { serveHome } from "../support/server.ts";

const MAIN = "lakefs://repo/main";
const BROKEN = ["a\nb", "a\rb", "a\x1bb", "a\x7fb"];

test("put refuses a content type or metadata with control characters, before it reads anything", async (t) => {
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  fs.mkdirSync(join(home.folder, "folder"));
  fs.writeFileSync(join(home.folder, "folder/file"), "text");
  for (const text of BROKEN) {
    for (
      const [options, code] of [
        [["--content-type", text], "invalid_content_type"],
        [["--meta", `name=${text}`], "invalid_metadata"],
        [["--meta", `${text}=value`], "invalid_metadata"],
      ] as const
    ) {
      for (const what of [["folder/file"], ["folder", "-r"], ["folder", "-r", "--dry-run"], ["-"]]) {
        const { code: exit, stderr } = await home.run(["put", `${MAIN}/x/`, ...what, ...options, "--json"]);
        assert.deepEqual([exit, JSON.parse(stderr).code], [2, code], `${what} ${JSON.stringify(options)}`);
      }
    }
  }
  assert.deepEqual(await home.json(["ls", "-r", MAIN]), []);
  await home.ok([
    "put",
    `${MAIN}/x`,
    "-",
    "--content-type",
    "text/plain;\tcharset=utf-8",
    "--meta",
    "k=gr\u00fcn",
  ]);
});

test("the API and the S3 gateway answer such text with 400", async (t) => {
  const server = await serveHome(t);
  await server.ok(["repo", "create", "lakefs://repo"]);
  await server.ok(["put", `${MAIN}/a`, "-"], { stdin: "of a" });
  const branch = "/repositories/repo/branches/main";
  const json = { "content-type": "application/json" };
  const send = async (path: string, method: string, body: unknown) =>
    await server.fetch(method, path, { headers: json, body: JSON.stringify(body) });
  for (const text of BROKEN) {
    const set = await send(`${branch}/objects/stat/user_metadata?path=a`, "PUT", { set: { name: text } });
    assert.equal(set.status, 400, await set.text());
    const { physical_address } = await (await server.fetch("GET", `${branch}/staging/backing?path=b`)).json();
    for (const more of [{ content_type: text }, { user_metadata: { name: text } }, { checksum: text }]) {
      const body = { staging: { physical_address }, checksum: "0", size_bytes: 0, ...more };
      const linked = await send(`${branch}/staging/backing?path=b`, "PUT", body);
      assert.equal(linked.status, 400, await linked.text());
    }
    const port = Number(server.url.split(":").at(-1));
    for (const name of ["x-amz-meta-name", "content-type"]) {
      const headers = { [name]: `=?UTF-8?B?${btoa(text)}?=` };
      for (const [method, target] of [["PUT", "/repo/main/c"], ["POST", "/repo/main/c?uploads"]] as const) {
        const request = signed({ method, target, port, credential: server, nowMs: Date.now() }, { headers });
        const answer = await exchange(port, { method, ...request, body: new Uint8Array(0) });
        assert.deepEqual([answer.status, answer.code], [400, "InvalidArgument"], `${method} ${name}`);
      }
    }
  }
  const paths = (await server.json(["ls", "-r", MAIN])).map(({ path }: { path: string }) => path);
  assert.deepEqual(paths, ["a"]);
  assert.equal(
    await (await server.fetch("GET", "/repositories/repo/refs/main/objects?path=a")).text(),
    "of a",
  );
});
