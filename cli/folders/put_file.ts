/** One file onto a branch. */

import * as fs from "node:fs";
import { basename } from "node:path";
import { hex } from "../../base/bytes.ts";
import { CodedError, isCoded } from "../../base/errors.ts";
import type { ObjectStats, PutObjectOptions, Store } from "../../drivers/store.ts";
import type { Context } from "../context.ts";
import { branchOf, type ObjectLocation, objectUri, type RefLocation } from "../locations.ts";
import { FileProgress } from "../render/progress.ts";
import { standardInput } from "../standard_input.ts";
import { readDescriptor } from "../streams.ts";
import { withWriter } from "../writing.ts";
import { contentHash, localError, type OpenFile, openNamed, putError, readUnchanged } from "./local_files.ts";
import { couldBe } from "./put_plan.ts";

export interface PutDone {
  readonly object: ObjectStats;
  readonly uri: string;
}

/** Puts what standard input brings. */
export async function putInput(
  context: Context,
  { location, options }: { location: RefLocation; options: PutObjectOptions },
): Promise<PutDone> {
  const place = named(location, undefined);
  return await putBody(context, { location: place, path: "-", options, body: standardInput(context) });
}

/**
 * Puts one file, unless the same bytes are there; `isExact` when the key is not to get the file's name behind it.
 * `namesEmpty`: an empty file is a file like any other, and never stands for a folder. `puts`: puts it whatever is there.
 */
export async function putFile(
  context: Context,
  { location, path, options, isExact, namesEmpty = false, puts = false }: {
    location: RefLocation;
    path: string;
    options: PutObjectOptions;
    isExact: boolean;
    namesEmpty?: boolean;
    puts?: boolean;
  },
): Promise<PutDone> {
  const file = await openNamed(path).catch((error) => {
    throw localError(error, `Cannot read "${path}"`);
  });
  try {
    if (file.stat.isDirectory()) {
      throw new CodedError("invalid", "folder_in_the_way", `Cannot put "${path}": it is a folder`, {
        details: { recursive: true },
      });
    }
    // Only a regular file has a name worth keeping, and a position to read from.
    const isRegular = file.stat.isFile();
    const takesName = isRegular && (file.stat.size > 0 || namesEmpty) && !isExact;
    const place = named(location, takesName ? path : undefined);
    if (!isRegular) {
      return await putBody(context, {
        location: place,
        path,
        options,
        body: readDescriptor(file.descriptor),
      });
    }
    const mayBeThere = puts ? undefined : file;
    const body = readUnchanged(file, path);
    return await putBody(context, { location: place, path, options, body, mayBeThere, size: file.stat.size });
  } finally {
    fs.closeSync(file.descriptor);
  }
}

/**
 * Returns where a file goes: under its own name when the URI ends in `/`. Standard input, empty files and `--key` keep the
 * key as it is: `folder/` with no bytes is how other programs mark an empty folder.
 */
function named(location: RefLocation, path: string | undefined): ObjectLocation {
  const key = location.key ?? "";
  const whole = path !== undefined && (key === "" || key.endsWith("/")) ? key + basename(path) : key;
  if (whole === "") {
    throw new CodedError("invalid", "invalid_uri", `Cannot put to "${location.text}": it names no object`, {
      details: { uri: location.text },
    });
  }
  return { ...location, key: whole };
}

/** A failure to read the local file is about that file, not about the repository. */
async function* translated(body: AsyncIterable<Uint8Array>, path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw localError(error, `Cannot read "${path}"`);
  }
}

interface BodyToPut {
  readonly location: ObjectLocation;
  readonly path: string;
  readonly options: PutObjectOptions;
  readonly body: AsyncIterable<Uint8Array>;
  /** Its size, where that is known. */
  readonly size?: number;
  /** The file that the body is of, if it need not be put where its bytes are there. */
  readonly mayBeThere?: OpenFile;
}

async function putBody({ session, messages }: Context, what: BodyToPut): Promise<PutDone> {
  const { location, path, options, body, size: bytes } = what;
  const { repository, key } = location;
  const store = await session.store();
  const branch = await branchOf(store, location);
  const progress = new FileProgress(
    messages,
    "Putting",
    bytes === undefined ? undefined : { files: 1, bytes },
  );
  const object = await withWriter({ store, repository, branch }, async (writer) => {
    return await sameObject(store, { repository, branch, key }, what) ??
      await writer.put(key, progress.watch(translated(body, path)), options);
  }).catch((error) => {
    throw putError(error, path);
  });
  return { object, uri: objectUri(repository, branch, key) };
}

/** Returns the object that a put would make, where it is there. */
async function sameObject(
  store: Store,
  { repository, branch, key }: { repository: string; branch: string; key: string },
  { mayBeThere: file, path, options }: BodyToPut,
): Promise<ObjectStats | undefined> {
  if (!file) return undefined;
  const existing = await store.stat(repository, branch, key).catch((error) => {
    if (!isCoded(error, "object_not_found")) throw error;
    return undefined;
  });
  if (!couldBe(existing, file.stat.size, options)) return undefined;
  const hash = await contentHash(file).catch((error) => {
    throw localError(error, `Cannot read "${path}"`);
  });
  return existing!.sha256 === hex(hash) ? existing : undefined;
}
