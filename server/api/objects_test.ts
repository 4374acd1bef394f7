import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Send, type TestServer, testServer } from "../testing.ts";
import type { Ending } from "../../tests/support/temporary.ts";

const OBJECTS = "/repositories/repo/branches/main/objects";
const AT_MAIN = "/repositories/repo/refs/main/objects";

async function withRepository(t: Ending): Promise<TestServer> {
  const server = await testServer(t);
  const body = { name: "repo", storage_namespace: "local://repo" };
  assert.equal((await server.send("POST", "/repositories", { body })).status, 201);
  return server;
}

async function upload(send: Send, path: string, body: string, headers = {}) {
  return await send("POST", `${OBJECTS}?path=${encodeURIComponent(path)}`, { body, headers });
}

describe("uploads", () => {
  it("take a raw body with its content type and metadata", async (t) => {
    const { send } = await withRepository(t);
    const headers = { "content-type": "text/x", "x-lakefs-meta-Color": "blue" };
    const made = await upload(send, "a b+c/é", "hello", headers);
    assert.equal(made.status, 201, made.text);
    const { path, size_bytes: size, content_type: type, metadata, checksum, path_type: kind } = made.json;
    assert.deepEqual([path, size, type, metadata, kind], [
      "a b+c/é",
      5,
      "text/x",
      { color: "blue" },
      "object",
    ]);
    assert.equal(checksum, "5d41402abc4b2a76b9719d911017c592");
    const stat = await send("GET", `${AT_MAIN}/stat?path=a+b%2Bc%2F%C3%A9`);
    assert.deepEqual(stat.json, made.json);
    const bare = await send("GET", `${AT_MAIN}/stat?user_metadata=false&path=a+b%2Bc%2F%C3%A9`);
    assert.equal(bare.json.metadata, undefined);
  });

  it("take the field content of a form", async (t) => {
    const { send } = await withRepository(t);
    const form =
      '--B\r\nContent-Disposition: form-data; name="content"; filename="x"\r\nContent-Type: image/png\r\n\r\nabc\r\n--B--\r\n';
    const made = await upload(send, "f", form, { "content-type": "multipart/form-data; boundary=B" });
    assert.deepEqual([made.status, made.json.size_bytes, made.json.content_type], [201, 3, "image/png"]);
  });

  it("store nothing of a body or a form that ends early", async (t) => {
    const { send } = await withRepository(t);
    const short = await upload(send, "cut", "abc", { "content-length": "10" });
    assert.ok(short.status >= 400, short.text);
    const form = '--B\r\nContent-Disposition: form-data; name="content"\r\n\r\nabc';
    const cut = await upload(send, "cut", form, { "content-type": "multipart/form-data; boundary=B" });
    assert.equal(cut.status, 400);
    assert.equal((await send("GET", `${AT_MAIN}/stat?path=cut`)).status, 404);
  });

  it("under If-None-Match: * do not write over an object", async (t) => {
    const { send } = await withRepository(t);
    const headers = { "if-none-match": "*" };
    assert.equal((await upload(send, "x", "first", headers)).status, 201);
    assert.equal((await upload(send, "x", "second", headers)).status, 412);
    assert.equal((await send("GET", `${AT_MAIN}?path=x`)).text, "first");
    assert.equal((await upload(send, "x", "third", { "if-none-match": '"etag"' })).status, 400);
  });

  it("under If-Match write over the very object that is named alone", async (t) => {
    const { send } = await withRepository(t);
    assert.equal((await upload(send, "x", "none yet", { "if-match": "*" })).status, 412);
    const first = (await upload(send, "x", "first")).json.checksum;
    const changed = await upload(send, "x", "second", { "if-match": `"other", "${first}"` });
    assert.equal(changed.status, 201, changed.text);
    const refused = await upload(send, "x", "third", { "if-match": `"${first}"` });
    assert.deepEqual([refused.status, (await send("GET", `${AT_MAIN}?path=x`)).text], [412, "second"]);
    await send("POST", "/repositories/repo/branches/main/commits", { body: { message: "m" } });
    const bare = await upload(send, "x", "third", { "if-match": changed.json.checksum });
    assert.equal(bare.status, 201, bare.text);
    assert.equal((await upload(send, "x", "fourth", { "if-match": "*" })).status, 201);
    assert.equal((await upload(send, "x", "fifth", { "if-match": 'W/"x"' })).status, 400);
    await send("DELETE", `${OBJECTS}?path=x`);
    assert.equal((await upload(send, "x", "sixth", { "if-match": "*" })).status, 412);
  });

  it("under one condition, many at once: one is stored", async (t) => {
    const { send } = await withRepository(t);
    const race = async (who: string, headers: Record<string, string>) => {
      const names = Array.from({ length: 24 }, (_, i) => `${who} ${i}`);
      const answers = await Promise.all(names.map((name) => upload(send, "x", name, headers)));
      const won = names.filter((_, i) => answers[i]!.status === 201);
      assert.equal(answers.filter(({ status }) => status === 412).length, names.length - 1);
      assert.deepEqual(won, [(await send("GET", `${AT_MAIN}?path=x`)).text]);
      return (await send("GET", `${AT_MAIN}/stat?path=x`)).json.checksum;
    };
    const checksum = await race("first", { "if-none-match": "*" });
    await send("POST", "/repositories/repo/branches/main/commits", { body: { message: "m" } });
    await race("second", { "if-match": `"${checksum}"` });
  });

  it("go to branches alone, under paths that are text", async (t) => {
    const { send } = await withRepository(t);
    await upload(send, "x", "1");
    await send("POST", "/repositories/repo/branches/main/commits", { body: { message: "m" } });
    await send("POST", "/repositories/repo/tags", { body: { id: "v1", ref: "main" } });
    const status = async (branch: string, path: string) =>
      (await send("POST", `/repositories/repo/branches/${branch}/objects?path=${path}`, { body: "x" }))
        .status;
    assert.equal(await status("none", "x"), 404);
    assert.equal(await status("v1", "x"), 404);
    assert.equal(await status("main", ""), 400);
    assert.equal(await status("main", "%00"), 400);
    assert.equal(await status("main", "x".repeat(1025)), 400);
  });
});

describe("downloads", () => {
  it("cannot be run or shown by a browser", async (t) => {
    const { send } = await withRepository(t);
    await upload(send, "page", "<script>", { "content-type": "text/html" });
    const { headers } = await send("GET", `${AT_MAIN}?path=page`);
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.equal(headers.get("content-security-policy"), "sandbox; default-src 'none'");
    assert.match(
      headers.get("content-disposition")!,
      /^attachment; filename="[0-9a-f]{12}-page"; filename\*=UTF-8''page$/,
    );
    assert.equal(headers.get("content-type"), "text/html");
  });

  it("obey ranges, on HEAD too", async (t) => {
    const { send } = await withRepository(t);
    await upload(send, "x", "0123456789");
    for (const [range, text, shown] of [["0-0", "0", "0-0"], ["5-15", "56789", "5-9"], ["-2", "89", "8-9"]]) {
      const headers = { range: `bytes=${range}` };
      const answer = await send("GET", `${AT_MAIN}?path=x`, { headers });
      assert.deepEqual([answer.status, answer.text], [206, text]);
      assert.equal(answer.headers.get("content-range"), `bytes ${shown}/10`);
      const head = await send("HEAD", `${AT_MAIN}?path=x`, { headers });
      assert.deepEqual([head.status, head.text, head.headers.get("content-length")], [
        206,
        "",
        String(text!.length),
      ]);
    }
    const past = await send("GET", `${AT_MAIN}?path=x`, { headers: { range: "bytes=10-" } });
    assert.deepEqual([past.status, past.headers.get("content-range")], [416, "bytes */10"]);
  });

  it("answer 304 to who has the object", async (t) => {
    const { send } = await withRepository(t);
    const { checksum } = (await upload(send, "x", "abc")).json;
    const headers = { "if-none-match": `"${checksum}"` };
    const get = await send("GET", `${AT_MAIN}?path=x`, { headers });
    assert.deepEqual([get.status, get.text, get.headers.get("etag")], [304, "", `"${checksum}"`]);
    assert.equal((await send("HEAD", `${AT_MAIN}?path=x`, { headers })).status, 304);
    assert.equal(
      (await send("GET", `${AT_MAIN}?path=x`, { headers: { "if-none-match": '"y"' } })).text,
      "abc",
    );
  });

  it("answer 404 for what is not there", async (t) => {
    const { send } = await withRepository(t);
    for (const method of ["GET", "HEAD"]) {
      assert.equal((await send(method, `${AT_MAIN}?path=x`)).status, 404);
      assert.equal((await send(method, "/repositories/repo/refs/none/objects?path=x")).status, 404);
      assert.equal((await send(method, "/repositories/none/refs/main/objects?path=x")).status, 404);
    }
  });
});

describe("listings", () => {
  it("fold and page, each name once", async (t) => {
    const { send } = await withRepository(t);
    for (const path of ["a", "b/1", "b/2", "c/1", "d"]) await upload(send, path, path);
    const seen: string[] = [];
    let after = "";
    do {
      const page =
        (await send("GET", `${AT_MAIN}/ls?delimiter=/&amount=1&after=${encodeURIComponent(after)}`)).json;
      seen.push(
        ...page.results.map((one: { path: string; path_type: string }) => `${one.path} ${one.path_type}`),
      );
      after = page.pagination.next_offset;
      assert.equal(page.pagination.has_more, after !== "");
    } while (after !== "");
    assert.deepEqual(seen, ["a object", "b/ common_prefix", "c/ common_prefix", "d object"]);
    const inner = (await send("GET", `${AT_MAIN}/ls?prefix=b/`)).json;
    assert.deepEqual(inner.results.map(({ path }: { path: string }) => path), ["b/1", "b/2"]);
  });
});

describe("an object's metadata", () => {
  it("may have any name", async (t) => {
    const { send } = await withRepository(t);
    await upload(send, "x", "abc", { "x-lakefs-meta-__proto__": "1" });
    const { metadata } = (await send("GET", `${AT_MAIN}/stat?path=x`)).json;
    assert.deepEqual(Object.entries(metadata), [["__proto__", "1"]]);
  });

  it("is replaced, and nothing else of it", async (t) => {
    const { send } = await withRepository(t);
    const made = await upload(send, "x", "abc", { "x-lakefs-meta-a": "1", "x-lakefs-meta-b": "2" });
    const at = "/repositories/repo/branches/main/objects/stat/user_metadata";
    assert.equal((await send("PUT", `${at}?path=x`, { body: { set: { b: "3" } } })).status, 201);
    const stat = (await send("GET", `${AT_MAIN}/stat?path=x`)).json;
    assert.deepEqual(stat, { ...made.json, metadata: { b: "3" } });
    assert.equal((await send("GET", `${AT_MAIN}?path=x`)).text, "abc");
    assert.equal((await send("PUT", `${at}?path=none`, { body: { set: {} } })).status, 404);
    assert.equal((await send("PUT", `${at}?path=x`, { body: {} })).status, 400);
    const large = { set: { b: "x".repeat(100_000) } };
    assert.equal((await send("PUT", `${at}?path=x`, { body: large })).status, 400);
    assert.equal(
      (await send("PUT", at.replace("main", "none") + "?path=x", { body: { set: {} } })).status,
      404,
    );
  });
});

describe("deleting and copying", () => {
  it("work on one object and on many", async (t) => {
    const { send } = await withRepository(t);
    for (const path of ["a", "b", "c"]) await upload(send, path, path);
    const copied = await send("POST", `${OBJECTS}/copy?dest_path=a2`, { body: { src_path: "a" } });
    assert.deepEqual([copied.status, copied.json.path], [201, "a2"]);
    assert.equal(
      (await send("POST", `${OBJECTS}/copy?dest_path=z`, { body: { src_path: "none" } })).status,
      404,
    );
    assert.equal((await send("DELETE", `${OBJECTS}?path=a`)).status, 204);
    const many = await send("POST", `${OBJECTS}/delete`, { body: { paths: ["b", "none"] } });
    assert.deepEqual([many.status, many.json], [200, { errors: [] }]);
    const left = (await send("GET", `${AT_MAIN}/ls`)).json.results;
    assert.deepEqual(left.map(({ path }: { path: string }) => path), ["a2", "c"]);
    const tooMany = { paths: Array.from({ length: 1001 }, (_, i) => `p${i}`) };
    assert.equal((await send("POST", `${OBJECTS}/delete`, { body: tooMany })).status, 400);
  });
});
