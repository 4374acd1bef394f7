/**
 * Memory for files that are being made, used again for the next ones.
 *
 * A commit that touches every range copies the whole keyspace's bytes. Fresh memory for that costs as much as the copying,
 * and a collector that sees only small objects lets it pile up.
 */

/** Small enough to stay in the processor's cache from the reading of a piece to its checking and writing. */
export const PIECE_BYTES = 256 * 1024;
/** What is kept for later. */
const MAX_FREE = 32;

export class PiecePool {
  readonly #free: Uint8Array[] = [];

  /** Returns a piece with anything in it: of {@link PIECE_BYTES}, or of `bytes` when that is more. */
  take(bytes = 0): Uint8Array {
    if (bytes > PIECE_BYTES) return new Uint8Array(bytes);
    return this.#free.pop() ?? new Uint8Array(PIECE_BYTES);
  }

  /** Takes a piece back that nobody uses any more. */
  giveBack(piece: Uint8Array): void {
    if (piece.length === PIECE_BYTES && this.#free.length < MAX_FREE) this.#free.push(piece);
  }
}
