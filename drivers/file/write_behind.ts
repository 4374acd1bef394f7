import { Buffer } from "node:buffer";
import { assertInvariant } from "../../base/errors.ts";

const BUFFER_BYTES = 256 * 1024;
/** So many buffers stay when nobody uses them: those of eight writers. */
const MOST_SPARES = 16;

/** Buffers that nobody uses. Making them anew for each part of an upload was most of a server's memory: they are garbage then. */
const spares: Buffer[] = [];

/**
 * Hands pieces to a slow write through two buffers: while one is being written, the other takes what arrives, so that
 * hashing and writing overlap. Memory is the two buffers, whatever the size of the pieces. Whoever makes one settles it.
 */
export class WriteBehind {
  readonly #write: (bytes: Uint8Array) => Promise<void>;
  #filling: Buffer = takeBuffer();
  #resting: Buffer = takeBuffer();
  #isSettled = false;
  #length = 0;
  #writing: Promise<void> = Promise.resolve();

  constructor(write: (bytes: Uint8Array) => Promise<void>) {
    this.#write = write;
  }

  /** Takes a copy of the piece; waits when both buffers are full. */
  async add(piece: Uint8Array): Promise<void> {
    assertInvariant(!this.#isSettled, "nothing is added to what is settled");
    for (let at = 0; at < piece.length;) {
      const taken = Math.min(piece.length - at, BUFFER_BYTES - this.#length);
      this.#filling.set(piece.subarray(at, at + taken), this.#length);
      this.#length += taken;
      at += taken;
      if (this.#length === BUFFER_BYTES) await this.#turn();
    }
  }

  /** Writes what is left. */
  async finish(): Promise<void> {
    await this.#turn();
    await this.#writing;
  }

  /** Waits until no write is running, failed or not: only then may what it writes to be closed, and its buffers be used again. */
  async settle(): Promise<void> {
    await this.#writing.catch(() => {});
    if (this.#isSettled) return;
    this.#isSettled = true;
    giveBack(this.#filling);
    giveBack(this.#resting);
  }

  async #turn(): Promise<void> {
    await this.#writing;
    const full = this.#filling;
    this.#writing = this.#write(full.subarray(0, this.#length));
    // Whoever waits for it next is told of a failure; until then it is not unhandled.
    this.#writing.catch(() => {});
    this.#filling = this.#resting;
    this.#resting = full;
    this.#length = 0;
  }
}

function takeBuffer(): Buffer {
  return spares.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES);
}

function giveBack(buffer: Buffer): void {
  if (spares.length < MOST_SPARES) spares.push(buffer);
}
