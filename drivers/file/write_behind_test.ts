import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import { patternOf } from "../../tests/conformance/object_store_support.ts";
import { WriteBehind } from "./write_behind.ts";

const pause = () => new Promise((resolve) => setTimeout(resolve, 1));

test("WriteBehind writes all pieces in order, one write at a time", async () => {
  const content = patternOf(2_000_000);
  for (const pieceSize of [10_000, 262_144, 300_000, 2_000_000]) {
    const written: Buffer[] = [];
    let running = 0;
    const behind = new WriteBehind(async (bytes) => {
      assert.equal(++running, 1);
      await pause();
      written.push(Buffer.from(bytes));
      running--;
    });
    for (let at = 0; at < content.length; at += pieceSize) {
      await behind.add(content.subarray(at, at + pieceSize));
    }
    await behind.finish();
    assert.equal(Buffer.compare(Buffer.concat(written), content), 0);
  }
});

test("WriteBehind tells of a write that failed, though all later ones succeed", async () => {
  for (const failing of [0, 1, 2]) {
    let writes = 0;
    const behind = new WriteBehind(async () => {
      await pause();
      if (writes++ === failing) throw new Error("no space");
    });
    const addAll = async () => {
      for (let i = 0; i < 5; i++) await behind.add(new Uint8Array(150_000));
      await behind.finish();
    };
    await assert.rejects(addAll, /no space/);
    await behind.settle();
  }
});

test("WriteBehind settles only when no write is running", async () => {
  let isRunning = false;
  const behind = new WriteBehind(async () => {
    isRunning = true;
    await pause();
    isRunning = false;
    throw new Error("no space");
  });
  await behind.add(new Uint8Array(300_000));
  assert.ok(isRunning);
  await behind.settle();
  assert.ok(!isRunning);
});

test("buffers are used again, and never by two at once, nor while a write is running", async () => {
  const buffers = new Set<unknown>();
  const upload = async (seed: number) => {
    const content = patternOf(700_000).map((byte) => byte ^ seed), written: Buffer[] = [];
    const behind = new WriteBehind(async (bytes) => {
      buffers.add(bytes.buffer);
      await pause();
      written.push(Buffer.from(bytes));
      if (seed % 7 === 3 && written.length === 2) throw new Error("no space");
    });
    try {
      for (let at = 0; at < content.length; at += 100_000) {
        await behind.add(content.subarray(at, at + 100_000));
        if (seed % 5 === 1 && at > 500_000) return;
      }
      await behind.finish();
      assert.equal(Buffer.compare(Buffer.concat(written), content), 0);
    } catch (error) {
      assert.match(String(error), /no space/);
    } finally {
      await behind.settle();
      await behind.settle();
    }
  };
  const lanes = Array.from({ length: 6 }, async (_, lane) => {
    for (let i = 0; i < 30; i++) await upload(lane * 30 + i);
  });
  await Promise.all(lanes);
  assert.ok(buffers.size <= 16, `${buffers.size} buffers`);
  const behind = new WriteBehind(async () => {});
  await behind.settle();
  await assert.rejects(behind.add(new Uint8Array(1)), /settled/);
});
