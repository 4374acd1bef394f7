import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { describe, it } from "node:test";
import { type S3Send, type TestGateway, testGateway } from "../testing.ts";
import { exampleOpener } from "./testing.ts";

interface Link {
  readonly method?: string;
  readonly path: string;
  /** Of the query, as they are sent and as they are signed. */
  readonly sent?: string;
  readonly signed?: string;
  readonly contentType?: string;
  readonly amz?: string;
  readonly seconds?: number;
}

/** Returns a link as boto3 makes it. */
function linkOf({ admin, engine }: TestGateway, link: Link): string {
  const { method = "GET", path, sent = "", signed = "", contentType = "", amz = "", seconds = 60 } = link;
  const expires = Math.floor(engine.clock.now() / 1000) + seconds;
  const text = `${method}\n\n${contentType}\n${expires}\n${amz}${path}${signed}`;
  const signature = createHmac("sha1", admin.secretAccessKey).update(text).digest("base64");
  const pairs = `AWSAccessKeyId=${admin.accessKeyId}&Signature=${
    encodeURIComponent(signature)
  }&Expires=${expires}`;
  return `${path}?${sent}${pairs}`;
}

const BY_NOBODY = { credential: null } as const;

describe("links signed in the first way", () => {
  it("are AWS's own example", async (t) => {
    const { open } = await exampleOpener(t);
    const example =
      "/photos/puppy.jpg?AWSAccessKeyId=AKIAIOSFODNN7EXAMPLE&Signature=NpgCjnDzrM%2BWFzoENXmpNDUsSn8%3D" +
      "&Expires=1175139620";
    const request = { method: "GET", target: example, headers: { host: "johnsmith.s3.amazonaws.com" } };
    const opened = await open(request, Date.UTC(2007, 2, 29));
    assert.deepEqual([opened.user, opened.bucket, opened.key], ["example", "johnsmith", "photos/puppy.jpg"]);
    const head = { ...request, method: "HEAD" };
    await assert.rejects(open(head, Date.UTC(2007, 2, 29)), { code: "SignatureDoesNotMatch" });
    await assert.rejects(open(request, Date.UTC(2007, 3, 1)), { code: "AccessDenied" });
  });

  it("give and take objects until their time is over", async (t) => {
    const gateway = await testGateway(t);
    const { s3, engine } = gateway;
    const path = "/repo/main/a%20b%2B1";
    const put = linkOf(gateway, {
      method: "PUT",
      path,
      contentType: "text/x",
      amz: "x-amz-meta-k:v\n",
      sent: "x-amz-meta-k=v&",
    });
    const sent = { ...BY_NOBODY, body: "linked", headers: { "content-type": "text/x" } };
    assert.equal((await s3("PUT", put, sent)).status, 200);
    const get = linkOf(gateway, {
      path,
      sent: "response-content-type=text%2Fcsv&",
      signed: "?response-content-type=text/csv",
    });
    const got = await s3("GET", get, BY_NOBODY);
    assert.deepEqual([got.text, got.headers.get("content-type"), got.headers.get("x-amz-meta-k")], [
      "linked",
      "text/csv",
      "v",
    ]);
    engine.clock.advance(120_000);
    assert.deepEqual((await s3("GET", get, BY_NOBODY)).code, "AccessDenied");
  });

  it("list a bucket, whose path is signed with a slash at its end or without", async (t) => {
    const gateway = await testGateway(t);
    const { s3, ask } = gateway;
    await ask(200, "PUT", "/repo/main/a", { body: "a" });
    for (const slash of ["", "/"]) {
      const link = linkOf(gateway, { path: "/repo", sent: "prefix=main%2F&", signed: slash });
      assert.deepEqual((await s3("GET", link, BY_NOBODY)).all("Key"), ["main/a"]);
      assert.equal((await s3("GET", link.replace("/repo?", "/other?"), BY_NOBODY)).status, 403);
    }
    const object = linkOf(gateway, { path: "/repo/main/a", signed: "/" });
    assert.equal((await s3("GET", object, BY_NOBODY)).code, "SignatureDoesNotMatch");
  });

  it("are good for nothing else", async (t) => {
    const gateway = await testGateway(t);
    const { ask, engine } = gateway;
    // Who fails often has to wait.
    const s3: S3Send = (...args) => {
      engine.clock.advance(60_000);
      return gateway.s3(...args);
    };
    for (const key of ["a", "b"]) await ask(200, "PUT", `/repo/main/${key}`, { body: key });
    const link = linkOf(gateway, { path: "/repo/main/a", seconds: 100_000 });
    assert.equal((await s3("GET", link, BY_NOBODY)).text, "a");
    const others = [
      link.replace("/main/a", "/main/b"),
      `${link}&response-content-type=text%2Fhtml`,
      `${link}&acl`,
      link.replace(/Expires=\d+/, "Expires=9999999999"),
      link.replace(/Signature=[^&]*/, "Signature=AAAAAAAAAAAAAAAAAAAAAAAAAAA%3D"),
    ];
    for (const other of others) {
      assert.equal((await s3("GET", other, BY_NOBODY)).code, "SignatureDoesNotMatch", other);
    }
    assert.equal((await s3("DELETE", link, BY_NOBODY)).code, "SignatureDoesNotMatch");
    const headers = { "x-amz-copy-source": "repo/main/b" };
    assert.equal((await s3("PUT", link, { ...BY_NOBODY, headers })).code, "SignatureDoesNotMatch");
    const stranger = link.replace(/AWSAccessKeyId=[^&]*/, "AWSAccessKeyId=TARNUNKNOWN");
    assert.equal((await s3("GET", stranger, BY_NOBODY)).code, "InvalidAccessKeyId");
    const timeless = link.replace(/&Expires=\d+/, "");
    assert.equal((await s3("GET", timeless, BY_NOBODY)).code, "AccessDenied");
    const token = await s3("GET", `${link}&x-amz-security-token=t`, BY_NOBODY);
    assert.equal(token.code, "InvalidToken");
  });
});
