import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { testGateway } from "../testing.ts";

describe("objects through the gateway", () => {
  it("are put, read, told of and listed", async (t) => {
    const { ask } = await testGateway(t);
    const put = await ask(200, "PUT", "/repo/main/a.txt", { body: "hello" });
    assert.equal(put.headers.get("etag"), '"5d41402abc4b2a76b9719d911017c592"');
    const got = await ask(200, "GET", "/repo/main/a.txt");
    assert.equal(got.text, "hello");
    const head = await ask(200, "HEAD", "/repo/main/a.txt");
    assert.equal(head.headers.get("content-length"), "5");
    const list = await ask(200, "GET", "/repo?list-type=2&prefix=main/");
    assert.deepEqual(list.all("Key"), ["main/a.txt"]);
  });
});
