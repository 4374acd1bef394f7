/** The file of `--output`: it appears when the command has ended well, whole, or not at all. */

import * as fs from "node:fs";
import { dirname } from "node:path";
import { OwnFolders } from "../../base/own_folders.ts";
import { localError } from "../folders/local_files.ts";
import { flushFolder, throughSymlinks, writeFile, writeInPlace } from "../folders/target.ts";
import type { Sink } from "../streams.ts";

export interface OutputFile {
  readonly sink: Sink;
  /** Gives the file its name; it is durable then. */
  finish(): Promise<void>;
  /** Leaves what stood there before, if anything. */
  discard(): Promise<void>;
}

/**
 * Opens the file, which may not lie in a folder of tarn's own. A symlink stands for what it points at; a FIFO or a device is
 * written to, never replaced.
 */
export function openOutputFile(
  path: string,
  ownFolders: () => Promise<OwnFolders> = async () => new OwnFolders(),
): OutputFile {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const done = writeTo(path, readable, ownFolders);
  // Without a reader, writes would wait for ever: those to come are refused, and one that waits already is let go.
  done.catch((error) => {
    writer.abort(error).catch(() => {});
    if (!readable.locked) readable.cancel(error).catch(() => {});
  });
  /** Why the file could not be written says more than that nobody takes its bytes. */
  const explained = async (writing: Promise<void>) => {
    try {
      await writing;
    } catch (error) {
      await done;
      throw error;
    }
  };
  return {
    sink: { write: (bytes) => explained(writer.write(bytes)) },
    async finish() {
      await explained(writer.close());
      await done;
    },
    async discard() {
      await writer.abort(new Discarded()).catch(() => {});
      await done.catch(() => {});
    },
  };
}

class Discarded extends Error {
  override name = "Discarded";
}

async function writeTo(
  path: string,
  body: AsyncIterable<Uint8Array>,
  ownFolders: () => Promise<OwnFolders>,
): Promise<void> {
  const stat = look(path);
  if (stat && !stat.isFile() && !stat.isDirectory()) {
    await writeInPlace(path, body);
    return;
  }
  const target = throughSymlinks(path);
  (await ownFolders()).refuse(target, "write");
  await writeFile(target, body, { flush: true });
  flushFolder(dirname(target));
}

function look(path: string): fs.Stats | undefined {
  try {
    return fs.statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw localError(error, `Cannot write "${path}"`);
  }
}
