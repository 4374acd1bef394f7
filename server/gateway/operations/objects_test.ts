import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import { exchange, signed, testGateway } from "../testing.ts";

describe("objects through the gateway", () => {
  it("are put and read with their headers, and with a checksum on request", async (t) => {
    const { ask } = await testGateway(t);
    const put = await ask(200, "PUT", "/repo/main/a.txt", {
      body: "hello",
      headers: {
        "content-type": "text/plain",
        "cache-control": "max-age=60",
        "content-encoding": "gzip",
        "content-disposition": 'inline; filename="ü"',
        "x-amz-meta-Owner": "Ann, Bob",
      },
    });
    assert.equal(put.headers.get("etag"), '"5d41402abc4b2a76b9719d911017c592"');
    const expected = {
      "accept-ranges": "bytes",
      "cache-control": "max-age=60",
      "content-disposition": `=?UTF-8?B?${btoa('inline; filename="\u00c3\u00bc"')}?=`,
      "content-encoding": "gzip",
      "content-length": "5",
      "content-security-policy": "sandbox; default-src 'none'",
      "content-type": "text/plain",
      etag: '"5d41402abc4b2a76b9719d911017c592"',
      "x-amz-meta-owner": "Ann, Bob",
      "x-content-type-options": "nosniff",
    };
    for (const method of ["GET", "HEAD"]) {
      const got = await ask(200, method, "/repo/main/a.txt");
      assert.equal(got.text, method === "GET" ? "hello" : "");
      for (const [name, value] of Object.entries(expected)) assert.equal(got.headers.get(name), value, name);
      assert.equal(Date.parse(got.headers.get("last-modified")!) % 1000, 0);
      assert.equal(got.headers.get("x-amz-checksum-sha256"), null);
      assert.match(got.headers.get("x-amz-request-id")!, /^[0-9a-f]{24}$/);
      const checked = await ask(200, method, "/repo/main/a.txt", {
        headers: { "x-amz-checksum-mode": "ENABLED" },
      });
      const sha256 = createHash("sha256").update("hello").digest("base64");
      assert.equal(checked.headers.get("x-amz-checksum-sha256"), sha256);
    }
    const first = await ask(206, "GET", "/repo/main/a.txt?partNumber=1", {
      headers: { "x-amz-checksum-mode": "ENABLED" },
    });
    assert.notEqual(first.headers.get("x-amz-checksum-sha256"), null);
    const part = await ask(206, "GET", "/repo/main/a.txt", {
      headers: { range: "bytes=1-2", "x-amz-checksum-mode": "ENABLED" },
    });
    assert.equal(part.headers.get("x-amz-checksum-sha256"), null);
  });

  it("show what other clients wrote, and to them", async (t) => {
    const { ask, store } = await testGateway(t);
    const writer = await store.writer("repo", "main");
    await writer.put("a", new TextEncoder().encode("api"), { metadata: { from: "api", "no header": "x" } });
    await writer.close();
    const { headers } = await ask(200, "HEAD", "/repo/main/a");
    assert.equal(headers.get("x-amz-meta-from"), "api");
    assert.equal(headers.get("x-amz-missing-meta"), "1");
    await ask(200, "PUT", "/repo/main/b", { headers: { "x-amz-meta-from": "s3", expires: "0" } });
    assert.deepEqual((await store.stat("repo", "main", "b")).metadata, { from: "s3", "http:expires": "0" });
    await ask(200, "PUT", "/repo/main/c", { headers: { "x-amz-meta-__proto__": "a name like any other" } });
    assert.equal(
      (await ask(200, "HEAD", "/repo/main/c")).headers.get("x-amz-meta-__proto__"),
      "a name like any other",
    );
  });

  it("are read with whole headers, whatever an older version or another program has let in", async (t) => {
    const { ask, send, store } = await testGateway(t);
    await store.createRepository("other", { committer: "tester" });
    const bad = "a\r\nset-cookie: b\n\0";
    const writer = await store.writer("repo", "main");
    await writer.put("a", new TextEncoder().encode("text"), {
      contentType: `text/plain${bad}`,
      metadata: { value: bad, [bad]: "name", "http:expires": bad },
      isCarriedOver: true,
    });
    await writer.close();
    await ask(200, "PUT", "/other/main/a", { headers: { "x-amz-copy-source": "/repo/main/a" } });
    await ask(200, "PUT", "/repo/main/copy", { headers: { "x-amz-copy-source": "/repo/main/a" } });
    for (const method of ["GET", "HEAD"]) {
      for (const target of ["/repo/main/a", "/other/main/a", "/repo/main/copy"]) {
        const { headers, text } = await ask(200, method, target);
        assert.equal(text, method === "GET" ? "text" : "");
        assert.equal(headers.get("set-cookie"), null);
        assert.equal(headers.get("content-type"), "application/octet-stream");
        assert.equal(headers.get("x-amz-meta-value"), `=?UTF-8?B?${btoa(bad)}?=`);
        assert.equal(headers.get("x-amz-missing-meta"), "1");
      }
      const answer = await send(method, "/repositories/repo/refs/main/objects?path=a");
      assert.deepEqual([answer.status, answer.headers.get("set-cookie")], [200, null]);
    }
  });

  it("are read with the headers that the request asks for", async (t) => {
    const { ask } = await testGateway(t);
    await ask(200, "PUT", "/repo/main/a", { body: "a" });
    const target = "/repo/main/a?response-content-type=text%2Fcsv&response-content-disposition=attachment";
    const { headers } = await ask(200, "GET", target);
    assert.equal(headers.get("content-type"), "text/csv");
    assert.equal(headers.get("content-disposition"), "attachment");
    const bad = await ask(400, "GET", "/repo/main/a?response-content-type=a%0D%0Ax-evil:1");
    assert.equal(bad.code, "InvalidArgument");
  });

  it("are read under conditions, of which the ETag decides before the time", async (t) => {
    const { ask, engine } = await testGateway(t);
    const etag = (await ask(200, "PUT", "/repo/main/a", { body: "a" })).headers.get("etag")!;
    engine.clock.advance(3_600_000);
    const before = new Date(Date.UTC(2025, 1)).toUTCString(),
      after = new Date(engine.clock.now()).toUTCString();
    const cases: readonly [status: number, headers: Record<string, string>][] = [
      [200, { "if-match": etag }],
      [200, { "if-match": etag.replaceAll('"', "") }],
      [200, { "if-match": `"x", ${etag}` }],
      [412, { "if-match": '"x"' }],
      [200, { "if-unmodified-since": after }],
      [412, { "if-unmodified-since": before }],
      [200, { "if-match": etag, "if-unmodified-since": before }],
      [304, { "if-none-match": "*" }],
      [304, { "if-modified-since": after }],
      [200, { "if-modified-since": before }],
      [200, { "if-modified-since": "soon" }],
      [200, { "if-none-match": '"x"', "if-modified-since": after }],
      [304, { "if-none-match": etag, "if-modified-since": before }],
      [412, { "if-match": '"x"', "if-none-match": etag }],
    ];
    for (const [status, headers] of cases) {
      for (const method of ["GET", "HEAD"]) {
        const answer = await ask(status, method, "/repo/main/a", { headers });
        assert.equal(answer.text === "", method === "HEAD" || status === 304, JSON.stringify(headers));
      }
    }
  });

  it("have one part, and one version", async (t) => {
    const { ask } = await testGateway(t);
    await ask(200, "PUT", "/repo/main/a", { body: "abc" });
    const part = await ask(206, "GET", "/repo/main/a?partNumber=1");
    assert.deepEqual([part.text, part.headers.get("content-range")], ["abc", "bytes 0-2/3"]);
    assert.equal((await ask(416, "GET", "/repo/main/a?partNumber=2")).code, "InvalidPartNumber");
    assert.equal((await ask(400, "GET", "/repo/main/a?partNumber=0")).code, "InvalidArgument");
    await ask(200, "GET", "/repo/main/a?versionId=null");
    assert.equal((await ask(404, "GET", "/repo/main/a?versionId=abc")).code, "NoSuchVersion");
    assert.equal((await ask(404, "DELETE", "/repo/main/a?versionId=abc")).code, "NoSuchVersion");
    await ask(200, "GET", "/repo/main/a");
  });

  it("are read at tags, commits and by expressions, and written only on branches", async (t) => {
    const { ask, store } = await testGateway(t);
    await ask(200, "PUT", "/repo/main/a", { body: "first" });
    const { id } = await store.commit("repo", "main", { message: "first", committer: "ann" });
    await store.createTag("repo", "v1", "main", "ann");
    await ask(200, "PUT", "/repo/main/a", { body: "second" });
    for (const ref of ["v1", id, id.slice(0, 12), "main@"]) {
      assert.equal((await ask(200, "GET", `/repo/${ref}/a`)).text, "first", ref);
      assert.deepEqual((await ask(200, "GET", `/repo?prefix=${ref}/`)).all("Key"), [`${ref}/a`]);
      for (
        const [method, headers] of [["PUT", {}], ["DELETE", {}], ["PUT", {
          "x-amz-copy-source": "repo/main/a",
        }]]
      ) {
        const refused = await ask(403, method as string, `/repo/${ref}/a`, {
          headers: headers as Record<string, string>,
        });
        assert.equal(refused.code, "AccessDenied");
      }
    }
    assert.equal((await ask(200, "GET", "/repo/main/a")).text, "second");
  });

  it("that are not there are said to be so, by S3's codes", async (t) => {
    const { ask } = await testGateway(t);
    const cases = [
      [404, "GET", "/repo/main/none", "NoSuchKey"],
      [404, "GET", "/repo/nowhere/a", "NoSuchKey"],
      [404, "GET", "/repo/main", "NoSuchKey"],
      [404, "GET", "/none/main/a", "NoSuchBucket"],
      [404, "PUT", "/repo/nowhere/a", "NoSuchBucket"],
      [404, "PUT", "/none/main/a", "NoSuchBucket"],
      [404, "PUT", "/repo/main", "NoSuchKey"],
      [204, "DELETE", "/repo/main/none", undefined],
      [404, "DELETE", "/none/main/a", "NoSuchBucket"],
      [400, "GET", "/repo/main/a%00b", "InvalidArgument"],
      [405, "PATCH", "/repo/main/a", "MethodNotAllowed"],
      [501, "POST", "/repo/main/a?select&select-type=2", "NotImplemented"],
    ] as const;
    for (const [status, method, target, code] of cases) {
      const answer = await ask(status, method, target, { body: method === "PUT" ? "x" : "" });
      assert.equal(answer.code, code, target);
      if (code === undefined) continue;
      assert.equal(answer.all("RequestId")[0], answer.headers.get("x-amz-request-id"));
      assert.equal(answer.headers.get("content-type"), "application/xml");
    }
    const noBranch = await ask(404, "PUT", "/repo/nowhere/a", { body: "x" });
    assert.match(noBranch.all("Message")[0]!, /branch &quot;nowhere&quot;/);
    const unreadable = await ask(400, "GET", "/repo/main/a%00b");
    assert.match(unreadable.all("Message")[0]!, /path &quot;a\ufffdb&quot;/);
    const head = await ask(404, "HEAD", "/repo/main/none");
    assert.equal(head.text, "");
  });

  it("may be named by a ref alone, whose folder is there and empty", async (t) => {
    const { ask, store } = await testGateway(t);
    await store.createTag("repo", "v1", "main", "ann");
    for (const ref of ["main", "v1"]) {
      for (const method of ["GET", "HEAD"]) {
        const { headers } = await ask(200, method, `/repo/${ref}/`);
        assert.deepEqual([headers.get("content-type"), headers.get("content-length")], [
          "application/x-directory",
          "0",
        ]);
      }
    }
    await ask(200, "PUT", "/repo/main/");
    assert.equal((await ask(400, "PUT", "/repo/main/", { body: "x" })).code, "InvalidArgument");
    assert.equal((await ask(403, "PUT", "/repo/v1/")).code, "AccessDenied");
    assert.equal((await ask(404, "GET", "/repo/none/")).code, "NoSuchKey");
    await ask(204, "DELETE", "/repo/main/");
    assert.deepEqual((await ask(200, "GET", "/repo?prefix=main/")).all("Key"), []);
    await ask(200, "GET", "/repo/main/");
  });

  it("are not written with what would be passed over", async (t) => {
    const { ask } = await testGateway(t);
    const cases = [
      [400, "x-amz-storage-class", "GLACIER", "InvalidStorageClass"],
      [400, "x-amz-acl", "public-read", "AccessControlListNotSupported"],
      [400, "x-amz-grant-read", "id=1", "AccessControlListNotSupported"],
      [400, "x-amz-website-redirect-location", "else", "InvalidRedirectLocation"],
      [501, "x-amz-server-side-encryption", "aws:kms", "NotImplemented"],
      [501, "if-none-match", '"etag"', "NotImplemented"],
      [400, "x-amz-meta-x", "x".repeat(2048), "MetadataTooLarge"],
      [400, "x-amz-meta-x", `=?UTF-8?B?${btoa("a\r\nSet-Cookie: b")}?=`, "InvalidArgument"],
      [400, "content-type", `=?UTF-8?B?${btoa("text/plain\0")}?=`, "InvalidArgument"],
    ] as const;
    for (const [status, name, value, code] of cases) {
      const answer = await ask(status, "PUT", "/repo/main/a", { body: "a", headers: { [name]: value } });
      assert.equal(answer.code, code, name);
    }
    await ask(404, "GET", "/repo/main/a");
    const headers = { "x-amz-storage-class": "STANDARD", "x-amz-acl": "private" };
    await ask(200, "PUT", "/repo/main/a", { body: "a", headers });
  });

  it("of several writers at once under a condition, one is written", async (t) => {
    const { ask, s3 } = await testGateway(t);
    const first = await ask(200, "PUT", "/repo/main/a", { body: "0" });
    const race = async (headers: Record<string, string>, target: string) => {
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, i) => s3("PUT", target, { body: `writer ${i}`, headers })),
      );
      const winners = answers.flatMap(({ status }, i) => status === 200 ? [i] : []);
      assert.equal(winners.length, 1);
      assert.ok(answers.every(({ status }) => status === 200 || status === 412));
      assert.equal((await ask(200, "GET", target)).text, `writer ${winners[0]}`);
    };
    await race({ "if-match": first.headers.get("etag")! }, "/repo/main/a");
    await race({ "if-none-match": "*" }, "/repo/main/b");
    const missing = await ask(404, "PUT", "/repo/main/none", { body: "a", headers: { "if-match": '"x"' } });
    assert.equal(missing.code, "NoSuchKey");
  });

  it("are deleted under a condition by one of several at once", async (t) => {
    const { ask, s3, store } = await testGateway(t);
    for (const isCommitted of [false, true]) {
      const etag = (await ask(200, "PUT", "/repo/main/a", { body: "a" })).headers.get("etag")!;
      if (isCommitted) await store.commit("repo", "main", { message: "a", committer: "ann" });
      const headers = { "if-match": etag };
      await ask(412, "DELETE", "/repo/main/a", { headers: { "if-match": '"other"' } });
      await ask(200, "HEAD", "/repo/main/a");
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => s3("DELETE", "/repo/main/a", { headers })),
      );
      const statuses = answers.map(({ status }) => status).sort();
      assert.deepEqual(statuses, [204, 404, 404, 404, 404, 404, 404, 404]);
      await ask(404, "HEAD", "/repo/main/a");
    }
    await ask(200, "PUT", "/repo/main/a", { body: "a" });
    await ask(204, "DELETE", "/repo/main/a", { headers: { "if-match": "*" } });
    await store.commit("repo", "main", { message: "gone", committer: "ann" });
    await ask(404, "HEAD", "/repo/main/a");
    await ask(200, "PUT", "/repo/main/a", { body: "a" });
    for (const [name, value] of [["x-amz-if-match-size", "1"], ["if-none-match", "*"]] as const) {
      const { code } = await ask(501, "DELETE", "/repo/main/a", { headers: { [name]: value } });
      assert.equal(code, "NotImplemented");
      await ask(200, "HEAD", "/repo/main/a");
    }
  });

  it("keep where a page leads to, which no copy does", async (t) => {
    const { ask } = await testGateway(t);
    const name = "x-amz-website-redirect-location";
    const location = async (target: string) => (await ask(200, "HEAD", target)).headers.get(name);
    await ask(200, "PUT", "/repo/main/a", { body: "a", headers: { [name]: "/b" } });
    assert.equal(await location("/repo/main/a"), "/b");
    const source = { "x-amz-copy-source": "/repo/main/a" };
    await ask(200, "PUT", "/repo/main/c", { headers: source });
    assert.equal(await location("/repo/main/c"), null);
    await ask(200, "PUT", "/repo/main/c", { headers: { ...source, [name]: "https://else.example/" } });
    assert.equal(await location("/repo/main/c"), "https://else.example/");
  });

  it("tell of their attributes", async (t) => {
    const { ask, port, admin, engine } = await testGateway(t);
    await ask(200, "PUT", "/repo/main/a", { body: "hello" });
    const headers = { "x-amz-object-attributes": "ETag,ObjectSize,StorageClass" };
    const got = await ask(200, "GET", "/repo/main/a?attributes", { headers });
    assert.deepEqual([got.all("ETag"), got.all("ObjectSize"), got.all("StorageClass"), got.all("Checksum")], [
      ["5d41402abc4b2a76b9719d911017c592"],
      ["5"],
      ["STANDARD"],
      [],
    ]);
    // Go's clients send a list as several headers, which reach us as one.
    const several = { headers: { "x-amz-object-attributes": "ETag,ObjectSize" } };
    const target = "/repo/main/a?attributes";
    const request = signed(
      { method: "GET", target, port, credential: admin, nowMs: engine.clock.now() },
      several,
    );
    const sent = {
      ...request.headers,
      "x-amz-object-attributes": "ETag",
      "X-Amz-Object-Attributes": "ObjectSize",
    };
    const listed = await exchange(port, { method: "GET", target, headers: sent, body: new Uint8Array(0) });
    assert.deepEqual([listed.status, listed.all("ObjectSize")], [200, ["5"]], listed.text);
    assert.equal((await ask(400, "GET", target)).code, "InvalidRequest");
    const bad = { "x-amz-object-attributes": "Colour" };
    assert.equal(
      (await ask(400, "GET", "/repo/main/a?attributes", { headers: bad })).code,
      "InvalidArgument",
    );
  });
});
