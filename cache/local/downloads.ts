/** Bytes on their way into a temporary file, hashed as they come; what is not as announced is not kept. */

import { closeSync, fdatasync, openSync, writeSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { hex } from "../../base/bytes.ts";
import { CodedError, throwIfAborted } from "../../base/errors.ts";
import { runningHash } from "../../base/hashes.ts";
import type { Download } from "../cache.ts";
import { removeIfThere } from "./records.ts";

export interface DownloadOptions {
  /** For messages. */
  readonly what: string;
  /** Whether the bytes survive power loss when the call has returned. */
  readonly isFlushed: boolean;
  readonly signal?: AbortSignal;
}

export interface Downloaded {
  readonly version: string;
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** Up to this a body is held in memory and written at once: a call of the thread pool costs more than the write. */
const SMALL_BYTES = 128 * 1024;

/** Writes a download to a new file. Fails with `checksum_mismatch`, and with what the body fails with; no file stays then. */
export async function writeDownload(
  download: Download,
  path: string,
  options: DownloadOptions,
): Promise<Downloaded> {
  const hash = runningHash("sha256");
  const file = new GrowingFile(path);
  let sizeBytes = 0;
  try {
    for await (const piece of download.body) {
      throwIfAborted(options.signal);
      hash.update(piece);
      sizeBytes += piece.length;
      await file.write(piece);
    }
    const found = { version: download.version, sha256: hex(hash.digest()), sizeBytes };
    check(found, download, options.what);
    await file.finish(options.isFlushed);
    return found;
  } catch (error) {
    await file.discard();
    throw error;
  }
}

function check(found: Downloaded, { sizeBytes, sha256 }: Download, what: string): void {
  if (sizeBytes !== undefined && found.sizeBytes !== sizeBytes) {
    refuse(what, `${found.sizeBytes} bytes came, and it has ${sizeBytes}`);
  }
  if (sha256 !== undefined && found.sha256 !== sha256) {
    refuse(what, "its SHA-256 is not the one of its store");
  }
}

function refuse(what: string, why: string): never {
  throw new CodedError("corrupt", "checksum_mismatch", `Cannot keep "${what}": ${why}`, {
    details: { uri: what },
  });
}

/** A new file of which the first bytes wait in memory. */
class GrowingFile {
  readonly #path: string;
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #file: FileHandle | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  async write(piece: Uint8Array): Promise<void> {
    if (!this.#file) {
      if (this.#heldBytes + piece.length <= SMALL_BYTES) {
        // A copy, since the source may use the piece's memory again.
        this.#held.push(new Uint8Array(piece));
        this.#heldBytes += piece.length;
        return;
      }
      this.#file = await open(this.#path, "wx");
      for (const held of this.#held.splice(0)) await writeAll(this.#file, held);
    }
    await writeAll(this.#file, piece);
  }

  async finish(isFlushed: boolean): Promise<void> {
    if (this.#file) {
      if (isFlushed) await this.#file.datasync();
      await this.#close();
      return;
    }
    const fd = openSync(this.#path, "wx");
    try {
      for (const held of this.#held) {
        for (let at = 0; at < held.length;) at += writeSync(fd, held, at, held.length - at);
      }
      if (isFlushed) await flush(fd);
    } finally {
      closeSync(fd);
    }
  }

  async discard(): Promise<void> {
    await this.#close().catch(() => {});
    removeIfThere(this.#path);
  }

  async #close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await file.write(bytes, at, bytes.length - at)).bytesWritten;
}

function flush(fd: number): Promise<void> {
  return new Promise((resolve, reject) => fdatasync(fd, (error) => error ? reject(error) : resolve()));
}
