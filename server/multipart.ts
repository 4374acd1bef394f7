/**
 * Forms with a file in them (`multipart/form-data`), read as they come: the one field that is wanted is handed on as a
 * stream, all others are passed over. A form that ends before its last boundary fails, so that no cut upload passes for a
 * whole one.
 */

import { concatBytes, indexOfBytes, lossyText, startsWithBytes, utf8 } from "../base/bytes.ts";
import { CodedError } from "../base/errors.ts";
import type { ByteStream } from "../drivers/object_store.ts";

export interface FormField {
  readonly contentType: string | undefined;
  readonly body: ByteStream;
}

const CRLF = utf8("\r\n");
const HEADERS_END = utf8("\r\n\r\n");
const DASHES = utf8("--");

/** Returns the boundary that a content type names, if it is a form's. */
export function boundaryOf(contentType: string | null): string | undefined {
  const match = /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(
    contentType ?? "",
  );
  return match?.[1] ?? match?.[2];
}

/** Reads a form up to a field. Its body must be read to the end. Fails with `invalid_request`. */
export async function openFormField(
  source: ByteStream,
  { boundary, name, headerBytes }: { boundary: string; name: string; headerBytes: number },
): Promise<FormField> {
  const form = new FormReader(source, boundary);
  try {
    for await (const _ of form.untilBoundary());
    while (await form.hasPart()) {
      const headers = await form.headers(headerBytes);
      if (fieldName(headers.get("content-disposition")) === name) {
        return { contentType: headers.get("content-type"), body: form.lastPart() };
      }
      for await (const _ of form.untilBoundary());
    }
    throw invalid(`it has no field "${name}"`);
  } catch (error) {
    await form.close();
    throw error;
  }
}

class FormReader {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #boundary: Uint8Array;
  /** Read and not yet handed on. A boundary follows a line's end; the first one stands at the beginning. */
  #held: Uint8Array = CRLF;

  constructor(source: ByteStream, boundary: string) {
    this.#source = source[Symbol.asyncIterator]();
    this.#boundary = utf8(`\r\n--${boundary}`);
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }

  /** Yields what stands before the next boundary, and leaves that behind. */
  async *untilBoundary(): ByteStream {
    while (true) {
      const at = indexOfBytes(this.#held, this.#boundary);
      if (at >= 0) {
        const before = this.#held.subarray(0, at);
        this.#held = this.#held.subarray(at + this.#boundary.length);
        if (before.length > 0) yield before;
        return;
      }
      // What may be the beginning of a boundary waits for the rest.
      const sure = this.#held.length - this.#boundary.length + 1;
      if (sure > 0) {
        const before = this.#held.subarray(0, sure);
        this.#held = this.#held.subarray(sure);
        yield before;
      }
      await this.#more();
    }
  }

  /** Whether a boundary begins another part; otherwise it was the last one. */
  async hasPart(): Promise<boolean> {
    while (this.#held.length < 2) await this.#more();
    if (startsWithBytes(this.#held, DASHES)) return false;
    if (!startsWithBytes(this.#held, CRLF)) throw invalid("its boundary is followed by something else");
    return true;
  }

  /** Returns a part's headers by their names in lower case. */
  async headers(mostBytes: number): Promise<Map<string, string>> {
    let end: number;
    // The line's end behind the boundary may be the one before an empty line.
    while ((end = indexOfBytes(this.#held, HEADERS_END)) < 0) {
      if (this.#held.length > mostBytes) throw invalid("the headers of a part are too long");
      await this.#more();
    }
    const lines = lossyText(this.#held.subarray(0, end)).split("\r\n").filter((line) => line !== "");
    this.#held = this.#held.subarray(end + HEADERS_END.length);
    return new Map(lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()] as const;
    }));
  }

  /** Yields this part, then reads the form to its end. */
  async *lastPart(): ByteStream {
    try {
      yield* this.untilBoundary();
      while (await this.hasPart()) {
        for await (const _ of this.untilBoundary());
      }
      while (!(await this.#source.next()).done);
    } finally {
      await this.close();
    }
  }

  async #more(): Promise<void> {
    // What it may be a view of is not ours any more once the next piece is asked for.
    const held = this.#held.slice();
    const step = await this.#source.next();
    if (step.done) throw invalid("it ends before its last boundary");
    this.#held = held.length === 0 ? step.value : concatBytes(held, step.value);
  }
}

function fieldName(disposition: string | undefined): string | undefined {
  const match = /;\s*name=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/i.exec(disposition ?? "");
  return match?.[1] ?? match?.[2];
}

function invalid(why: string): CodedError {
  return new CodedError("invalid", "invalid_request", `Cannot read the form: ${why}`);
}
