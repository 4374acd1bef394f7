/** Bodies of requests: read whole within limits, or as a stream of bytes. */

import { Readable } from "node:stream";
import type { ReadableStream as WebStream } from "node:stream/web";
import { joinBytes, plainBytes, tryUtf8Text } from "../base/bytes.ts";
import { CodedError } from "../base/errors.ts";
import type { ByteStream } from "../drivers/object_store.ts";
import type { Limits } from "./context.ts";

/** Up to this a body of a declared length is read at once. */
const AT_ONCE_BYTES = 64 * 1024;
/** What is asked for at a time of a stream. */
const PIECE_BYTES = 256 * 1024;

/** Returns a body as the value of its JSON; `undefined` when it is empty. Fails with `invalid_request`, `body_too_large`. */
export async function jsonBody(request: Request, limits: Limits): Promise<unknown> {
  const bytes = await wholeBody(request, limits);
  if (bytes.length === 0) return undefined;
  const text = tryUtf8Text(bytes);
  try {
    if (text !== undefined) return JSON.parse(text);
  } catch {
    // Said below.
  }
  throw new CodedError("invalid", "invalid_request", "Cannot read the request: its body is not JSON");
}

/** Reads a body whole. Fails with `body_too_large`, `body_too_slow`, `canceled`. */
export async function wholeBody(request: Request, { bodyBytes, bodyMs }: Limits): Promise<Uint8Array> {
  const declared = contentLength(request);
  if (declared !== undefined && declared > bodyBytes) throw bodyTooLarge(bodyBytes);
  if (declared === 0) return new Uint8Array(0);
  if (declared !== undefined && declared <= AT_ONCE_BYTES) return await bodyAtOnce(request, bodyMs);
  const body = bodyPieces(request);
  const timer = setTimeout(() => body.destroy(bodyTooSlow()), bodyMs);
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const buffer of body) {
      const piece = plainBytes(buffer);
      size += piece.length;
      if (size > bodyBytes) throw bodyTooLarge(bodyBytes);
      pieces.push(piece);
    }
  } catch (error) {
    throw bodyError(error);
  } finally {
    clearTimeout(timer);
  }
  checkWhole(request, size);
  return pieces.length === 1 ? pieces[0]! : joinBytes(pieces);
}

/** Reads a small body by one call of the runtime, which mostly has all of it: a stream would cost several times as much. */
async function bodyAtOnce(request: Request, bodyMs: number): Promise<Uint8Array> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => timer = setTimeout(() => reject(bodyTooSlow()), bodyMs));
  try {
    const bytes = await Promise.race([request.bytes(), late]);
    checkWhole(request, bytes.length);
    return bytes;
  } catch (error) {
    throw bodyError(error);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Yields a body's bytes as they come. A piece is gone once the next one is asked for: its memory is given back at once, so that
 * a long body costs a few pieces, and not what comes in before garbage is next collected. Fails with `canceled` when the client
 * goes away before their end.
 */
export async function* bodyStream(request: Request): ByteStream {
  let size = 0;
  try {
    for await (const buffer of bodyPieces(request)) {
      const piece = plainBytes(buffer);
      size += piece.length;
      yield piece;
      giveBack(piece);
    }
  } catch (error) {
    throw bodyError(error);
  }
  checkWhole(request, size);
}

/**
 * Reads through a stream of Node's, whose pieces are a few at a time. A reader of the body itself would keep a megabyte of the
 * runtime's own for each request until garbage is next collected.
 */
function bodyPieces({ body }: Request): Readable {
  return body ? Readable.fromWeb(body as WebStream, { highWaterMark: PIECE_BYTES }) : Readable.from([]);
}

/** Frees a piece that has its memory to itself. */
function giveBack({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

/** Returns the length that a request declares. */
export function contentLength(request: Request): number | undefined {
  const text = request.headers.get("content-length");
  return text !== null && /^[0-9]{1,15}$/.test(text) ? Number(text) : undefined;
}

/** A body that ends early must never pass for a whole one. */
function checkWhole(request: Request, size: number): void {
  const declared = contentLength(request);
  if (request.signal.aborted || (declared !== undefined && declared !== size)) throw goneAway();
}

function bodyTooSlow(): CodedError {
  return new CodedError("invalid", "body_too_slow", "Cannot read the request: its body took too long");
}

function bodyTooLarge(limit: number): CodedError {
  return new CodedError(
    "invalid",
    "body_too_large",
    `Cannot take the request: its body has more than ${limit} bytes`,
  );
}

function bodyError(error: unknown): unknown {
  return error instanceof CodedError ? error : goneAway(error);
}

function goneAway(cause?: unknown): CodedError {
  return new CodedError("canceled", "canceled", "The client went away before its request had arrived", {
    cause,
  });
}
