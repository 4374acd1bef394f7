import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { testGateway } from "../testing.ts";

const from = (source: string, more: Record<string, string> = {}) => ({
  headers: { "x-amz-copy-source": source, ...more },
});

describe("copies", () => {
  it("inside a repository move no bytes, whatever the ref", async (t) => {
    const { ask, store } = await testGateway(t);
    await store.createBranch("repo", "topic", "main", "ann");
    await ask(200, "PUT", "/repo/main/a", {
      body: "a",
      headers: { "x-amz-meta-x": "1", "content-type": "text/x" },
    });
    const copied = await ask(200, "PUT", "/repo/topic/deep/b", from("/repo/main/a"));
    assert.deepEqual(copied.all("ETag"), ["&quot;0cc175b9c0f1b6a831c399e269772661&quot;"]);
    assert.ok(Date.parse(copied.all("LastModified")[0]!) > 0);
    assert.deepEqual(copied.all("ChecksumSHA256"), ["ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs="]);
    const source = await store.stat("repo", "main", "a"), copy = await store.stat("repo", "topic", "deep/b");
    assert.equal(copy.physicalAddress, source.physicalAddress);
    assert.deepEqual([copy.metadata, copy.contentType], [{ x: "1" }, "text/x"]);
  });

  it("between repositories copy the bytes, and what is said of them", async (t) => {
    const { ask, store } = await testGateway(t);
    await store.createRepository("other", { committer: "ann" });
    const body = "x".repeat(3_000_000);
    await ask(200, "PUT", "/repo/main/a", {
      body,
      headers: { "x-amz-meta-x": "1", "cache-control": "no-store" },
    });
    await ask(200, "PUT", "/other/main/a", from("repo/main/a"));
    const got = await ask(200, "GET", "/other/main/a");
    assert.equal(got.text, body);
    assert.deepEqual([got.headers.get("x-amz-meta-x"), got.headers.get("cache-control")], ["1", "no-store"]);
    await ask(200, "PUT", "/other/main/b", from("repo/main/a", { "x-amz-metadata-directive": "REPLACE" }));
    assert.equal((await ask(200, "HEAD", "/other/main/b")).headers.get("x-amz-meta-x"), null);
  });

  it("keep to the conditions on their source and on what they replace", async (t) => {
    const { ask, store } = await testGateway(t);
    await store.createRepository("other", { committer: "ann" });
    const etag = (await ask(200, "PUT", "/repo/main/a", { body: "a" })).headers.get("etag")!;
    for (const target of ["/repo/main/b", "/other/main/b"]) {
      const refused: Record<string, string>[] = [
        { "x-amz-copy-source-if-match": '"x"' },
        { "x-amz-copy-source-if-none-match": etag },
        { "x-amz-copy-source-if-unmodified-since": new Date(0).toUTCString() },
        { "x-amz-copy-source-if-modified-since": new Date(Date.UTC(2100, 1)).toUTCString() },
      ];
      for (const headers of refused) {
        const answer = await ask(412, "PUT", target, from("/repo/main/a", headers));
        assert.equal(answer.code, "PreconditionFailed", JSON.stringify(headers));
      }
      const missing = await ask(404, "PUT", target, from("/repo/main/a", { "if-match": etag }));
      assert.equal(missing.code, "NoSuchKey");
      await ask(404, "GET", target);
      const held = { "x-amz-copy-source-if-match": etag, "if-none-match": "*" };
      await ask(200, "PUT", target, from("/repo/main/a", held));
      await ask(412, "PUT", target, from("/repo/main/a", held));
    }
  });

  it("from another repository open nothing that is not wanted", async (t) => {
    let reads = 0;
    const { ask, store } = await testGateway(t, {
      around: (inner) =>
        new Proxy(inner, {
          get(target, name) {
            if (name === "read") reads++;
            const value = Reflect.get(target, name);
            return typeof value === "function" ? value.bind(target) : value;
          },
        }),
    });
    await store.createRepository("other", { committer: "ann" });
    await ask(200, "PUT", "/repo/main/a", { body: "a" });
    await ask(412, "PUT", "/other/main/b", from("/repo/main/a", { "x-amz-copy-source-if-match": "no" }));
    await ask(400, "GET", "/repo/main/a?response-expires=%C3%A9");
    assert.equal(reads, 0);
    await ask(200, "PUT", "/other/main/b", from("/repo/main/a"));
    assert.equal(reads, 1);
  });

  it("of what is not there, or is no name, fail", async (t) => {
    const { ask } = await testGateway(t);
    await ask(200, "PUT", "/repo/main/a", { body: "a" });
    const cases = [
      [404, "repo/main/none", "NoSuchKey"],
      [404, "none/main/a", "NoSuchBucket"],
      [404, "repo/nowhere/a", "NoSuchKey"],
      [400, "repo", "InvalidArgument"],
      [400, "repo/", "InvalidArgument"],
      [400, "repo/main/%zz", "InvalidArgument"],
      [400, "repo/main/%ff", "InvalidArgument"],
      [404, "repo/main/a?versionId=1", "NoSuchVersion"],
    ] as const;
    for (const [status, source, code] of cases) {
      assert.equal((await ask(status, "PUT", "/repo/main/b", from(source))).code, code, source);
    }
    await ask(404, "GET", "/repo/main/b");
    await ask(200, "PUT", "/repo/main/b", from("repo/main/a?versionId=null"));
    const wrong = await ask(
      400,
      "PUT",
      "/repo/main/b",
      from("repo/main/a", { "x-amz-metadata-directive": "MIX" }),
    );
    assert.equal(wrong.code, "InvalidArgument");
  });
});
