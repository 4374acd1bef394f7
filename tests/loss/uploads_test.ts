/**
 * Uploads in parts: an object that was acknowledged is whole, whatever became of its parts, of its upload, or of the power.
 *
 * A single part becomes the object itself. The obvious way deletes an upload's parts when it is dropped, or one that is
 * written again: the object with them. Planted: a KV store that does not keep which parts may have become the object. It
 * also looks whether the upload is open, and then completes it, whoever has dropped it meanwhile. Planted: one that compares
 * nothing. And it acknowledges what is only written. Planted: an object store whose flush does nothing.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { lossyText } from "../../base/bytes.ts";
import { isCoded } from "../../base/errors.ts";
import { openMemoryObjectStore } from "../../drivers/memory/mod.ts";
import type { ObjectStore } from "../../drivers/object_store.ts";
import type { Store } from "../../drivers/store.ts";
import { decodeUpload, encodeUpload } from "../../engine/uploads/records.ts";
import { openMemoryKv } from "../../kv/memory/mod.ts";
import type { KvStore } from "../../kv/store.ts";
import { hookedKv, type KvMoment } from "../support/hooked_kv.ts";
import { powerLossStore } from "../support/power_loss.ts";
import { readText, testEngine, withRepository } from "../support/test_engine.ts";
import { putText, uploadParts, uploadsOf } from "../support/uploads.ts";

type Plant = (kv: KvStore) => KvStore;
const asItIs: Plant = (kv) => kv;

const isUpload = (partition: Uint8Array, key: Uint8Array) =>
  lossyText(partition).endsWith("/uploads") && lossyText(key).startsWith("id/");

const withoutAdopted: Plant = (kv) => ({
  ...kv,
  setIf(partition, key, value, predicate) {
    const kept = isUpload(partition, key) ? encodeUpload({ ...decodeUpload(value), adopted: [] }) : value;
    return kv.setIf(partition, key, kept, predicate);
  },
});

const withoutCompare: Plant = (kv) => ({
  ...kv,
  setIf: (partition, key, value, predicate) =>
    isUpload(partition, key) ? kv.set(partition, key, value) : kv.setIf(partition, key, value, predicate),
});

/** What a reader sees of the object: its text, that there is none, or that its bytes are gone. */
async function shown(store: Store): Promise<string> {
  try {
    return await readText(store, "main", "big") ?? "none";
  } catch (error) {
    assert.ok(isCoded(error, "checksum_mismatch"), String(error));
    return "lost";
  }
}

class Killed extends Error {}

/** An upload in two processes of one home; calls of the first one can be held up or cut off. */
async function twoProcesses(plant: Plant, texts: readonly string[] = ["whole"]) {
  const kv = plant(hookedKv(openMemoryKv(), {}));
  const engine = await withRepository(testEngine({ kv }));
  const upload = await uploadParts(engine.store, texts);
  const held = (before: (moment: KvMoment) => Promise<void> | void) =>
    testEngine({ ...engine, kv: plant(hookedKv(kv, { before })) }).store;
  const complete = (store: Store) => uploadsOf(store).complete(upload.place, upload.named);
  return { ...engine, ...upload, held, complete };
}

/** A completion is killed when its object is staged, and the upload is dropped then. */
async function dropAfterKill(plant: Plant): Promise<string> {
  const { store, place, held, complete } = await twoProcesses(plant);
  let isStaged = false;
  const killed = held(({ call, partition, key }) => {
    if (isStaged && key.startsWith("id/") && call === "setIf") throw new Killed();
    isStaged ||= call === "setMany" && !partition.endsWith("/uploads");
  });
  await assert.rejects(complete(killed), Killed);
  assert.equal(await shown(store), "whole");
  await uploadsOf(store).abort(place);
  return await shown(store);
}

test("planted: who forgets what became the object deletes it with the upload", async () => {
  assert.equal(await dropAfterKill(withoutAdopted), "lost");
});

test("an object outlives its upload, whose completion was killed", async () => {
  assert.equal(await dropAfterKill(asItIs), "whole");
});

/** A part is written again while the object that it became is being staged. */
async function replaceWhileLanding(plant: Plant): Promise<string> {
  const { store, place, held, complete } = await twoProcesses(plant);
  let isArmed = true;
  const slow = held(async ({ call, partition }) => {
    if (!isArmed || call !== "setMany" || partition.endsWith("/uploads")) return;
    isArmed = false;
    await putText(store, place, 1, "other");
  });
  await complete(slow);
  assert.equal(isArmed, false);
  return await shown(store);
}

test("planted: who forgets what became the object deletes it with the part that is written again", async () => {
  assert.equal(await replaceWhileLanding(withoutAdopted), "lost");
});

test("an object outlives its part, which is written again", async () => {
  assert.equal(await replaceWhileLanding(asItIs), "whole");
});

/** An upload is dropped when its completion has looked at it, and is about to say that it stages the object. */
async function dropBeforeLanding(plant: Plant): Promise<string> {
  const { store, place, held, complete } = await twoProcesses(plant, ["wh", "ole"]);
  let isArmed = true;
  const slow = held(async ({ call, key }) => {
    if (!isArmed || !call.startsWith("set") || !key.startsWith("id/")) return;
    isArmed = false;
    await uploadsOf(store).abort(place);
  });
  const told = await complete(slow).then(() => "done", (error) => {
    assert.ok(isCoded(error, "upload_not_found"), String(error));
    return "not found";
  });
  assert.equal(isArmed, false);
  return `${told}, ${await shown(store)}`;
}

test("planted: a completion that does not compare the upload's record brings back what was dropped", async () => {
  assert.equal(await dropBeforeLanding(withoutCompare), "done, whole");
});

test("an upload that is dropped before its object is staged is not completed", async () => {
  assert.equal(await dropBeforeLanding(asItIs), "not found, none");
});

/** Power is lost after the parts, and again after the completion. */
async function losePower(
  around: (disk: ObjectStore) => ObjectStore,
  texts: readonly string[],
): Promise<string> {
  const disk = powerLossStore(openMemoryObjectStore());
  const { store } = await withRepository(testEngine({ objects: around(disk) }));
  const { place, named } = await uploadParts(store, texts);
  await disk.losePower();
  const completed = await uploadsOf(store).complete(place, named).then(() => true, (error) => {
    assert.ok(isCoded(error, "part_not_found", "object_not_found"), String(error));
    return false;
  });
  if (!completed) return "parts lost";
  await disk.losePower();
  const seen = await shown(store);
  return seen === texts.join("") ? "whole" : seen;
}

/** Parts of such a size are written into one file. */
const LARGE = "w".repeat(5 * 1024 * 1024);

const neverFlushed = (disk: ObjectStore): ObjectStore => ({ ...disk, flush: () => Promise.resolve() });
/** Flushes each part, and no object that was made of several. */
const partsFlushed = (disk: ObjectStore): ObjectStore => {
  let flushes = 0;
  return { ...disk, flush: (keys) => flushes++ < 2 ? disk.flush(keys) : Promise.resolve() };
};

test("planted: parts, and objects of them, that are acknowledged before they are on disk do not outlive a loss of power", async () => {
  assert.equal(await losePower(neverFlushed, ["wh", "ole"]), "parts lost");
  assert.equal(await losePower(neverFlushed, [LARGE, "hole"]), "parts lost");
  assert.equal(await losePower(partsFlushed, ["wh", "ole"]), "lost");
});

test("parts, and objects of them, outlive a loss of power once they are acknowledged", async () => {
  for (const texts of [["wh", "ole"], ["whole"], [LARGE, LARGE, "hole"]]) {
    assert.equal(await losePower((disk) => disk, texts), "whole");
  }
});

test("a relaxed part that power loss took is not taken for whole", async () => {
  const disk = powerLossStore(openMemoryObjectStore());
  const { store } = await withRepository(testEngine({ objects: neverFlushed(disk) }));
  for (const texts of [["wh", "ole"], ["whole"], [LARGE, "hole"]]) {
    const { place } = await uploadParts(store, []);
    const named = [];
    for (const [i, text] of texts.entries()) {
      const body = new TextEncoder().encode(text);
      named.push(await uploadsOf(store).putPart(place, i + 1, body, { durability: "relaxed" }));
    }
    assert.ok((await disk.losePower()).length > 0);
    await assert.rejects(uploadsOf(store).complete(place, named, { durability: "relaxed" }), {
      code: "part_not_found",
    });
    assert.equal(await shown(store), "none");
  }
});
