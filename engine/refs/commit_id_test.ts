import assert from "node:assert/strict";
import { test } from "node:test";
import { hex } from "../../base/bytes.ts";
import { golden } from "../../tests/support/golden.ts";
import { commitId, commitPreimage } from "./commit_id.ts";
import { decodeCommit, encodeCommit } from "./records.ts";

test("commitId() gives lakeFS's commit IDs", () => {
  for (const given of golden.commits) {
    const commit = {
      committer: given.committer,
      message: given.message,
      metaRangeId: given.metarange_id,
      creationDate: { seconds: given.creation_date_unix, nanos: 500_000_000 },
      metadata: given.metadata ?? {},
      parents: given.parents,
    };
    assert.equal(hex(commitPreimage(commit)), given.preimage_hex, given.name);
    assert.equal(commitId(commit), given.commit_id, given.name);
  }
});

test("decodeCommit() gives back what was encoded", () => {
  const commit = {
    committer: "esti",
    message: "line\nline",
    metaRangeId: "ab".repeat(32),
    creationDate: { seconds: 1_700_000_000, nanos: 1 },
    metadata: { é: "", z: "1" },
    parents: ["aa".repeat(32), "bb".repeat(32)],
    generation: 7,
  };
  assert.deepEqual(decodeCommit(encodeCommit("cc".repeat(32), commit)), commit);
  const dated = { ...commit, correctedDate: 1_700_000_000_001 };
  assert.deepEqual(decodeCommit(encodeCommit("cc".repeat(32), dated)), dated);
});
