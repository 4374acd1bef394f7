/**
 * CRC-32C (Castagnoli), and the masked form in which table files store it.
 *
 * Eight bytes a step ("slicing by 8"): table `k` holds the CRC of a byte followed by `k` zero bytes, so that the eight
 * bytes are looked up independently and xor-ed together.
 */

const POLYNOMIAL = 0x82f63b78;
const MASK_DELTA = 0xa282ead8;
const TABLES = slicingTables();

/** Returns the CRC-32C of the first `length` bytes, of all by default, as an unsigned number. */
export function crc32c(bytes: Uint8Array, length = bytes.length): number {
  const tables = TABLES;
  const wholeSteps = length - (length & 7);
  let crc = -1;
  let at = 0;
  for (; at < wholeSteps; at += 8) {
    const low = crc ^ (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24));
    crc = tables[0x700 + (low & 0xff)]! ^
      tables[0x600 + ((low >>> 8) & 0xff)]! ^
      tables[0x500 + ((low >>> 16) & 0xff)]! ^
      tables[0x400 + (low >>> 24)]! ^
      tables[0x300 + bytes[at + 4]!]! ^
      tables[0x200 + bytes[at + 5]!]! ^
      tables[0x100 + bytes[at + 6]!]! ^
      tables[bytes[at + 7]!]!;
  }
  for (; at < length; at++) crc = (crc >>> 8) ^ tables[(crc ^ bytes[at]!) & 0xff]!;
  return ~crc >>> 0;
}

/**
 * Returns the CRC-32C of the first `length` bytes rotated and shifted by a constant. A file stores this form because a CRC over data that
 * holds its own CRC is a weak check.
 */
export function maskedCrc32c(bytes: Uint8Array, length = bytes.length): number {
  const crc = crc32c(bytes, length);
  return (((crc >>> 15) | (crc << 17)) + MASK_DELTA) >>> 0;
}

function slicingTables(): Int32Array {
  const tables = new Int32Array(8 * 256);
  // The CRC of a byte is the xor of those of its bits: eight are worked out, the others put together. This runs once in
  // every command, before the compiler has seen it.
  for (let bit = 128, crc = 1; bit > 0; bit >>= 1) {
    crc = (crc >>> 1) ^ (crc & 1 ? POLYNOMIAL : 0);
    for (let byte = 0; byte < 256; byte += 2 * bit) tables[byte + bit] = tables[byte]! ^ crc;
  }
  for (let i = 256; i < tables.length; i++) {
    const shorter = tables[i - 256]!;
    tables[i] = (shorter >>> 8) ^ tables[shorter & 0xff]!;
  }
  return tables;
}
