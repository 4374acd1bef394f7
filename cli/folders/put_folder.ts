/**
 * A local folder onto a branch: several files in flight, and what is there already with the same bytes left as it is.
 *
 * Nothing counts as put before the writer has made it durable, at the end.
 */

import * as fs from "node:fs";
import { join } from "node:path";
import { fromHex, hex } from "../../base/bytes.ts";
import { sha256 } from "../../base/hashes.ts";
import type { BranchWriter, PutObjectOptions } from "../../drivers/store.ts";
import type { AlikeNames } from "../../base/placement.ts";
import type { Context } from "../context.ts";
import type { Messages } from "../messages.ts";
import { FileProgress } from "../render/progress.ts";
import { AlikeNotes } from "./alike_names.ts";
import { countedFiles } from "./count_files.ts";
import { type Failure, Failures } from "./failures.ts";
import { fileLooker } from "../../base/file_state.ts";
import { runInFlight } from "../../base/in_flight.ts";
import {
  contentHash,
  localError,
  openRegular,
  putError,
  readUnchanged,
  readWhole,
  requireStill,
} from "./local_files.ts";
import { PutIndex, type Slot } from "./put_index.ts";
import {
  type BaseVersion,
  baseVersion,
  couldBe,
  type FileToRead,
  type FolderToPut,
  planPut,
} from "./put_plan.ts";
import { withWriter } from "../writing.ts";
import { SmallFiles } from "./small_files.ts";
import type { WalkedFile } from "./walk.ts";

/** Up to this size a file is read at once. */
export const SMALL_BYTES = 1024 * 1024;

export interface FolderPut {
  readonly put: number;
  readonly unchanged: number;
  readonly ignored: number;
  readonly failed: number;
  /** Of the files that were put. */
  readonly sizeBytes: number;
  readonly failures: readonly Failure[];
}

/** Told of each file whose bytes are on the branch; durable after the writer's next flush. */
export type Stored = (slot: Slot, hash: () => Uint8Array, writer: BranchWriter) => void | Promise<void>;

/** Puts all files of a folder. What cannot be put is named and counted, and the rest is done. */
export async function putFolder(
  context: Context,
  what: FolderToPut,
  stored?: Stored,
): Promise<FolderPut> {
  const base = await baseVersion(what);
  const index = await openIndex(context, what);
  try {
    const done = await withWriter(what, async (writer) => {
      const putting = new Putting(context, what, { writer, index, stored });
      index.begin(base.tree);
      await putting.run(base);
      return putting.done;
    });
    index.save({ treeHolds: base.tree !== undefined && done.put === 0 });
    return done;
  } finally {
    index.discard();
  }
}

/** Opens what is known of a folder. */
export async function openIndex({ session }: Context, { folder, reread }: FolderToPut): Promise<PutIndex> {
  const { home } = session;
  return new PutIndex({
    folder: home === undefined ? undefined : join(home, "index"),
    root: folder,
    look: await fileLooker(),
    reread,
  });
}

/** A small file on its way. */
interface About {
  readonly file: WalkedFile;
  readonly slot: Slot;
}

class Putting {
  readonly #what: FolderToPut;
  readonly #writer: BranchWriter;
  readonly #index: PutIndex;
  readonly #stored: Stored | undefined;
  readonly #failures: Failures;
  readonly #progress: FileProgress;
  readonly #messages: Messages;
  readonly #alike = new AlikeNotes();
  #put = 0;
  #unchanged = 0;
  #ignored = 0;
  #sizeBytes = 0;
  #waiting: Promise<void>[] = [];

  constructor(
    { messages }: Context,
    what: FolderToPut,
    { writer, index, stored }: { writer: BranchWriter; index: PutIndex; stored?: Stored },
  ) {
    this.#what = what;
    this.#writer = writer;
    this.#index = index;
    this.#stored = stored;
    this.#messages = messages;
    this.#failures = new Failures(messages, "put");
    this.#progress = new FileProgress(messages, "Putting", countedFiles(messages, what));
  }

  get done(): FolderPut {
    return {
      put: this.#put,
      unchanged: this.#unchanged,
      ignored: this.#ignored,
      failed: this.#failures.count,
      sizeBytes: this.#sizeBytes,
      failures: this.#failures.kept,
    };
  }

  async run(base: BaseVersion): Promise<void> {
    const small = new SmallFiles<About>(this.#writer, {
      put: this.#what.options,
      settled: ({ about, body }, failure) => {
        if (failure) return this.#hasFailed(about, failure.error);
        this.#progress.addBytes(body.length);
        this.#hasPut(about, body.length, () => sha256(body));
      },
    });
    await runInFlight(this.#largeFiles(base, small), async (item) => {
      try {
        await this.#putLarge(item);
      } catch (error) {
        this.#hasFailed(item, error);
      }
    });
    await small.finish();
    this.#alike.tell(this.#messages);
    await Promise.all(this.#waiting);
  }

  /** Puts the small files, and yields the large ones. */
  async *#largeFiles(base: BaseVersion, small: SmallFiles<About>): AsyncGenerator<FileToRead> {
    const events = {
      unchanged: (slot: Slot, hash: () => Uint8Array) => this.#isUnchanged(slot, hash),
      ignored: () => void this.#ignored++,
      alike: (names: AlikeNames) => this.#alike.add(names),
      leftOut: ({ shown, code, why }: { shown: string; code: string; why: string }) =>
        this.#failures.leaveOut(shown, code, why),
    };
    for await (const item of planPut(this.#what, { index: this.#index, base, events })) {
      const body = this.#readSmall(item);
      if (body === "large") yield item;
      else if (body && isSameBytes(item, body, this.#what.options)) {
        const hash = () => sha256(body);
        this.#index.learn(item.slot, hash);
        this.#isUnchanged(item.slot, hash);
      } else if (body) await small.add({ path: this.#what.prefix + item.file.key, body, about: item });
      if (this.#waiting.length > 0) await Promise.all(this.#waiting.splice(0));
    }
  }

  /** Reads a small file; tells of one that cannot be read. */
  #readSmall(item: FileToRead): Uint8Array | "large" | undefined {
    try {
      const open = openRegular(item.file.path);
      try {
        const body = open.stat.size <= SMALL_BYTES ? readWhole(open) : undefined;
        if (body) requireStill(open, item.file.path, body.length);
        return body ?? "large";
      } finally {
        fs.closeSync(open.descriptor);
      }
    } catch (error) {
      this.#hasFailed(item, error);
      return undefined;
    }
  }

  /** Puts one file, streamed, unless the same content is there. */
  async #putLarge(item: FileToRead): Promise<void> {
    const { file, existing, slot } = item;
    const { prefix, options } = this.#what;
    const open = openRegular(file.path);
    try {
      if (couldBe(existing, open.stat.size, options)) {
        const hash = await contentHash(open);
        if (existing!.sha256 === hex(hash)) {
          this.#index.learn(slot, () => hash);
          return this.#isUnchanged(slot, () => hash);
        }
      }
      const body = this.#progress.watch(readUnchanged(open, file.path));
      const stats = await this.#writer.put(prefix + file.key, body, options);
      this.#hasPut(item, stats.sizeBytes, () => fromHex(stats.sha256 ?? "")!);
    } finally {
      fs.closeSync(open.descriptor);
    }
  }

  #hasPut({ slot }: About, size: number, hash: () => Uint8Array): void {
    this.#index.learn(slot, hash);
    this.#put++;
    this.#sizeBytes += size;
    this.#isStored(slot, hash);
  }

  #isUnchanged(slot: Slot, hash: () => Uint8Array): void {
    this.#unchanged++;
    this.#isStored(slot, hash);
  }

  #isStored(slot: Slot, hash: () => Uint8Array): void {
    this.#progress.addFile();
    const done = this.#stored?.(slot, hash, this.#writer);
    if (done) this.#waiting.push(done);
  }

  #hasFailed({ file, slot }: About, error: unknown): void {
    this.#index.drop(slot);
    const told = putError(localError(error, `Cannot read "${file.path}"`), file.path);
    this.#failures.take(file.key, told);
    this.#progress.addFile();
  }
}

/** Whether what is there holds the same bytes and would look the same. */
export function isSameBytes({ existing }: FileToRead, body: Uint8Array, options: PutObjectOptions): boolean {
  return couldBe(existing, body.length, options) && existing!.sha256 === hex(sha256(body));
}
