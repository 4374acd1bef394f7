import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { collect } from "../../../tests/support/test_engine.ts";
import { testGateway } from "../testing.ts";

const BRANCHES = { s3: { buckets: "branch" } } as const;

describe("buckets that are repositories", () => {
  it("are made, listed, looked at and deleted", async (t) => {
    const { ask, store } = await testGateway(t, { isBare: false });
    const made = await ask(200, "PUT", "/data");
    assert.equal(made.headers.get("location"), "/data");
    assert.equal(made.headers.get("x-amz-bucket-arn"), "arn:aws:s3:::data");
    const body =
      "<CreateBucketConfiguration><LocationConstraint>eu-west-1</LocationConstraint></CreateBucketConfiguration>";
    await ask(200, "PUT", "/data2", { body });
    assert.equal((await ask(400, "PUT", "/data3", { body: "<Other/>" })).code, "MalformedXML");
    assert.equal((await ask(409, "PUT", "/data")).code, "BucketAlreadyOwnedByYou");
    assert.equal((await ask(400, "PUT", "/UPPER")).code, "InvalidBucketName");
    assert.deepEqual((await ask(200, "GET", "/")).all("Name"), ["data", "data2", "repo"]);
    const first = await ask(200, "GET", "/?max-buckets=2&prefix=d");
    assert.deepEqual(first.all("Name"), ["data", "data2"]);
    const one = await ask(200, "GET", "/?max-buckets=1");
    const rest = await ask(200, "GET", `/?continuation-token=${one.all("ContinuationToken")[0]}`);
    assert.deepEqual([one.all("Name"), rest.all("Name")], [["data"], ["data2", "repo"]]);
    const head = await ask(200, "HEAD", "/data");
    assert.equal(head.headers.get("x-amz-bucket-region"), "us-east-1");
    assert.equal(head.headers.get("x-amz-bucket-arn"), "arn:aws:s3:::data");
    assert.equal((await ask(404, "HEAD", "/none")).text, "");
    assert.equal((await ask(404, "DELETE", "/none")).code, "NoSuchBucket");
    await ask(204, "DELETE", "/data2");
    assert.deepEqual((await collect(store.listRepositories())).map(({ id }) => id), ["data", "repo"]);
  });

  it("are not deleted while a branch shows an object, or a tag keeps one", async (t) => {
    const { ask, store } = await testGateway(t);
    await store.createBranch("repo", "topic", "main", "ann");
    await ask(200, "PUT", "/repo/topic/a", { body: "a" });
    assert.equal((await ask(409, "DELETE", "/repo")).code, "BucketNotEmpty");
    await store.commit("repo", "topic", { message: "a", committer: "ann" });
    await store.createTag("repo", "v1", "topic", "ann");
    await ask(204, "DELETE", "/repo/topic/a");
    assert.equal((await ask(409, "DELETE", "/repo")).code, "BucketNotEmpty");
    await store.deleteTag("repo", "v1", "ann");
    await ask(204, "DELETE", "/repo");
    await ask(404, "HEAD", "/repo");
  });

  it("answer what is asked for beside objects as a bucket does where none of it is set", async (t) => {
    const { ask } = await testGateway(t);
    assert.match(
      (await ask(200, "GET", "/repo?location")).text,
      /<LocationConstraint [^>]*><\/LocationConstraint>/,
    );
    assert.match((await ask(200, "GET", "/repo?versioning")).text, /<VersioningConfiguration [^>]*><\//);
    assert.deepEqual((await ask(200, "GET", "/repo?acl")).all("Permission"), ["FULL_CONTROL"]);
    for (
      const [name, code] of [["policy", "NoSuchBucketPolicy"], ["tagging", "NoSuchTagSet"], [
        "cors",
        "NoSuchCORSConfiguration",
      ]]
    ) {
      assert.equal((await ask(404, "GET", `/repo?${name}`)).code, code);
    }
    assert.equal((await ask(404, "GET", "/none?location")).code, "NoSuchBucket");
    assert.equal((await ask(501, "PUT", "/repo?versioning", { body: "<x/>" })).code, "NotImplemented");
    assert.equal((await ask(501, "GET", "/repo?inventory")).code, "NotImplemented");
    await ask(200, "PUT", "/repo/main/a");
    assert.deepEqual((await ask(200, "GET", "/repo/main/a?tagging")).all("TagSet"), [""]);
    assert.equal((await ask(404, "GET", "/repo/main/none?tagging")).code, "NoSuchKey");
    const own = (await ask(200, "GET", "/repo/main/a?acl")).text;
    for (const target of ["/repo?acl", "/repo/main/a?acl"]) {
      await ask(200, "PUT", target, { body: own });
      await ask(200, "PUT", target, { headers: { "x-amz-acl": "private" } });
      const others = own.replaceAll("<ID>tarn", "<ID>somebody");
      assert.equal((await ask(400, "PUT", target, { body: others })).code, "AccessControlListNotSupported");
    }
  });
});

describe("buckets that are branches", () => {
  it("are the default branch of a repository, and its other branches that DNS can name", async (t) => {
    const { ask, store } = await testGateway(t, BRANCHES);
    for (const branch of ["work-1", "feature/x", "UPPER", "a--b", "b".repeat(59)]) {
      await store.createBranch("repo", branch, "main", "ann");
    }
    await store.createBranch("repo", "passing", "main", "ann", { isHidden: true });
    await store.createTag("repo", "tag", "main", "ann");
    const commit = await store.resolve("repo", "main");
    await ask(200, "PUT", "/new-one");
    assert.deepEqual((await ask(200, "GET", "/")).all("Name"), ["new-one", "repo", "work-1.repo"]);
    await ask(200, "PUT", "/repo/a/b", { body: "default" });
    await ask(200, "PUT", "/work-1.repo/a/b", { body: "work" });
    assert.equal((await ask(200, "GET", "/repo/a/b")).text, "default");
    assert.equal((await ask(200, "GET", "/work-1.repo/a/b")).text, "work");
    assert.deepEqual((await ask(200, "GET", "/work-1.repo?list-type=2&delimiter=/")).all("Prefix"), [
      "",
      "a/",
    ]);
    assert.equal((await store.stat("repo", "work-1", "a/b")).sizeBytes, 4);
    for (
      const bucket of [
        "none",
        "UPPER",
        "a--b",
        "x.work-1",
        "tag",
        commit.slice(0, 12),
        "main",
        "main~1",
        "main@",
      ]
        .map((one) => `${one}.repo`)
    ) {
      assert.equal((await ask(404, "GET", `/${bucket}?list-type=2`)).code, "NoSuchBucket", bucket);
      assert.equal((await ask(404, "GET", `/${bucket}/a/b`)).code, "NoSuchBucket", bucket);
      assert.equal((await ask(404, "PUT", `/${bucket}/a/b`)).code, "NoSuchBucket", bucket);
      await ask(404, "HEAD", `/${bucket}`);
    }
    assert.equal((await ask(404, "GET", "/work-1.repo/none")).code, "NoSuchKey");
  });

  it("are made and deleted as repositories, not as branches", async (t) => {
    const { ask, store } = await testGateway(t, BRANCHES);
    await store.createBranch("repo", "work", "main", "ann");
    assert.equal((await ask(400, "PUT", "/other.repo")).code, "InvalidBucketName");
    assert.equal((await ask(405, "DELETE", "/work.repo")).code, "MethodNotAllowed");
    await ask(204, "DELETE", "/repo");
    assert.deepEqual((await ask(200, "GET", "/")).all("Name"), []);
  });

  it("are copied between, and of one repository no bytes move", async (t) => {
    const { ask, store } = await testGateway(t, BRANCHES);
    await store.createBranch("repo", "work", "main", "ann");
    await ask(200, "PUT", "/repo/a", { body: "a" });
    await ask(200, "PUT", "/work.repo/b", { headers: { "x-amz-copy-source": "/repo/a" } });
    assert.equal(
      (await store.stat("repo", "work", "b")).physicalAddress,
      (await store.stat("repo", "main", "a")).physicalAddress,
    );
  });

  it("are reached by the host's name too", async (t) => {
    const { ask, store, port } = await testGateway(t, BRANCHES);
    await store.createBranch("repo", "work", "main", "ann");
    await ask(200, "PUT", "/repo/a", { body: "default" });
    const put = { body: "virtual", headers: { host: `work.repo.localhost:${port}` } };
    await ask(200, "PUT", "/a%20b", put);
    assert.equal((await ask(200, "GET", "/a%20b", { headers: put.headers })).text, "virtual");
    assert.equal((await store.stat("repo", "work", "a b")).sizeBytes, 7);
    const list = await ask(200, "GET", "/?list-type=2", { headers: { host: `repo.localhost:${port}` } });
    assert.deepEqual(list.all("Key"), ["a"]);
  });
});
