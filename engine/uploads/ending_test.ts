/** Uploads that end while other things happen to them: kills at every call, and meetings in any order. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers";
import type { Clock } from "../../base/clock.ts";
import { isCoded } from "../../base/errors.ts";
import { seededRandomness } from "../../base/randomness.ts";
import { openMemoryObjectStore } from "../../drivers/memory/mod.ts";
import type { ObjectStore } from "../../drivers/object_store.ts";
import type { NamedPart, Store, UploadPlace } from "../../drivers/store.ts";
import { openMemoryKv } from "../../kv/memory/mod.ts";
import type { KvStore } from "../../kv/store.ts";
import { hookedKv } from "../../tests/support/hooked_kv.ts";
import {
  collect,
  readText,
  type TestEngine,
  testEngine,
  withRepository,
  write,
} from "../../tests/support/test_engine.ts";
import {
  dataKeys,
  putText,
  startUpload,
  uploadKeys,
  uploadParts,
  uploadsOf,
} from "../../tests/support/uploads.ts";

const WEEKS_MS = 15 * 24 * 3600 * 1000;

/** Runs something around each call that reaches the stores. */
type Around = <T>(call: () => Promise<T>) => Promise<T>;

function aroundObjects(inner: ObjectStore, around: Around): ObjectStore {
  return {
    ...inner,
    locate: (key) => inner.locate(key),
    head: (key) => around(() => inner.head(key)),
    pages: (options) => inner.pages(options),
    get: (key, options) => around(() => inner.get(key, options)),
    read: (key, offset, length) => around(() => inner.read(key, offset, length)),
    put: (key, body, options) => around(() => inner.put(key, body, options)),
    putAt: (key, offset, body) => around(() => inner.putAt!(key, offset, body)),
    putMany: (objects) => around(() => inner.putMany(objects)),
    flush: (keys) => around(() => inner.flush(keys)),
    delete: (key) => around(() => inner.delete(key)),
  };
}

interface Through {
  readonly around: Around;
  readonly clock?: Pick<Clock, "sleep">;
}

/** A process of its own over the same stores. */
function process(engine: TestEngine, { around, clock }: Through): Store {
  const before = () => around(() => Promise.resolve());
  const kv: KvStore = hookedKv(engine.kv, { before, after: before });
  const objects = aroundObjects(engine.objects, around);
  return testEngine({ kv, objects, clock: { ...engine.clock, ...clock } }).store;
}

interface Prepared {
  readonly place: UploadPlace;
  readonly named: readonly NamedPart[];
}

/** So much that others are put behind it. */
const LARGE = "w".repeat(5 * 1024 * 1024);

/** What the object of a way is: all of it, or where that is too long for messages, what becomes of it there. */
function shownAs(text: string | undefined): string | undefined {
  return text === `${LARGE}hole` ? "whole" : text?.slice(0, 100);
}

/** Ways in which an object comes to be of parts; all of them make "whole". */
const WAYS: Record<string, (store: Store) => Promise<Prepared>> = {
  "many parts": (store) => uploadParts(store, ["wh", "ole"]),
  "one part": (store) => uploadParts(store, ["whole"]),
  "parts in one file": (store) => uploadParts(store, [LARGE, "hole"]),
  "a copy": async (store) => {
    await write(store, "main", { source: "whole" });
    const place = await startUpload(store);
    const source = { repository: "repo", ref: "main", path: "source" };
    return { place, named: [(await uploadsOf(store).copyPart(place, 1, source)).part] };
  },
};

/** An upload whose parts were written by a process of its own; its calls go through `through` from then on. */
async function prepared(way: string, through?: Through) {
  const kv = openMemoryKv();
  const engine = await withRepository(testEngine({ kv, objects: openMemoryObjectStore() }));
  let isWritten = false;
  const around: Around = (call) => isWritten && through ? through.around(call) : call();
  const owner = process(engine, { ...through, around });
  const upload = await WAYS[way]!(owner);
  isWritten = true;
  return { ...engine, ...upload, kv, owner };
}

async function show(store: Store): Promise<string | undefined> {
  return shownAs(await readText(store, "main", "big"));
}

const orNotFound = (error: unknown) => {
  if (!isCoded(error, "upload_not_found")) throw error;
  return "not found" as const;
};

const complete = (store: Store, { place, named }: Prepared) =>
  uploadsOf(store).complete(place, named).then(() => "done" as const, orNotFound);
const abort = (store: Store, { place }: Prepared) =>
  uploadsOf(store).abort(place).then(() => "done" as const, orNotFound);

/** Lets all time pass, after which nothing may be known of any upload. */
async function checkForgotten(engine: Awaited<ReturnType<typeof prepared>>): Promise<void> {
  for (let i = 0; i < 2; i++) {
    engine.clock.advance(WEEKS_MS);
    await uploadsOf(engine.store).dropExpired("repo");
  }
  assert.deepEqual(await uploadKeys(engine.kv), []);
}

class Killed extends Error {}

/** Lets so many calls through, and none after them. */
function killedAfter(calls: number): { around: Around; wasKilled: () => boolean } {
  let left = calls;
  return {
    around: (call) => left-- > 0 ? call() : Promise.reject(new Killed()),
    wasKilled: () => left < 0,
  };
}

for (const way of Object.keys(WAYS)) {
  test(`a completion of ${way} killed at any call leaves the upload as it was or the object whole`, async () => {
    for (const then of [complete, abort]) {
      let wasKilled = true;
      for (let calls = 0; wasKilled; calls++) {
        const kill = killedAfter(calls);
        const engine = await prepared(way, kill);
        const told = await complete(engine.owner, engine).catch((error) => {
          assert.ok(error instanceof Killed, String(error));
          return "killed";
        });
        wasKilled = kill.wasKilled();
        const shown = await show(engine.store);
        assert.ok(shown === undefined || shown === "whole", shown);
        if (told === "done") assert.equal(shown, "whole");
        const isOpen = await uploadsOf(engine.store).get(engine.place).then(() => true, () => false);
        if (!isOpen) assert.equal(shown, "whole");
        const next = await then(engine.store, engine);
        const after = await show(engine.store);
        if (then === complete) assert.deepEqual([next, after], ["done", "whole"]);
        else assert.deepEqual([next, after], [isOpen ? "done" : "not found", shown]);
        await checkForgotten(engine);
        assert.equal(await show(engine.store), after);
      }
    }
  });
}

test("an abort killed at any call leaves an upload that can be dropped, and nothing in the end", async () => {
  let wasKilled = true;
  for (let calls = 0; wasKilled; calls++) {
    const kill = killedAfter(calls);
    const engine = await prepared("many parts", kill);
    await abort(engine.owner, engine).catch((error) => assert.ok(error instanceof Killed));
    wasKilled = kill.wasKilled();
    await abort(engine.store, engine);
    assert.equal(await complete(engine.store, engine), "not found");
    await checkForgotten(engine);
    assert.deepEqual(await dataKeys(engine.objects), []);
  }
});

test("a part killed at any call is the old one or the new one, whole", async () => {
  let wasKilled = true;
  for (let calls = 0; wasKilled; calls++) {
    const kill = killedAfter(calls);
    const engine = await prepared("many parts", kill);
    const told = await putText(engine.owner, engine.place, 1, "WH").catch((error) => {
      assert.ok(error instanceof Killed, String(error));
    });
    wasKilled = kill.wasKilled();
    const [old, last] = engine.named as [NamedPart, NamedPart];
    const uploads = uploadsOf(engine.store);
    const [one] = await collect(uploads.parts(engine.place));
    const isOld = one!.checksum === old.checksum;
    if (told) assert.equal(one!.checksum, told.checksum);
    await uploads.complete(engine.place, [one!, last]);
    assert.equal(await show(engine.store), isOld ? "whole" : "WHole");
    await checkForgotten(engine);
  }
});

interface Chance extends Through {
  /** Begins a work a little later. */
  readonly late: <T>(work: () => Promise<T>) => Promise<T>;
}

/** Lets calls of several processes meet in an order that the seed gives. */
function shuffled(seed: number): Chance {
  const randomness = seededRandomness(seed);
  const pause = async (turns: number) => {
    for (let i = 0; i < turns; i++) await new Promise(setImmediate);
  };
  const after = async <T>(mostTurns: number, work: () => Promise<T>) => {
    await pause(Math.floor(randomness.fraction() * mostTurns));
    return await work();
  };
  return {
    around: (call) => after(4, call),
    // Nobody who is alive is taken for dead.
    clock: { sleep: () => pause(10) },
    late: (work) => after(60, work),
  };
}

/** What is put once more as part 1, and how many orders are tried. */
const MEETINGS: Record<string, readonly [again: string, seeds: number]> = {
  "many parts": ["wh", 60],
  "one part": ["whole", 60],
  "parts in one file": [LARGE, 16],
};

for (const [way, [again, seeds]] of Object.entries(MEETINGS)) {
  test(`of completions and aborts of ${way} that meet, one wins and the others are told so`, async () => {
    const seen = new Set<string>();
    for (let seed = 0; seed < seeds; seed++) {
      const chance = shuffled(seed);
      const engine = await prepared(way, chance);
      const { late } = chance;
      const [first, second, dropped] = await Promise.all([
        late(() => complete(engine.owner, engine)),
        late(() => complete(process(engine, chance), engine)),
        late(() => abort(process(engine, chance), engine)),
      ]);
      const shown = await show(engine.store);
      if (dropped === "done") {
        assert.deepEqual([first, second, shown], ["not found", "not found", undefined], `seed ${seed}`);
      } else {
        assert.deepEqual([first, second, shown], ["done", "done", "whole"], `seed ${seed}`);
      }
      seen.add(dropped);
      await checkForgotten(engine);
      assert.equal((await dataKeys(engine.objects)).length, shown === undefined ? 0 : 1, `seed ${seed}`);
    }
    assert.equal(seen.size, 2, "the seeds are no good: the same one always wins");
  });

  test(`parts that are written while an upload of ${way} ends are in the object or are gone`, async () => {
    const seen = new Set<string>();
    for (let seed = 0; seed < seeds; seed++) {
      const chance = shuffled(seed);
      const engine = await prepared(way, chance);
      const { late } = chance;
      const put = (store: Store, number: number, text: string) =>
        late(() => putText(store, engine.place, number, text).then(() => "done", orNotFound));
      const [completed, ...written] = await Promise.all([
        late(() => complete(engine.owner, engine)),
        put(engine.owner, 1, again),
        put(process(engine, chance), 1, again),
        // Not named, and behind all that is.
        put(engine.owner, 3, "more"),
      ]);
      assert.equal(completed, "done", `seed ${seed}`);
      written.forEach((one) => seen.add(one));
      assert.equal(await show(engine.store), "whole", `seed ${seed}`);
      await checkForgotten(engine);
      assert.equal(await show(engine.store), "whole", `seed ${seed}`);
      assert.equal((await dataKeys(engine.objects)).length, 1, `seed ${seed}`);
    }
    assert.equal(seen.size, 2, "the seeds are no good: parts always come too late, or never");
  });
}

test("an upload whose completion has died is open again for whoever comes", async () => {
  const engine = await prepared("one part");
  // The record says that the object is about to be staged, and then nothing comes.
  let hasDied = false;
  const dying = hookedKv(engine.kv, {
    before({ call, partition }) {
      hasDied ||= call === "setMany" && !partition.endsWith("/uploads");
      if (hasDied) throw new Killed();
    },
  });
  const dead = testEngine({ kv: dying, objects: engine.objects, clock: engine.clock }).store;
  await assert.rejects(complete(dead, engine), Killed);
  assert.equal(await show(engine.store), undefined);
  assert.equal(await abort(engine.store, engine), "done");
  assert.equal(await complete(engine.store, engine), "not found");
  assert.equal(await show(engine.store), undefined);
});
