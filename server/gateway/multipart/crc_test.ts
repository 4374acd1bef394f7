import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { seededRandomness } from "../../../base/randomness.ts";
import { startChecksum } from "../payload/checksums.ts";
import { CRC32, CRC32C, CRC64NVME, CrcJoiner } from "./crc.ts";

async function crcOf(algorithm: "CRC32" | "CRC32C" | "CRC64NVME", bytes: Uint8Array): Promise<bigint> {
  const running = await startChecksum(algorithm);
  running.update(bytes);
  return BigInt(`0x${Buffer.from(running.base64(), "base64").toString("hex")}`);
}

test("join() is the CRC of all bytes, wherever they are cut", async () => {
  const { bytes } = seededRandomness(1);
  const whole = bytes(1000);
  for (const [algorithm, kind] of Object.entries({ CRC32, CRC32C, CRC64NVME })) {
    const crc = (piece: Uint8Array) => crcOf(algorithm as "CRC32", piece);
    const joiner = new CrcJoiner(kind);
    for (const cut of [0, 1, 7, 500, 999, 1000]) {
      const joined = joiner.join(
        await crc(whole.subarray(0, cut)),
        await crc(whole.subarray(cut)),
        1000 - cut,
      );
      assert.equal(joined, await crc(whole), `${algorithm} cut at ${cut}`);
    }
  }
});

test("join() knows the check values of the catalogue of CRCs", async () => {
  const digits = Buffer.from("123456789");
  const check = { CRC32: 0xcbf43926n, CRC32C: 0xe3069283n, CRC64NVME: 0xae8b14860a799888n };
  for (const [algorithm, kind] of Object.entries({ CRC32, CRC32C, CRC64NVME })) {
    const name = algorithm as keyof typeof check;
    const [a, b] = [await crcOf(name, digits.subarray(0, 4)), await crcOf(name, digits.subarray(4))];
    assert.equal(new CrcJoiner(kind).join(a, b, 5), check[name]);
  }
});

test("10,000 parts of gigabytes are joined at once", () => {
  const joiner = new CrcJoiner(CRC64NVME);
  const start = performance.now();
  let crc = 1n;
  for (let i = 0; i < 10_000; i++) crc = joiner.join(crc, 2n, 5 * 1024 ** 3);
  assert.ok(performance.now() - start < 5000);
});
