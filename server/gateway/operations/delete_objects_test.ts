import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import { type TestGateway, testGateway } from "../testing.ts";

async function remove({ ask }: TestGateway, content: string, status = 200) {
  const body =
    `<?xml version="1.0"?><Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${content}</Delete>`;
  const headers = { "content-md5": createHash("md5").update(body).digest("base64") };
  return await ask(status, "POST", "/repo?delete", { body, headers });
}

const key = (text: string, more = "") => `<Object><Key>${text}</Key>${more}</Object>`;

describe("deleting many objects", () => {
  it("reaches all branches of a bucket, and reports what it may not delete", async (t) => {
    const gateway = await testGateway(t);
    const { ask, store } = gateway;
    for (const path of ["a &amp; b", "b"]) {
      await ask(200, "PUT", `/repo/main/${encodeURIComponent(path.replace("&amp;", "&"))}`, { body: path });
    }
    await store.commit("repo", "main", { message: "both", committer: "ann" });
    await store.createBranch("repo", "work", "main", "ann");
    await store.createTag("repo", "v1", "main", "ann");
    const answer = await remove(
      gateway,
      ["main/a &amp; b", "work/b", "main/none", "v1/b", "nowhere/b"].map((one) => key(one)).join("") +
        key("main/b", "<VersionId>7</VersionId>") + key("main/b2", "<Size>1</Size>") +
        key("main/none2", "<ETag>x</ETag>") + key("work/a &amp; b", "<ETag>x</ETag>"),
    );
    const shown = [...answer.text.matchAll(/<(Deleted|Error)><Key>(.*?)<\/Key>(?:<Code>(.*?)<)?/g)];
    assert.deepEqual(shown.map(([, kind, name, code]) => [kind, name, code]), [
      ["Deleted", "main/a &amp; b", undefined],
      ["Deleted", "work/b", undefined],
      ["Deleted", "main/none", undefined],
      ["Error", "v1/b", "AccessDenied"],
      ["Error", "nowhere/b", "NoSuchBucket"],
      ["Error", "main/b", "NoSuchVersion"],
      ["Error", "main/b2", "NotImplemented"],
      ["Error", "main/none2", "NoSuchKey"],
      ["Error", "work/a &amp; b", "PreconditionFailed"],
    ]);
    assert.deepEqual((await ask(200, "GET", "/repo?prefix=main/")).all("Key"), ["main/b"]);
    assert.deepEqual((await ask(200, "GET", "/repo?prefix=work/")).all("Key"), ["work/a &amp; b"]);
    assert.equal((await ask(200, "GET", "/repo?prefix=v1/")).all("Key").length, 2);
  });

  it("keeps to the ETags that are named", async (t) => {
    const gateway = await testGateway(t);
    const { ask } = gateway;
    const etag = (await ask(200, "PUT", "/repo/main/a", { body: "a" })).headers.get("etag")!;
    await ask(200, "PUT", "/repo/main/b", { body: "b" });
    const answer = await remove(
      gateway,
      key("main/a", `<ETag>${etag}</ETag>`) + key("main/b", `<ETag>${etag}</ETag>`),
    );
    assert.deepEqual([answer.all("Deleted").length, answer.all("Code")], [1, ["PreconditionFailed"]]);
    assert.deepEqual((await ask(200, "GET", "/repo?prefix=main/")).all("Key"), ["main/b"]);
  });

  it("tells of a key that is named twice under two conditions what became of each", async (t) => {
    const gateway = await testGateway(t);
    const etag = (await gateway.ask(200, "PUT", "/repo/main/a", { body: "a" })).headers.get("etag")!;
    const objects = ['"x"', etag, etag].map((one) => key("main/a", `<ETag>${one}</ETag>`)).join("");
    const answer = await remove(gateway, objects);
    assert.deepEqual([answer.all("Deleted").length, answer.all("Code")], [1, [
      "PreconditionFailed",
      "NoSuchKey",
    ]]);
  });

  it("says only what failed, if that is wanted", async (t) => {
    const gateway = await testGateway(t);
    const answer = await remove(gateway, `<Quiet>true</Quiet>${key("main/a")}${key("nowhere/a")}`);
    assert.deepEqual([answer.all("Deleted"), answer.all("Code")], [[], ["NoSuchBucket"]]);
  });

  it("takes only a document that was checked, and is one", async (t) => {
    const gateway = await testGateway(t);
    const { ask } = gateway;
    const bare = await ask(400, "POST", "/repo?delete", { body: `<Delete>${key("main/a")}</Delete>` });
    assert.equal(bare.code, "InvalidRequest");
    const bad = ["", "<Object></Object>", "<Object><Key></Key></Object>", "<Object>", `${key("a")}<Quiet>`];
    for (const content of bad) {
      assert.equal((await remove(gateway, content, 400)).code, "MalformedXML", content);
    }
    const bomb = '<!DOCTYPE x [<!ENTITY a "aaaa">]><Delete><Object><Key>&a;</Key></Object></Delete>';
    const headers = { "content-md5": createHash("md5").update(bomb).digest("base64") };
    assert.equal((await ask(400, "POST", "/repo?delete", { body: bomb, headers })).code, "MalformedXML");
    const deep = "<a>".repeat(100_000);
    assert.equal((await remove(gateway, deep, 400)).code, "MalformedXML");
    const wrong = await ask(400, "POST", "/repo?delete", {
      body: `<Delete>${key("main/a")}</Delete>`,
      headers: { "content-md5": createHash("md5").update("other").digest("base64") },
    });
    assert.equal(wrong.code, "BadDigest");
  });
});
