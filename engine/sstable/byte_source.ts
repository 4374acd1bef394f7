/** Where a table's bytes come from. */

/** A file of known size that is read in pieces. It does not change while it is open. */
export interface ByteSource {
  /** Names the file in errors. */
  readonly name: string;
  readonly sizeBytes: number;
  /** Returns the `length` bytes at `offset`, perhaps in `into`. The reader treats a shorter answer as damage. */
  read(offset: number, length: number, into?: Uint8Array): Promise<Uint8Array>;
  /**
   * Told that what was read is damaged. A source that keeps a copy of its bytes drops it and returns true: reading again may
   * give other bytes then.
   */
  forget?(): Promise<boolean>;
}

/** Returns a source over bytes that are in memory. */
export function memorySource(name: string, bytes: Uint8Array): ByteSource {
  return {
    name,
    sizeBytes: bytes.length,
    read: (offset, length) => Promise.resolve(bytes.subarray(offset, offset + length)),
  };
}
