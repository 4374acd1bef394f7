import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { concatBytes, fromHex, hex, utf8 } from "./bytes.ts";
import { fnv1a64Mod, md5Hex, PrefixFnv, runningHash, sha256, sha256Into } from "./hashes.ts";
import { seededRandomness } from "./randomness.ts";

interface BreakDecision {
  readonly key_hex: string;
  readonly fnv1a_64_dec: string;
  readonly break_at_raggedness_50000: boolean;
  readonly break_at_raggedness_100: boolean;
}

const vectors = JSON.parse(
  readFileSync(new URL("../tests/golden/vectors.json", import.meta.url), "utf8"),
) as { break_decisions: BreakDecision[] };

test("FNV-1a-64 is what lakeFS computes, and breaks where it breaks", () => {
  assert.ok(vectors.break_decisions.length > 10);
  let breaks = 0;
  for (const decision of vectors.break_decisions) {
    const key = fromHex(decision.key_hex)!;
    for (const modulus of [1, 2, 3, 97, 65536, 50_000, 2 ** 26 - 1, 2 ** 26]) {
      const expected = Number(BigInt(decision.fnv1a_64_dec) % BigInt(modulus));
      assert.equal(fnv1a64Mod(key, modulus), expected, `${decision.key_hex} modulo ${modulus}`);
    }
    assert.equal(fnv1a64Mod(key, 50_000) === 0, decision.break_at_raggedness_50000);
    assert.equal(fnv1a64Mod(key, 100) === 0, decision.break_at_raggedness_100);
    if (decision.break_at_raggedness_100) breaks++;
  }
  assert.ok(breaks > 0, "no vector breaks");
});

test("FNV-1a-64 agrees with its definition in big integers on random keys", () => {
  const chance = seededRandomness(5);
  for (let i = 0; i < 300; i++) {
    const key = chance.bytes(Math.floor(chance.fraction() * 100));
    let hash = 0xcbf29ce484222325n;
    for (const byte of key) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
    const modulus = 1 + Math.floor(chance.fraction() * 2 ** 26);
    assert.equal(fnv1a64Mod(key, modulus), Number(hash % BigInt(modulus)));
  }
});

test("PrefixFnv goes on from what a string shares with the last one, however much of that is told", () => {
  const chance = seededRandomness(6);
  const below = (bound: number) => Math.floor(chance.fraction() * bound);
  const hash = new PrefixFnv();
  let last: Uint8Array = new Uint8Array(0);
  for (let i = 0; i < 2000; i++) {
    const shared = below(last.length + 1);
    const key = concatBytes(last.subarray(0, shared), chance.bytes(below(i % 100 === 0 ? 3000 : 40)));
    const isForgotten = below(10) === 0;
    if (isForgotten) hash.forget();
    // After forgetting, what is told of the last string is of another one.
    const told = isForgotten ? 5 : below(shared + 1);
    assert.equal(hash.mod(key, told, 50_000), fnv1a64Mod(key, 50_000));
    last = key;
  }
});

test("sha256() and md5Hex() give the published digests", () => {
  assert.equal(hex(sha256(utf8("abc"))), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  assert.equal(hex(sha256(utf8(""))), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  assert.equal(md5Hex(utf8("abc")), "900150983cd24fb0d6963f7d28e17f72");
});

test("sha256Into() writes into a view and nowhere beside it, also from a view", () => {
  const out = new Uint8Array(40).fill(7);
  sha256Into(utf8("xabcx").subarray(1, 4), out.subarray(4, 36));
  assert.deepEqual(out.subarray(4, 36), sha256(utf8("abc")));
  assert.deepEqual([...out.subarray(0, 4), ...out.subarray(36)], [7, 7, 7, 7, 7, 7, 7, 7]);
});

test("a running hash does not care how the bytes were cut", () => {
  const bytes = seededRandomness(6).bytes(10_000);
  for (const algorithm of ["sha256", "md5"] as const) {
    const hash = runningHash(algorithm);
    for (let at = 0; at < bytes.length;) {
      const next = at + 1 + (at % 700);
      hash.update(bytes.subarray(at, next));
      at = next;
    }
    assert.equal(hex(hash.digest()), createHash(algorithm).update(bytes).digest("hex"));
  }
});
