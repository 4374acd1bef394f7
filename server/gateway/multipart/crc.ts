/**
 * The CRC of bytes that follow each other, of the CRCs of both.
 *
 * A CRC is a remainder of polynomials over two elements, so with `n` bytes behind it the first one is multiplied by x^(8n), and
 * the second one is added. All three that S3 knows are reflected (the lowest bit is the highest power), begin with ones and
 * end inverted, which cancels out here.
 */

export interface CrcKind {
  readonly bits: number;
  /** Without its highest power, reflected. */
  readonly polynomial: bigint;
}

export const CRC32: CrcKind = { bits: 32, polynomial: 0xedb88320n };
export const CRC32C: CrcKind = { bits: 32, polynomial: 0x82f63b78n };
export const CRC64NVME: CrcKind = { bits: 64, polynomial: 0x9a6c9329ac4bc9b5n };

/** Joins CRCs of one kind. Parts of an upload have the same length but for the last: what is worked out for it is kept. */
export class CrcJoiner {
  readonly #kind: CrcKind;
  readonly #shifts = new Map<number, bigint>();

  constructor(kind: CrcKind) {
    this.#kind = kind;
  }

  /** Returns the CRC of what `first` is the CRC of, with `length` bytes of the CRC `second` behind it. */
  join(first: bigint, second: bigint, length: number): bigint {
    let shift = this.#shifts.get(length);
    if (shift === undefined) this.#shifts.set(length, shift = this.#power(8n * BigInt(length)));
    return this.#product(shift, first) ^ second;
  }

  /** x to the power of `exponent`, by squaring. */
  #power(exponent: bigint): bigint {
    const { bits } = this.#kind;
    let result = 1n << BigInt(bits - 1), square = 1n << BigInt(bits - 2);
    for (let rest = exponent; rest > 0n; rest >>= 1n) {
      if (rest & 1n) result = this.#product(square, result);
      square = this.#product(square, square);
    }
    return result;
  }

  #product(a: bigint, b: bigint): bigint {
    const { bits, polynomial } = this.#kind;
    let product = 0n;
    for (let bit = 1n << BigInt(bits - 1); bit > 0n; bit >>= 1n) {
      if (a & bit) product ^= b;
      b = b & 1n ? (b >> 1n) ^ polynomial : b >> 1n;
    }
    return product;
  }
}
