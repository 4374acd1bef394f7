/** Writing into a file at an offset. */

import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { checkExtent } from "../byte_streams.ts";
import type { ByteStream } from "../object_store.ts";
import { EarlySync } from "./early_sync.ts";
import { attempt, attemptAsync, notFound } from "./failures.ts";
import { syncData, writeAllAt } from "./file_calls.ts";
import type { Place } from "./placement.ts";
import { WriteBehind } from "./write_behind.ts";

const WRITE_FLAGS = constants.O_WRONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Writes a body into the file of an object. Errors of `body` pass through as they are. Fails with `object_not_found`. */
export async function writeAt(place: Place, offset: number, body: Uint8Array | ByteStream): Promise<void> {
  checkExtent(place.key, offset, 0);
  const what = { action: "put", key: place.key } as const;
  const fd = openForWriting(place);
  const early = new EarlySync(() => syncData(fd));
  let at = offset;
  const behind = new WriteBehind(async (bytes) => {
    const from = at;
    at += bytes.length;
    await writeAllAt(fd, bytes, from);
    early.wrote(bytes.length);
  });
  try {
    if (body instanceof Uint8Array) await attemptAsync(what, () => behind.add(body));
    else for await (const piece of body) await attemptAsync(what, () => behind.add(piece));
    await attemptAsync(what, async () => {
      await behind.finish();
      await early.finish();
    });
  } finally {
    // What still runs would write to another file that got the descriptor.
    await behind.settle();
    await early.settle();
    closeSync(fd);
  }
}

function openForWriting({ key, path }: Place): number {
  const fd = attempt({ action: "read", key }, () => openSync(path, WRITE_FLAGS));
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw notFound(key);
}
