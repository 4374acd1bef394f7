import assert from "node:assert/strict";
import { test } from "node:test";
import { compareBytes, utf8 } from "../../base/bytes.ts";
import { seededRandomness } from "../../base/randomness.ts";
import {
  collect,
  commit,
  paths,
  testEngine,
  WHO,
  withRepository,
  write,
} from "../../tests/support/test_engine.ts";

const byBytes = (a: string, b: string) => compareBytes(utf8(a), utf8(b));

/** Lists a plain set of names as the contract says. */
function model(
  names: Iterable<string>,
  { prefix = "", delimiter = "", after }: Record<string, string | undefined>,
) {
  const shown: string[] = [];
  for (const name of [...names].sort(byBytes)) {
    if (!name.startsWith(prefix!)) continue;
    const at = delimiter ? name.indexOf(delimiter, prefix!.length) : -1;
    const item = at < 0 ? name : name.slice(0, at + delimiter!.length);
    if (shown.at(-1) === item || (after !== undefined && byBytes(item, after) <= 0)) continue;
    shown.push(item);
  }
  return shown;
}

test("list() merges staged and committed names, folds at a delimiter and pages, as a plain set would", async () => {
  const pieces = ["a", "b", "/", "//", ".json", "+", "%41", "é", "\u{1f600}", "z"];
  for (let seed = 0; seed < 8; seed++) {
    const random = seededRandomness(seed);
    const pick = () => pieces[Math.floor(random.fraction() * pieces.length)]!;
    const name = () => Array.from({ length: 1 + Math.floor(random.fraction() * 4) }, pick).join("");
    const { store } = await withRepository(testEngine({ randomness: random }));
    const names = new Set<string>();
    for (let round = 0; round < 3; round++) {
      const changes: Record<string, string | undefined> = {};
      for (let i = 0; i < 25; i++) {
        const chosen = name();
        changes[chosen] = random.fraction() < 0.3 ? undefined : "x";
      }
      for (const [path, text] of Object.entries(changes)) {
        if (text === undefined) names.delete(path);
        else names.add(path);
      }
      await write(store, "main", changes);
      if (round < 2) await store.commit("repo", "main", { message: "m", committer: WHO });
    }
    for (const delimiter of ["", "/", ".json", "b"]) {
      for (const prefix of ["", "a", "/", "a/", "é", "nowhere"]) {
        const all = model(names, { prefix, delimiter });
        assert.deepEqual(paths(await collect(store.list("repo", "main", { prefix, delimiter }))), all);
        for (const amount of [1, 2, 3]) {
          const paged: string[] = [];
          while (true) {
            const after = paged.at(-1);
            const options = { prefix, delimiter, amount, ...(after === undefined ? {} : { after }) };
            const page = paths(await collect(store.list("repo", "main", options)));
            if (page.length === 0) break;
            assert.ok(page.length <= amount);
            paged.push(...page);
          }
          assert.deepEqual(paged, all, `prefix ${prefix} delimiter ${delimiter} amount ${amount}`);
        }
        const after = name();
        const later = paths(await collect(store.list("repo", "main", { prefix, delimiter, after })));
        assert.deepEqual(later, model(names, { prefix, delimiter, after }), `after ${after} in ${prefix}`);
      }
    }
  }
});

test("a prefix whose only objects are deleted in staging is not listed", async () => {
  const { store } = await withRepository();
  await commit(store, "main", { "a/1": "1", "a/2": "1", "b/1": "1" });
  await write(store, "main", { "a/1": undefined, "a/2": undefined });
  assert.deepEqual(paths(await collect(store.list("repo", "main", { delimiter: "/" }))), ["b/"]);
  assert.deepEqual(paths(await collect(store.list("repo", "main@", { delimiter: "/" }))), ["a/", "b/"]);
});
