/**
 * The bytes of a table that is being made, on their way to its file.
 *
 * The file's name tells what is in it, so it is known last. A store that takes an object before it has a key gets each piece
 * when it is full, and the memory serves the next one: a large range takes a few pieces. For any other store, and of a small table,
 * all pieces are held until the end.
 */

import { equalBytes } from "../../base/bytes.ts";
import type { ObjectStore, UnnamedObject } from "../../drivers/object_store.ts";
import { PIECE_BYTES, type PiecePool, type TableSink } from "../sstable/mod.ts";

/** How many pieces may be on their way: who makes more waits until one has been written. */
const MAX_UNDER_WAY = 4;

export interface TableBodyOptions {
  readonly objects: ObjectStore;
  /** The folder of the key that it will have. */
  readonly folder: string;
  readonly pool: PiecePool;
}

export class TableBody implements TableSink {
  readonly #options: TableBodyOptions;
  /** Pieces that are held, the last one perhaps not full. */
  #held: { readonly piece: Uint8Array; readonly length: number }[] = [];
  #unnamed: UnnamedObject | undefined;
  /** How many pieces are being written, and who waits until it is fewer. */
  #underWay = 0;
  #woken: (() => void) | undefined;
  #sizeBytes = 0;

  constructor(options: TableBodyOptions) {
    this.#options = options;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  piece(bytes: number): Uint8Array {
    return this.#options.pool.take(bytes);
  }

  take(piece: Uint8Array, length: number): void {
    this.#sizeBytes += length;
    const { objects, folder } = this.#options;
    if (!this.#unnamed && this.#held.length > 0) this.#unnamed = objects.begin?.(folder);
    this.#held.push({ piece, length });
    if (!this.#unnamed) return;
    for (const held of this.#held.splice(0)) this.#send(held.piece, held.length);
  }

  /** Whether so much is on its way that who makes more has to wait. */
  get isFull(): boolean {
    return this.#underWay >= MAX_UNDER_WAY;
  }

  /** Waits until it is not full. */
  async room(): Promise<void> {
    while (this.isFull) await new Promise<void>((resolve) => this.#woken = resolve);
  }

  /** Stores the table, all of which it has, under its key. Fails as a put of the mode does; may be tried again. */
  async put(key: string, mode: "replace" | "if_absent"): Promise<void> {
    const { objects } = this.#options;
    if (this.#unnamed) await this.#unnamed.name(key, mode);
    else await objects.put(key, this.#parts(), { mode });
  }

  /** Returns whether an object is there and has the same bytes. Fails as reading does. */
  async equals(key: string): Promise<boolean> {
    const { objects } = this.#options;
    if ((await objects.head(key))?.sizeBytes !== this.#sizeBytes) return false;
    let at = 0;
    for await (const part of this.#written()) {
      if (!equalBytes(await objects.read(key, at, part.length), part)) return false;
      at += part.length;
    }
    return true;
  }

  /** Ends its life, whatever came of it: gives all memory back, and removes what has no name. */
  async dispose(): Promise<void> {
    await this.#unnamed?.abandon();
    for (const { piece } of this.#held.splice(0)) this.#options.pool.giveBack(piece);
  }

  #send(piece: Uint8Array, length: number): void {
    this.#underWay++;
    this.#unnamed!.add(piece.subarray(0, length))
      // Who names it hears of that.
      .catch(() => {})
      .finally(() => {
        this.#underWay--;
        this.#options.pool.giveBack(piece);
        this.#woken?.();
      });
  }

  #parts(): Uint8Array[] {
    return this.#held.map(({ piece, length }) => piece.subarray(0, length));
  }

  async *#written(): AsyncGenerator<Uint8Array> {
    if (!this.#unnamed) return yield* this.#parts();
    for (let at = 0; at < this.#sizeBytes; at += PIECE_BYTES) {
      yield await this.#unnamed.read(at, Math.min(PIECE_BYTES, this.#sizeBytes - at));
    }
  }
}
