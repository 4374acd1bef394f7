import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { systemRandomness } from "../../base/randomness.ts";
import { isOwnAddress } from "./address.ts";
import { ReadyAddresses } from "./ready_address.ts";

function addressesOver(makeReady: ((key: string) => boolean) | undefined) {
  let nowMs = 1_700_000_000_000;
  const clock = { now: () => nowMs, sleep: () => Promise.reject(new Error("it never sleeps")) };
  const addresses = new ReadyAddresses({
    objects: makeReady ? { makeReady } : {},
    clock,
    randomness: systemRandomness,
  });
  return { addresses, pass: (ms: number) => void (nowMs += ms) };
}

/** Until what an upload has had made ready is there. */
async function rounds(): Promise<void> {
  for (let i = 0; i < 3; i++) await setImmediate();
}

test("uploads that come one after the other find their addresses made ready", async () => {
  const made: string[] = [];
  const { addresses, pass } = addressesOver((key) => made.push(key) > 0);
  const first = addresses.next(1000);
  await rounds();
  assert.deepEqual(made, [], "one alone needs none");
  pass(10);
  const second = addresses.next(1000);
  assert.deepEqual(made, [], "not before it is answered");
  await rounds();
  assert.equal(made.length, 1);
  pass(10);
  const third = addresses.next(1000), fourth = addresses.next(1000);
  assert.equal(third, made[0]);
  await rounds();
  assert.equal(made.length, 2, "one at a time");
  pass(1000);
  const late = addresses.next(1000);
  assert.ok(!made.some((address) => address === late), "after a pause it may be gone");
  await rounds();
  assert.equal(made.length, 2);
  const all = [first, second, third, fourth, late];
  assert.equal(new Set(all).size, all.length);
  for (const address of all) assert.ok(isOwnAddress(address));
});

test("for large objects nothing is made ready", async () => {
  const made: string[] = [];
  const { addresses } = addressesOver((key) => made.push(key) > 0);
  for (let i = 0; i < 3; i++) {
    addresses.next(100_000);
    await rounds();
  }
  assert.deepEqual(made, []);
});

test("an address that cannot be made ready is not waited for", async () => {
  for (const makeReady of [() => false, undefined]) {
    const { addresses } = addressesOver(makeReady);
    const all = new Set<string>();
    for (let i = 0; i < 5; i++) {
      all.add(addresses.next(1000));
      await rounds();
    }
    assert.equal(all.size, 5);
  }
});
