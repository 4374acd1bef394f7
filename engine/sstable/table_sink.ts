/** Where the bytes of a table go while it is made: in pieces of memory, each handed over when it is full. */

export interface TableSink {
  /** Returns memory for so many bytes or more, with anything in it. */
  piece(bytes: number): Uint8Array;
  /** Takes over memory that came from {@link piece}, whose first `length` bytes are the next ones of the file. */
  take(piece: Uint8Array, length: number): void;
}

const PIECE_BYTES = 64 * 1024;

/** Keeps a table in memory. */
export class MemorySink implements TableSink {
  readonly parts: Uint8Array[] = [];

  piece(bytes: number): Uint8Array {
    return new Uint8Array(Math.max(bytes, PIECE_BYTES));
  }

  take(piece: Uint8Array, length: number): void {
    this.parts.push(piece.subarray(0, length));
  }
}
