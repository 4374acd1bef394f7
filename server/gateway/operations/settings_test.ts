import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { testGateway } from "../testing.ts";

describe("settings of buckets", () => {
  it("that are not kept are refused of a bucket that is there, and may be taken away", async (t) => {
    const { ask } = await testGateway(t);
    for (const name of ["policy", "cors", "website", "lifecycle", "encryption", "publicAccessBlock"]) {
      assert.equal((await ask(404, "PUT", `/none?${name}`, { body: "<x/>" })).code, "NoSuchBucket", name);
      assert.equal((await ask(501, "PUT", `/repo?${name}`, { body: "<x/>" })).code, "NotImplemented", name);
      assert.equal((await ask(404, "DELETE", `/none?${name}`)).code, "NoSuchBucket", name);
      await ask(204, "DELETE", `/repo?${name}`);
    }
    assert.equal((await ask(501, "DELETE", "/repo?ownershipControls")).code, "NotImplemented");
    await ask(200, "HEAD", "/repo");
  });

  it("that hold anyway are taken: the bucket's owner has its objects", async (t) => {
    const { ask } = await testGateway(t);
    const rule = (ownership: string) => `<Rule><ObjectOwnership>${ownership}</ObjectOwnership></Rule>`;
    const put = (status: number, rules: string) =>
      ask(status, "PUT", "/repo?ownershipControls", {
        body: `<OwnershipControls>${rules}</OwnershipControls>`,
      });
    await put(200, rule("BucketOwnerEnforced"));
    assert.equal((await put(501, rule("ObjectWriter"))).code, "NotImplemented");
    const bad = ["", rule("Somebody"), rule("BucketOwnerEnforced") + rule("BucketOwnerEnforced")];
    for (const rules of bad) assert.equal((await put(400, rules)).code, "MalformedXML", rules);
    const headers = { "x-amz-acl": "public-read" };
    const refused = await ask(400, "PUT", "/data", { headers });
    assert.equal(refused.code, "InvalidBucketAclWithObjectOwnership");
    assert.equal((await ask(404, "PUT", "/none?acl", { headers })).code, "NoSuchBucket");
  });
});

describe("locks of objects", () => {
  const MODE = "x-amz-object-lock-mode", UNTIL = "x-amz-object-lock-retain-until-date";
  const HOLD = "x-amz-object-lock-legal-hold";

  it("are refused as S3 refuses them in a bucket without locks", async (t) => {
    const { ask } = await testGateway(t);
    await ask(200, "PUT", "/repo/main/a", { body: "a" });
    const until = "2999-01-01T00:00:00Z";
    const cases: readonly (readonly [Record<string, string>, string])[] = [
      [{ [MODE]: "GOVERNANCE", [UNTIL]: until }, "InvalidRequest"],
      [{ [HOLD]: "ON" }, "InvalidRequest"],
      [{ [HOLD]: "PERHAPS" }, "InvalidArgument"],
      [{ [MODE]: "GOVERNANCE" }, "InvalidArgument"],
      [{ [UNTIL]: until }, "InvalidArgument"],
      [{ [MODE]: "SOME", [UNTIL]: until }, "InvalidArgument"],
      [{ [MODE]: "GOVERNANCE", [UNTIL]: "soon" }, "InvalidArgument"],
      [{ [MODE]: "GOVERNANCE", [UNTIL]: "2001-01-01T00:00:00Z" }, "InvalidArgument"],
    ];
    for (const [headers, code] of cases) {
      const copy = { headers: { ...headers, "x-amz-copy-source": "/repo/main/a" } };
      assert.equal((await ask(400, "PUT", "/repo/main/b", { body: "b", headers })).code, code);
      assert.equal((await ask(400, "PUT", "/repo/main/b", copy)).code, code);
      assert.equal((await ask(400, "POST", "/repo/main/b?uploads", { headers })).code, code);
    }
    await ask(404, "HEAD", "/repo/main/b");
    const documents = [
      ["legal-hold", "<LegalHold><Status>ON</Status></LegalHold>", "InvalidRequest"],
      ["legal-hold", "<LegalHold><Status>x</Status></LegalHold>", "MalformedXML"],
      ["legal-hold", "", "MalformedXML"],
      ["retention", "<Retention><Mode>COMPLIANCE</Mode></Retention>", "InvalidRequest"],
      ["retention", "<Retention><Mode>x</Mode></Retention>", "MalformedXML"],
    ] as const;
    for (const [name, body, code] of documents) {
      assert.equal((await ask(400, "PUT", `/repo/main/a?${name}`, { body })).code, code);
      assert.equal((await ask(404, "PUT", `/none/main/a?${name}`, { body })).code, "NoSuchBucket");
      assert.equal((await ask(400, "GET", `/repo/main/a?${name}`)).code, "InvalidRequest");
    }
  });
});

describe("requests that S3 has no operation for", () => {
  it("are refused rather than taken for another one", async (t) => {
    const { ask } = await testGateway(t);
    await ask(200, "PUT", "/repo/main/a", { body: "a" });
    assert.equal(
      (await ask(400, "PUT", "/repo/main/a?partNumber=1", { body: "b" })).code,
      "InvalidArgument",
    );
    assert.equal(
      (await ask(405, "PUT", "/repo/main/a?uploadId=x", { body: "b" })).code,
      "MethodNotAllowed",
    );
    for (const name of ["uploads", "versions"]) {
      assert.equal((await ask(400, "GET", `/repo/main/a?${name}`)).code, "InvalidRequest");
    }
    const headers = { "x-amz-copy-source": "/repo/main/a" };
    for (
      const [method, target] of [
        ["GET", "/repo/main/a"],
        ["DELETE", "/repo/main/a"],
        ["GET", "/repo"],
        ["PUT", "/data"],
        ["POST", "/repo/main/a?uploads"],
      ] as const
    ) {
      assert.equal((await ask(400, method, target, { headers })).code, "InvalidArgument", method + target);
    }
    assert.equal((await ask(200, "GET", "/repo/main/a")).text, "a");
    for (const source of ["192.168.1.1/a", "my-buc@k/a", "2001:db8::1/a"]) {
      const copy = await ask(400, "PUT", "/repo/main/b", { headers: { "x-amz-copy-source": source } });
      assert.equal(copy.code, "InvalidArgument", source);
    }
  });
});
