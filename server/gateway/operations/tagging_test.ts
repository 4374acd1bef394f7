import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type TestGateway, testGateway } from "../testing.ts";

const BRANCHES = { s3: { buckets: "branch" } } as const;

function tagging(...pairs: readonly (readonly [key: string, value: string])[]): string {
  const tags = pairs.map(([key, value]) => `<Tag><Key>${key}</Key><Value>${value}</Value></Tag>`).join("");
  return `<Tagging xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><TagSet>${tags}</TagSet></Tagging>`;
}

async function tagsOf({ ask }: TestGateway, target: string): Promise<string[]> {
  const answer = await ask(200, "GET", `${target}?tagging`);
  const values = answer.all("Value");
  return answer.all("Key").map((key, i) => `${key}=${values[i]}`);
}

describe("tags of objects", () => {
  it("come with the object, are replaced as a whole, and taken away", async (t) => {
    const gateway = await testGateway(t);
    const { ask, store } = gateway, target = "/repo/main/a";
    const headers = { "x-amz-tagging": "team=data%20lake&empty&at=a%2Bb@c", "x-amz-meta-x": "1" };
    await ask(200, "PUT", target, { body: "a", headers });
    assert.deepEqual(await tagsOf(gateway, target), ["team=data lake", "empty=", "at=a+b@c"]);
    for (const method of ["GET", "HEAD"]) {
      const answer = await ask(200, method, target);
      assert.deepEqual(
        ["x-amz-tagging-count", "x-amz-meta-x", "x-amz-missing-meta"].map((name) => answer.headers.get(name)),
        ["3", "1", null],
      );
    }
    await store.commit("repo", "main", { message: "tagged", committer: "ann" });
    const before = await store.stat("repo", "main", "a");
    await ask(200, "PUT", `${target}?tagging`, { body: tagging(["k", "ä ö"]) });
    assert.deepEqual(await tagsOf(gateway, target), ["k=ä ö"]);
    // Everything else is as it was, and the commit as well.
    const { metadata, ...rest } = await store.stat("repo", "main", "a");
    assert.deepEqual(metadata, { x: "1", "s3:tagging": "k=%C3%A4%20%C3%B6" });
    assert.deepEqual({ ...rest, metadata: before.metadata }, before);
    assert.equal((await tagsOf(gateway, "/repo/main@/a")).length, 3);
    await ask(204, "DELETE", `${target}?tagging`);
    assert.deepEqual(await tagsOf(gateway, target), []);
    assert.deepEqual((await store.stat("repo", "main", "a")).metadata, { x: "1" });
    assert.equal((await ask(200, "HEAD", target)).headers.get("x-amz-tagging-count"), null);
  });

  it("are set only on what is there, and where one may write", async (t) => {
    const { ask, store } = await testGateway(t);
    await ask(200, "PUT", "/repo/main/a", { body: "a" });
    await store.commit("repo", "main", { message: "a", committer: "ann" });
    await store.createTag("repo", "v1", "main", "ann");
    for (const [method, body] of [["GET"], ["DELETE"], ["PUT", tagging(["a", "b"])]] as const) {
      const options = body === undefined ? {} : { body };
      assert.equal((await ask(404, method, "/repo/main/none?tagging", options)).code, "NoSuchKey");
      assert.equal((await ask(404, method, "/none/main/a?tagging", options)).code, "NoSuchBucket");
      if (method === "GET") continue;
      assert.equal((await ask(403, method, "/repo/v1/a?tagging", options)).code, "AccessDenied");
    }
  });

  it("go along with copies and uploads in parts, or are replaced apart from metadata", async (t) => {
    const gateway = await testGateway(t);
    const { ask, store } = gateway;
    await store.createRepository("other", { committer: "ann" });
    const headers = { "x-amz-tagging": "from=source", "x-amz-meta-x": "source" };
    await ask(200, "PUT", "/repo/main/a", { body: "a", headers });
    const copied = async (target: string, more: Record<string, string>) => {
      const own = { "x-amz-tagging": "from=copy", "x-amz-meta-x": "copy" };
      await ask(200, "PUT", target, { headers: { "x-amz-copy-source": "/repo/main/a", ...own, ...more } });
      return [
        (await ask(200, "HEAD", target)).headers.get("x-amz-meta-x"),
        ...(await tagsOf(gateway, target)),
      ];
    };
    const metadata = { "x-amz-metadata-directive": "REPLACE" };
    const tags = { "x-amz-tagging-directive": "REPLACE" };
    for (const bucket of ["repo", "other"]) {
      assert.deepEqual(await copied(`/${bucket}/main/b`, {}), ["source", "from=source"]);
      assert.deepEqual(await copied(`/${bucket}/main/b`, metadata), ["copy", "from=source"]);
      assert.deepEqual(await copied(`/${bucket}/main/b`, tags), ["source", "from=copy"]);
      assert.deepEqual(await copied(`/${bucket}/main/b`, { ...metadata, ...tags }), ["copy", "from=copy"]);
    }
    // To itself, too: then something changes.
    assert.deepEqual(await copied("/repo/main/a", tags), ["source", "from=copy"]);
    const id = (await ask(200, "POST", "/repo/main/parts?uploads", { headers })).all("UploadId")[0]!;
    const part = await ask(200, "PUT", `/repo/main/parts?partNumber=1&uploadId=${id}`, { body: "p" });
    const etag = part.headers.get("etag")!;
    const body = `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${etag}</ETag></Part>` +
      "</CompleteMultipartUpload>";
    await ask(200, "POST", `/repo/main/parts?uploadId=${id}`, { body });
    assert.deepEqual(await tagsOf(gateway, "/repo/main/parts"), ["from=source"]);
  });

  it("that S3 would not take are refused, and nothing is written", async (t) => {
    const { ask } = await testGateway(t);
    const long = "x".repeat(129), many = Array.from({ length: 11 }, (_, i) => [`k${i}`, "v"] as const);
    const bad = [
      ["=v", "InvalidArgument"],
      ["k%", "InvalidArgument"],
      ["k=1&k=2", "InvalidArgument"],
      ["k!=v", "InvalidTag"],
      ["k=v*", "InvalidTag"],
      [`${long}=v`, "InvalidTag"],
      [many.map((pair) => pair.join("=")).join("&"), "BadRequest"],
    ] as const;
    for (const [header, code] of bad) {
      const options = { body: "a", headers: { "x-amz-tagging": header } };
      assert.equal((await ask(400, "PUT", "/repo/main/a", options)).code, code, header);
    }
    await ask(404, "HEAD", "/repo/main/a");
    await ask(200, "PUT", "/repo/main/a", { body: "a", headers: { "x-amz-tagging": "&&" } });
    const documents = [
      ["<Tagging/>", "MalformedXML"],
      ["<x/>", "MalformedXML"],
      ["<Tagging><TagSet><Tag><Key>k</Key></Tag></TagSet></Tagging>", "MalformedXML"],
      [tagging(["", "v"]), "InvalidTag"],
      [tagging(["k", "v"], ["k", "w"]), "InvalidTag"],
      [tagging(["k", "x".repeat(257)]), "InvalidTag"],
      [tagging(...many), "BadRequest"],
    ] as const;
    for (const [body, code] of documents) {
      assert.equal((await ask(400, "PUT", "/repo/main/a?tagging", { body })).code, code, body);
    }
    const headers = { "x-amz-copy-source": "/repo/main/a", "x-amz-tagging-directive": "some" };
    assert.equal((await ask(400, "PUT", "/repo/main/b", { headers })).code, "InvalidArgument");
    assert.deepEqual((await ask(200, "GET", "/repo/main/a?tagging")).all("TagSet"), [""]);
  });
});

describe("tags of buckets", () => {
  it("are the repository's, and no branch's", async (t) => {
    const gateway = await testGateway(t, BRANCHES);
    const { ask, store } = gateway;
    await store.createBranch("repo", "work", "main", "ann");
    assert.equal((await ask(404, "GET", "/repo?tagging")).code, "NoSuchTagSet");
    await store.changeRepositoryMetadata("repo", { set: { own: "1" } });
    await ask(204, "PUT", "/repo?tagging", { body: tagging(["cost", "center 7"]) });
    assert.deepEqual(await tagsOf(gateway, "/repo"), ["cost=center 7"]);
    assert.equal((await ask(404, "GET", "/work.repo?tagging")).code, "NoSuchTagSet");
    const body = tagging(["a", "b"]);
    assert.equal((await ask(501, "PUT", "/work.repo?tagging", { body })).code, "NotImplemented");
    await ask(204, "DELETE", "/repo?tagging");
    await ask(204, "DELETE", "/repo?tagging");
    assert.equal((await ask(404, "GET", "/repo?tagging")).code, "NoSuchTagSet");
    assert.deepEqual(await store.getRepositoryMetadata("repo"), { own: "1" });
    for (const [method, sent] of [["GET"], ["DELETE"], ["PUT", body]] as const) {
      const options = sent === undefined ? {} : { body: sent };
      assert.equal((await ask(404, method, "/none?tagging", options)).code, "NoSuchBucket");
    }
  });

  it("may be given when the bucket is made", async (t) => {
    const gateway = await testGateway(t);
    const body = (tags: string) => `<CreateBucketConfiguration>${tags}</CreateBucketConfiguration>`;
    const tag = "<Tag><Key>k</Key><Value>v</Value></Tag>";
    await gateway.ask(200, "PUT", "/data", { body: body(`<Tags>${tag}</Tags>`) });
    assert.deepEqual(await tagsOf(gateway, "/data"), ["k=v"]);
    const twice = { body: body(`<Tags>${tag}${tag}</Tags>`) };
    assert.equal((await gateway.ask(400, "PUT", "/data2", twice)).code, "InvalidTag");
    await gateway.ask(404, "HEAD", "/data2");
  });
});
