/**
 * A local folder onto a branch: several files in flight, and what is there already with the same bytes left as it is.
 *
 * Nothing counts as put before the writer has made it durable, at the end.
 */

import * as fs from "node:fs";
import { hex } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import type { BranchWriter, ObjectStats, PutObjectOptions, Store } from "../../drivers/store.ts";
import type { Context } from "../context.ts";
import { FileProgress } from "../render/progress.ts";
import { ExistingObjects } from "./existing.ts";
import { type Failure, Failures } from "./failures.ts";
import { runInFlight } from "./in_flight.ts";
import { contentHash, localError, openWalked, readFrom, readWhole } from "./local_files.ts";
import { type WalkedFile, walkFolder } from "./walk.ts";

/** Up to this size a file is read at once. */
const SMALL_BYTES = 1024 * 1024;
const DEFAULT_CONTENT_TYPE = "application/octet-stream";

export interface FolderToPut {
  readonly store: Store;
  readonly repository: string;
  readonly branch: string;
  /** What each key begins with: empty, or ending in `/`. */
  readonly prefix: string;
  readonly folder: string;
  readonly options: PutObjectOptions;
}

export interface FolderPut {
  readonly put: number;
  readonly unchanged: number;
  readonly failed: number;
  /** Of the files that were put. */
  readonly sizeBytes: number;
  readonly failures: readonly Failure[];
}

/** Puts all files of a folder. What cannot be put is named and counted, and the rest is done. */
export async function putFolder({ messages }: Context, what: FolderToPut): Promise<FolderPut> {
  const { store, repository, branch } = what;
  const writer = await store.writer(repository, branch);
  const failures = new Failures(messages, "put");
  const progress = new FileProgress(messages, "Putting");
  let put = 0, unchanged = 0, sizeBytes = 0;
  await runInFlight(filesToPut(what, failures), async ({ file, existing }) => {
    try {
      const size = await putOne(writer, { ...what, file, existing });
      if (size === undefined) unchanged++;
      else {
        put++;
        sizeBytes += size;
        progress.addBytes(size);
      }
    } catch (error) {
      failures.take(file.key, localError(error, `Cannot read "${file.path}"`));
    }
    progress.addFile();
  });
  await writer.close();
  return { put, unchanged, failed: failures.count, sizeBytes, failures: failures.kept };
}

interface FileToPut {
  readonly file: WalkedFile;
  readonly existing: ObjectStats | undefined;
}

async function* filesToPut(what: FolderToPut, failures: Failures): AsyncGenerator<FileToPut> {
  const existing = new ExistingObjects(what.store, what);
  for (const item of walk(what.folder)) {
    if (item.kind === "file") yield { file: item, existing: await existing.find(what.prefix + item.key) };
    else failures.leaveOut(item.shown, item.code, item.why);
  }
}

function* walk(folder: string): ReturnType<typeof walkFolder> {
  try {
    yield* walkFolder(folder);
  } catch (error) {
    throw localError(error, `Cannot read "${folder}"`);
  }
}

/** Puts one file and returns its size, or `undefined` when the same content is there. */
async function putOne(
  writer: BranchWriter,
  { file, existing, prefix, options }: FolderToPut & FileToPut,
): Promise<number | undefined> {
  const open = openWalked(file.path);
  try {
    if (!open.stat.isFile()) {
      throw new CodedError("invalid", "special_file", `Cannot put "${file.path}": it is no file any more`);
    }
    const content = (open.stat.size <= SMALL_BYTES ? readWhole(open) : undefined) ?? open;
    const size = content instanceof Uint8Array ? content.length : open.stat.size;
    if (existing && couldBe(existing, size, options) && existing.sha256 === hex(await contentHash(content))) {
      return undefined;
    }
    const body = content instanceof Uint8Array ? content : readFrom(open);
    return (await writer.put(prefix + file.key, body, options)).sizeBytes;
  } finally {
    fs.closeSync(open.descriptor);
  }
}

/** Whether an object may be what a put would make: then only its bytes are left to compare. */
function couldBe(existing: ObjectStats, size: number, options: PutObjectOptions): boolean {
  const metadata = options.metadata ?? {};
  const names = Object.keys(metadata);
  return existing.sha256 !== undefined && existing.sizeBytes === size &&
    existing.contentType === (options.contentType ?? DEFAULT_CONTENT_TYPE) &&
    names.length === Object.keys(existing.metadata).length &&
    names.every((name) => existing.metadata[name] === metadata[name]);
}
