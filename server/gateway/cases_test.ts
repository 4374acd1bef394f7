/** The cases of real use that are the gateway's, by raw requests: a client's library would make the point nicer than it is. */

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import type { Ending } from "../../tests/support/temporary.ts";
import { type TestGateway, testGateway } from "./testing.ts";

async function withKeys(t: Ending, keys: readonly string[]): Promise<TestGateway> {
  const gateway = await testGateway(t);
  for (const key of keys) await gateway.ask(200, "PUT", `/repo/main/${key}`, { body: key });
  return gateway;
}

describe("keys", () => {
  it("H01 keep a plus", async (t) => {
    const { ask } = await testGateway(t);
    await ask(200, "PUT", "/repo/main/foo+1/bar", { body: "plus" });
    for (const target of ["/repo/main/foo+1/bar", "/repo/main/foo%2B1/bar"]) {
      assert.equal((await ask(200, "GET", target)).text, "plus");
    }
    await ask(404, "GET", "/repo/main/foo%201/bar");
    assert.deepEqual((await ask(200, "GET", "/repo?prefix=main/foo%2B")).all("Key"), ["main/foo+1/bar"]);
  });

  it("H02 are listed by a prefix with a space, signed as %20", async (t) => {
    const { ask } = await withKeys(t, ["a%20b/c", "a+b/c", "ab/c"]);
    const list = await ask(200, "GET", "/repo?list-type=2&prefix=main/a%20b/");
    assert.deepEqual(list.all("Key"), ["main/a b/c"]);
  });

  it("H03 are decoded once when they name a copy's source", async (t) => {
    const { ask } = await testGateway(t);
    const once = "a b+c%20d", twice = "a b+c d";
    await ask(200, "PUT", `/repo/main/${encodeURIComponent(once)}`, { body: "right" });
    await ask(200, "PUT", `/repo/main/${encodeURIComponent(twice)}`, { body: "wrong" });
    for (
      const source of [
        `repo/main/${encodeURIComponent(once)}`,
        "/repo%2Fmain%2Fa%20b%2Bc%2520d",
        "repo/main/a%20b+c%2520d",
      ]
    ) {
      await ask(200, "PUT", "/repo/main/copy", { headers: { "x-amz-copy-source": source } });
      assert.equal((await ask(200, "GET", "/repo/main/copy")).text, "right", source);
    }
  });

  it("H04 with & and < stand well-formed in listings", async (t) => {
    const { ask } = await withKeys(t, ["Net%20%26%20Works", "a%3Cb%3E%22'"]);
    const list = await ask(200, "GET", "/repo?prefix=main/");
    assert.deepEqual(list.all("Key"), ["main/Net &amp; Works", "main/a&lt;b&gt;&quot;'"]);
  });

  it("H05 are percent-encoded in listings on request, plus and space too", async (t) => {
    const { ask } = await withKeys(t, ["a%2Bb.txt", "c%20d/e%26", "%01"]);
    const list = await ask(200, "GET", "/repo?encoding-type=url&prefix=main/&delimiter=%26");
    assert.deepEqual(list.all("EncodingType"), ["url"]);
    assert.deepEqual(list.all("Key"), ["main/%01", "main/a%2Bb.txt"]);
    assert.deepEqual(list.all("Prefix"), ["main/", "main/c%20d/e%26"]);
    assert.deepEqual(list.all("Delimiter"), ["%26"]);
    const plain = await ask(200, "GET", "/repo?prefix=main/");
    assert.deepEqual(plain.all("Key"), ["main/&#x1;", "main/a+b.txt", "main/c d/e&amp;"]);
  });

  it("H06 keep their empty segments, and dots", async (t) => {
    const { ask } = await withKeys(t, ["path//empty", "a/../b", "./c"]);
    assert.equal((await ask(200, "GET", "/repo/main/path//empty")).text, "path//empty");
    await ask(404, "GET", "/repo/main/path/empty");
    assert.equal((await ask(200, "GET", "/repo/main/a/../b")).text, "a/../b");
    await ask(404, "GET", "/repo/main/b");
    const list = await ask(200, "GET", "/repo?prefix=main/path/&delimiter=/");
    assert.deepEqual(list.all("Prefix"), ["main/path/", "main/path//"]);
  });

  it("H07 that end in a slash are objects of exactly that key", async (t) => {
    const { ask } = await testGateway(t);
    await ask(200, "PUT", "/repo/main/dir-with-marker/");
    const head = await ask(200, "HEAD", "/repo/main/dir-with-marker/");
    assert.equal(head.headers.get("content-length"), "0");
    await ask(404, "HEAD", "/repo/main/dir-with-marker");
    assert.deepEqual((await ask(200, "GET", "/repo?prefix=main/")).all("Key"), ["main/dir-with-marker/"]);
  });

  it("H08 may have long segments, in any script", async (t) => {
    const keys = [`${"s".repeat(256)}/${"l".repeat(512)}`, "湖".repeat(100)];
    const { ask } = await testGateway(t);
    for (const key of keys) {
      const target = `/repo/main/${key.split("/").map(encodeURIComponent).join("/")}`;
      await ask(200, "PUT", target, { body: key });
      assert.equal((await ask(200, "GET", target)).text, key);
      assert.deepEqual((await ask(200, "GET", "/repo?prefix=main/")).all("Key"), [`main/${key}`]);
      await ask(204, "DELETE", target);
      await ask(404, "GET", target);
    }
    for (const method of ["PUT", "GET", "DELETE"]) {
      const tooLong = await ask(400, method, `/repo/main/${"x".repeat(1025)}`);
      assert.equal(tooLong.code, "KeyTooLongError");
    }
  });
});

describe("listings", () => {
  const PLACES = ["asdf", "boo/bar", "boo/baz/xyzzy", "cquux/thud", "cquux/bla"];

  it("H10 give each common prefix once, page by page", async (t) => {
    const { ask } = await withKeys(t, ["a/1", "a/2", "b", "c/1", "c/2", "d"]);
    const seen: string[] = [];
    let token: string | undefined;
    do {
      const next: string = token === undefined ? "" : `&continuation-token=${token}`;
      const page = await ask(200, "GET", `/repo?list-type=2&prefix=main/&delimiter=/&max-keys=1${next}`);
      const found = [...page.all("Key"), ...page.all("Prefix").slice(1)];
      assert.equal(found.length, 1);
      assert.deepEqual(page.all("KeyCount"), ["1"]);
      seen.push(...found);
      token = page.all("NextContinuationToken")[0];
      assert.equal(page.all("IsTruncated")[0], String(token !== undefined));
    } while (token !== undefined);
    assert.deepEqual(seen, ["main/a/", "main/b", "main/c/", "main/d"]);
  });

  it("H11 go on behind a common prefix that is the marker", async (t) => {
    const { ask } = await withKeys(t, PLACES);
    const target = "/repo?prefix=main/&delimiter=/&marker=main/boo/&max-keys=1";
    const page = await ask(200, "GET", target);
    assert.deepEqual(page.all("Prefix"), ["main/", "main/cquux/"]);
    assert.deepEqual(page.all("IsTruncated"), ["false"]);
    assert.deepEqual(page.all("Key"), []);
  });

  it("H12 fold at any delimiter", async (t) => {
    const { ask } = await withKeys(t, ["a.json", "a.json.gz", "b.txt", "c/d.json"]);
    const page = await ask(200, "GET", "/repo?prefix=main/&delimiter=.json");
    assert.deepEqual(page.all("Prefix"), ["main/", "main/a.json", "main/c/d.json"]);
    assert.deepEqual(page.all("Key"), ["main/b.txt"]);
  });

  it("H13 show both inner prefixes", async (t) => {
    const { ask } = await withKeys(t, ["folder1/folder2/a", "folder1/folder1/b"]);
    const page = await ask(200, "GET", "/repo?list-type=2&prefix=main/folder1/&delimiter=/");
    assert.deepEqual(page.all("Prefix").slice(1), ["main/folder1/folder1/", "main/folder1/folder2/"]);
  });
});

describe("ranges and conditions of reads", () => {
  it("H15 H16 H17 give the bytes that there are, on GET and HEAD alike", async (t) => {
    const { ask } = await testGateway(t);
    await ask(200, "PUT", "/repo/main/ten", { body: "0123456789" });
    const cases = [["bytes=0-0", "0", "bytes 0-0/10"], ["bytes=5-15", "56789", "bytes 5-9/10"], [
      "bytes=-3",
      "789",
      "bytes 7-9/10",
    ], ["bytes=7-", "789", "bytes 7-9/10"]] as const;
    for (const [range, text, shown] of cases) {
      const got = await ask(206, "GET", "/repo/main/ten", { headers: { range } });
      assert.deepEqual([got.text, got.headers.get("content-range")], [text, shown]);
      const head = await ask(206, "HEAD", "/repo/main/ten", { headers: { range } });
      assert.deepEqual([head.headers.get("content-length"), head.headers.get("content-range")], [
        String(text.length),
        shown,
      ]);
    }
    const beyond = await ask(416, "GET", "/repo/main/ten", { headers: { range: "bytes=10-" } });
    assert.deepEqual([beyond.code, beyond.headers.get("content-range")], ["InvalidRange", "bytes */10"]);
    assert.equal((await ask(416, "HEAD", "/repo/main/ten", { headers: { range: "bytes=10-" } })).text, "");
  });

  it("H19 answer 304 without a body for what the client has", async (t) => {
    const { ask } = await testGateway(t);
    const put = await ask(200, "PUT", "/repo/main/a", { body: "a" });
    const etag = put.headers.get("etag")!;
    for (const method of ["GET", "HEAD"]) {
      const same = await ask(304, method, "/repo/main/a", { headers: { "if-none-match": etag } });
      assert.deepEqual([same.text, same.headers.get("etag")], ["", etag]);
      await ask(200, method, "/repo/main/a", { headers: { "if-none-match": '"other"' } });
    }
  });
});

describe("writes", () => {
  it("H18 under If-None-Match: * do not take the place of anything", async (t) => {
    const { ask } = await testGateway(t);
    const headers = { "if-none-match": "*" };
    await ask(200, "PUT", "/repo/main/a", { body: "first", headers });
    assert.equal(
      (await ask(412, "PUT", "/repo/main/a", { body: "second", headers })).code,
      "PreconditionFailed",
    );
    assert.equal((await ask(200, "GET", "/repo/main/a")).text, "first");
  });

  it("H23 store what stood in the chunks that boto3 sends, and nothing of the chunks", async (t) => {
    const { ask } = await testGateway(t);
    const body = "Hello World!\n";
    const crc = Buffer.from("7d14dddd", "hex").toString("base64");
    const sent = Buffer.from(`d\r\n${body}\r\n0\r\nx-amz-checksum-crc32:${crc}\r\n\r\n`);
    await ask(200, "PUT", "/repo/main/hello", {
      sent,
      payload: "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
      headers: {
        "content-encoding": "aws-chunked",
        "content-length": String(sent.length),
        "x-amz-decoded-content-length": "13",
        "x-amz-trailer": "x-amz-checksum-crc32",
        "x-amz-sdk-checksum-algorithm": "CRC32",
      },
    });
    const got = await ask(200, "GET", "/repo/main/hello");
    assert.equal(got.text, body);
    assert.equal(got.headers.get("content-length"), "13");
    assert.equal(got.headers.get("content-encoding"), null);
  });

  it("H24 put new metadata on an object that is copied onto itself", async (t) => {
    const { ask } = await testGateway(t);
    await ask(200, "PUT", "/repo/main/a", { body: "a", headers: { "x-amz-meta-old": "1" } });
    const headers = { "x-amz-copy-source": "/repo/main/a", "x-amz-meta-new": "2", "content-type": "text/x" };
    assert.equal((await ask(400, "PUT", "/repo/main/a", { headers })).code, "InvalidRequest");
    await ask(200, "PUT", "/repo/main/a", { headers: { ...headers, "x-amz-metadata-directive": "REPLACE" } });
    const head = await ask(200, "GET", "/repo/main/a");
    const shown = ["x-amz-meta-old", "x-amz-meta-new", "content-type"].map((name) => head.headers.get(name));
    assert.deepEqual([head.text, ...shown], ["a", null, "2", "text/x"]);
  });

  it("H26 keep metadata in any script, by RFC 2047", async (t) => {
    const { ask, store } = await testGateway(t);
    const word = `=?UTF-8?B?${Buffer.from("grün").toString("base64")}?=`;
    for (const sent of ["grün", word, "=?utf-8?Q?gr=C3=BCn?="]) {
      await ask(200, "PUT", "/repo/main/a", { headers: { "x-amz-meta-x": sent } });
      assert.equal((await store.stat("repo", "main", "a")).metadata["x"], "grün", sent);
      for (const method of ["GET", "HEAD"]) {
        assert.equal((await ask(200, method, "/repo/main/a")).headers.get("x-amz-meta-x"), word);
      }
    }
  });

  it("H27 refuse to delete more than a thousand keys at once, and delete none", async (t) => {
    const { ask } = await withKeys(t, ["k0", "k1000"]);
    const document = (count: number) =>
      `<Delete>${
        Array.from({ length: count }, (_, i) => `<Object><Key>main/k${i}</Key></Object>`).join("")
      }</Delete>`;
    const send = (status: number, body: string) =>
      ask(status, "POST", "/repo?delete", {
        body,
        headers: { "content-md5": createHash("md5").update(body).digest("base64") },
      });
    assert.equal((await send(400, document(1001))).code, "MalformedXML");
    assert.equal((await ask(200, "GET", "/repo/main/k0")).text, "k0");
    assert.equal((await send(200, document(1000))).all("Deleted").length, 1000);
    await ask(404, "GET", "/repo/main/k0");
    assert.equal((await ask(200, "GET", "/repo/main/k1000")).text, "k1000");
  });
});

describe("presigned requests", () => {
  it("H25 are refused when their time is over", async (t) => {
    const { ask, s3, engine } = await testGateway(t);
    await ask(200, "PUT", "/repo/main/a", { body: "a" });
    assert.equal((await s3("GET", "/repo/main/a", { presignedSeconds: 60 })).text, "a");
    const late = await s3("GET", "/repo/main/a", {
      presignedSeconds: 60,
      signedAtMs: engine.clock.now() - 120_000,
    });
    assert.deepEqual([late.status, late.code], [403, "AccessDenied"]);
  });
});

describe("a path that is no request of S3's", () => {
  it("H60 is answered with 404 as JSON", async (t) => {
    const { s3 } = await testGateway(t);
    for (const target of ["/api/v1/nowhere", "/nowhere", "/repo/main/a"]) {
      const answer = await s3("GET", target, { credential: null });
      assert.equal(answer.status, 404);
      assert.match(answer.headers.get("content-type")!, /^application\/json/);
    }
    const unsigned = await s3("GET", "/repo/main/a", { credential: null, headers: { "x-amz-date": "x" } });
    assert.deepEqual([unsigned.status, unsigned.code], [403, "AccessDenied"]);
  });
});
