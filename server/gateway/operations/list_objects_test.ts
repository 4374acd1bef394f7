import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { write } from "../../../tests/support/test_engine.ts";
import { type TestGateway, testGateway } from "../testing.ts";

/** Returns what a listing shows, page by page. */
async function pages({ ask }: TestGateway, query: string, maxKeys: number): Promise<string[]> {
  const shown: string[] = [];
  let token = "";
  for (let page = 0; page < 100; page++) {
    const answer = await ask(200, "GET", `/repo?list-type=2&max-keys=${maxKeys}${query}${token}`);
    const found = [...answer.all("Key"), ...answer.all("Prefix").slice(1)];
    assert.equal(answer.all("KeyCount")[0], String(found.length));
    assert.ok(found.length <= maxKeys);
    shown.push(...found);
    if (answer.all("IsTruncated")[0] === "false") return shown;
    assert.equal(found.length, maxKeys);
    token = `&continuation-token=${answer.all("NextContinuationToken")[0]}`;
  }
  return assert.fail("no end");
}

async function withRefs(t: Parameters<typeof testGateway>[0]): Promise<TestGateway> {
  const gateway = await testGateway(t);
  const { store } = gateway;
  await store.createBranch("repo", "a", "main", "ann");
  await write(store, "a", { "1": "1", "2/x": "2" });
  await store.commit("repo", "a", { message: "a", committer: "ann" });
  for (const branch of ["a-b", "a.c", "a0", "feature/x"]) {
    await store.createBranch("repo", branch, "a", "ann");
  }
  await store.createBranch("repo", "passing", "a", "ann", { isHidden: true });
  await store.createTag("repo", "a-b-tag", "a", "ann");
  return gateway;
}

describe("listings of a repository's root", () => {
  const REFS = ["a-b-tag", "a-b", "a.c", "a", "a0"];

  it("fold into its branches and tags, in the order of their keys", async (t) => {
    const gateway = await withRefs(t);
    const folded = [...REFS, "main"].map((ref) => `${ref}/`);
    for (const size of [1, 2, 5, 1000]) {
      assert.deepEqual(await pages(gateway, "&delimiter=/", size), folded, `by ${size}`);
    }
    assert.deepEqual(await pages(gateway, "&delimiter=/&prefix=a-", 10), ["a-b-tag/", "a-b/"]);
    assert.deepEqual(await pages(gateway, "&delimiter=/&prefix=ma", 10), ["main/"]);
    assert.deepEqual(await pages(gateway, "&delimiter=/&prefix=x", 10), []);
  });

  it("give all keys of all refs without a delimiter", async (t) => {
    const gateway = await withRefs(t);
    const keys = REFS.flatMap((ref) => [`${ref}/1`, `${ref}/2/x`]);
    for (const size of [1, 3, 4, 1000]) assert.deepEqual(await pages(gateway, "", size), keys, `by ${size}`);
    assert.deepEqual(await pages(gateway, "&start-after=a-b/1", 1000), keys.slice(3));
    assert.deepEqual(await pages(gateway, "&start-after=a-b/~", 1000), keys.slice(4));
    assert.deepEqual(await pages(gateway, "&start-after=a0/2/x", 1000), []);
  });

  it("go on in the middle of a ref of any name, in the order of bytes, in which upper case comes first", async (t) => {
    const gateway = await testGateway(t);
    const { store } = gateway;
    const refs = ["Work", "Zed", "early", "main-2", "main", "mainly", "wood"];
    for (const ref of refs) {
      if (ref !== "main") await store.createBranch("repo", ref, "main", "ann");
      await write(store, ref, { "1": "1", "2": "2" });
    }
    const keys = refs.flatMap((ref) => [`${ref}/1`, `${ref}/2`]);
    for (const size of [1, 2, 3, 1000]) assert.deepEqual(await pages(gateway, "", size), keys, `by ${size}`);
    for (const size of [1, 3]) {
      assert.deepEqual(
        await pages(gateway, "&delimiter=/", size),
        refs.map((ref) => `${ref}/`),
        `by ${size}`,
      );
    }
    assert.deepEqual(await pages(gateway, "&start-after=main/", 1000), keys.slice(8));
    assert.deepEqual(await pages(gateway, "&start-after=mai", 1000), keys.slice(6));
  });

  it("fold at delimiters that a ref's name, or its end, has in it", async (t) => {
    const gateway = await withRefs(t);
    assert.deepEqual(await pages(gateway, "&delimiter=-", 1), [
      "a-",
      "a.c/1",
      "a.c/2/x",
      "a/1",
      "a/2/x",
      "a0/1",
      "a0/2/x",
    ]);
    for (const size of [1, 2, 100]) {
      // Within a page, keys stand before prefixes.
      assert.deepEqual(
        (await pages(gateway, "&delimiter=/2", size)).sort(),
        REFS.flatMap((ref) => [`${ref}/1`, `${ref}/2`]).sort(),
      );
    }
    assert.deepEqual(await pages(gateway, "&delimiter=2&prefix=a0", 10), ["a0/1", "a0/2"]);
  });

  it("of a ref that is not there are empty, of a repository that is not there an error", async (t) => {
    const gateway = await withRefs(t);
    for (const prefix of ["nowhere/", "/", "~/x", "a^^^^^^^^/"]) {
      assert.deepEqual(await pages(gateway, `&prefix=${encodeURIComponent(prefix)}`, 10), [], prefix);
    }
    assert.equal((await gateway.ask(404, "GET", "/none?list-type=2")).code, "NoSuchBucket");
    assert.equal((await gateway.ask(404, "GET", "/none?prefix=main/")).code, "NoSuchBucket");
  });
});

describe("listings", () => {
  it("say what was asked for, in both versions", async (t) => {
    const gateway = await testGateway(t);
    const { ask } = gateway;
    for (const key of ["a", "b", "c"]) await ask(200, "PUT", `/repo/main/${key}`, { body: key });
    const first = await ask(200, "GET", "/repo?prefix=main/&max-keys=2&delimiter=%26");
    assert.deepEqual(
      ["Name", "Prefix", "Marker", "MaxKeys", "Delimiter", "IsTruncated", "NextMarker"].map((name) =>
        first.all(name)
      ),
      [["repo"], ["main/"], [""], ["2"], ["&amp;"], ["true"], ["main/b"]],
    );
    assert.equal(first.all("Owner").length, 2);
    assert.deepEqual(first.all("StorageClass"), ["STANDARD", "STANDARD"]);
    assert.match(first.all("LastModified")[0]!, /^2026-01-01T\d\d:\d\d:\d\d\.000Z$/);
    assert.equal(first.all("ETag")[0], "&quot;0cc175b9c0f1b6a831c399e269772661&quot;");
    const second = await ask(200, "GET", "/repo?prefix=main/&marker=main/b");
    assert.deepEqual([second.all("Key"), second.all("NextMarker")], [["main/c"], []]);
    const v2 = await ask(200, "GET", "/repo?list-type=2&prefix=main/&start-after=main/a");
    assert.deepEqual([v2.all("Key"), v2.all("StartAfter"), v2.all("Owner")], [["main/b", "main/c"], [
      "main/a",
    ], []]);
    const owned = await ask(200, "GET", "/repo?list-type=2&prefix=main/&fetch-owner=true");
    assert.equal(owned.all("Owner").length, 3);
    const none = await ask(200, "GET", "/repo?list-type=2&prefix=main/&max-keys=0");
    assert.deepEqual([none.all("Key"), none.all("IsTruncated")], [[], ["false"]]);
  });

  it("refuse what they do not understand", async (t) => {
    const { ask } = await testGateway(t);
    for (
      const query of ["max-keys=-1", "max-keys=x", "encoding-type=xml", "list-type=2&continuation-token=%2A"]
    ) {
      assert.equal((await ask(400, "GET", `/repo?${query}`)).code, "InvalidArgument", query);
    }
    assert.deepEqual((await ask(200, "GET", "/repo?max-keys=5000")).all("MaxKeys"), ["1000"]);
  });

  it("of more than a page go on where they ended, whatever is staged and committed", async (t) => {
    const gateway = await testGateway(t);
    const { store } = gateway;
    const names = Array.from({ length: 2345 }, (_, i) => `k${String(i).padStart(5, "0")}`);
    await write(
      store,
      "main",
      Object.fromEntries(names.filter((_, i) => i % 2 === 0).map((name) => [name, name])),
    );
    await store.commit("repo", "main", { message: "half", committer: "ann" });
    await write(
      store,
      "main",
      Object.fromEntries(names.filter((_, i) => i % 2 === 1).map((name) => [name, name])),
    );
    assert.deepEqual(await pages(gateway, "&prefix=main/", 1000), names.map((name) => `main/${name}`));
  });
});

describe("listings of versions", () => {
  it("have the one version of each object, folded and paged as others are", async (t) => {
    const { ask } = await testGateway(t);
    for (const path of ["a", "b/1", "b/2", "c"]) await ask(200, "PUT", `/repo/main/${path}`, { body: path });
    const all = await ask(200, "GET", "/repo?versions&prefix=main/");
    assert.deepEqual(all.all("Key"), ["main/a", "main/b/1", "main/b/2", "main/c"]);
    assert.deepEqual(new Set(all.all("VersionId")), new Set(["null"]));
    assert.deepEqual(new Set(all.all("IsLatest")), new Set(["true"]));
    const query = "/repo?versions&prefix=main/&delimiter=/&max-keys=2";
    const first = await ask(200, "GET", query);
    assert.deepEqual([first.all("Key"), first.all("Prefix")], [["main/a"], ["main/", "main/b/"]]);
    const marker = `&key-marker=${first.all("NextKeyMarker")[0]}&version-id-marker=${
      first.all("NextVersionIdMarker")[0]
    }`;
    const rest = await ask(200, "GET", query + marker);
    assert.deepEqual([rest.all("Key"), rest.all("IsTruncated")], [["main/c"], ["false"]]);
    const noKey = await ask(400, "GET", "/repo?versions&version-id-marker=null");
    assert.equal(noKey.code, "InvalidArgument");
    assert.equal((await ask(404, "GET", "/none?versions")).code, "NoSuchBucket");
    await ask(204, "DELETE", "/repo/main/a?versionId=null");
    assert.equal((await ask(200, "GET", "/repo?versions&prefix=main/")).all("Key").length, 3);
  });
});
