/** Answering with an object's bytes. */

import type { ByteStream } from "../drivers/object_store.ts";
import type { ObjectStats, ReadResult, Store } from "../drivers/store.ts";
import { isCoded } from "../base/errors.ts";
import { fileBody } from "../base/platform.ts";
import { attachmentNamed } from "./attachment.ts";
import type { ServerContext } from "./context.ts";
import { etagOf } from "./etag.ts";
import { namesEtag, rangeOf, type SatisfiedRange } from "./ranges.ts";
import { httpDate } from "./http_date.ts";

/** Up to this many bytes are sent as one body, of a length that is told. */
const SMALL_BYTES = 1024 * 1024;

export interface DownloadParts {
  readonly request: Request;
  readonly context: ServerContext;
}

export interface ObjectPlace {
  readonly repository: string;
  readonly ref: string;
  readonly path: string;
}

/** Answers a GET of an object. Fails as `Store.read` does, and with `invalid_range`. */
export async function download(
  store: Store,
  place: ObjectPlace,
  { request: { headers, signal }, context }: DownloadParts,
): Promise<Response> {
  const isPlain = !headers.has("range") && !headers.has("if-none-match");
  const chosen = await readChosen(store, place, {
    signal,
    ...(isPlain ? {} : {
      choose: (stats) => isUnchanged(headers, stats) ? notModified(stats) : wantedRange(headers, stats),
    }),
  });
  if (chosen instanceof Response) return chosen;
  const { read, range } = chosen;
  const sent = {
    ...objectHeaders(read.stats, range),
    "content-disposition": attachmentNamed(place.path, context.randomness),
    "content-length": String(lengthOf(read, range)),
  };
  return new Response(await bodyOf(chosen, context), { status: range ? 206 : 200, headers: sent });
}

/** What was read of an object. */
export interface ChosenRead {
  readonly read: ReadResult;
  readonly range?: SatisfiedRange | undefined;
}

export interface ChooseOptions {
  readonly signal: AbortSignal;
  /** Looks at the object and says which of its bytes are wanted (`undefined`: all), or answers, or throws. */
  readonly choose?: (stats: ObjectStats) => SatisfiedRange | Response | undefined;
}

/** Reads of an object what `choose` wants of it. Fails as `Store.read` does. */
export async function readChosen(
  store: Store,
  { repository, ref, path }: ObjectPlace,
  { signal, choose }: ChooseOptions,
): Promise<ChosenRead | Response> {
  const whole = { signal, fileBytes: SMALL_BYTES };
  if (!choose) return { read: await store.read(repository, ref, path, whole) };
  // Somebody may write the object between the look and the reading; then it is looked at again.
  while (true) {
    const seen = await store.stat(repository, ref, path);
    const range = choose(seen);
    if (range instanceof Response) return range;
    const read = await store.read(repository, ref, path, range ? { ...whole, range } : whole);
    const { stats, body } = read;
    if (stats.physicalAddress === seen.physicalAddress && stats.checksum === seen.checksum) {
      return { read, range };
    }
    await body[Symbol.asyncIterator]().return?.();
  }
}

/** Returns how many bytes were read. */
export function lengthOf({ stats }: ReadResult, range: SatisfiedRange | undefined): number {
  return range ? range.end - range.start + 1 : stats.sizeBytes;
}

/** Returns what was read as the body of an answer, of a length that is told wherever the runtime lets us. */
export async function bodyOf({ read, range }: ChosenRead, context: ServerContext): Promise<BodyInit> {
  const { body, file } = read;
  const sent = file && fileBody(file.path, file.start, file.length);
  return sent ?? await responseBody(body, lengthOf(read, range), context);
}

/** Returns bytes as the body of an answer: whole if they are few, or as they are taken. */
export async function responseBody(
  body: ByteStream,
  length: number,
  context: ServerContext,
): Promise<BodyInit> {
  return (length <= SMALL_BYTES ? await gathered(body, length) : streamed(body, context)) as BodyInit;
}

/** Answers a HEAD of an object: what a GET would, without the bytes. */
export async function describeObject(
  store: Store,
  { repository, ref, path }: ObjectPlace,
  { request: { headers }, context }: DownloadParts,
): Promise<Response> {
  const stats = await store.stat(repository, ref, path);
  if (isUnchanged(headers, stats)) return notModified(stats);
  const range = wantedRange(headers, stats);
  const length = range ? range.end - range.start + 1 : stats.sizeBytes;
  return new Response(null, {
    status: range ? 206 : 200,
    headers: {
      ...objectHeaders(stats, range),
      "content-disposition": attachmentNamed(path, context.randomness),
      "content-length": String(length),
    },
  });
}

function isUnchanged(headers: Headers, stats: ObjectStats): boolean {
  const condition = headers.get("if-none-match");
  return condition !== null && namesEtag(condition, etagOf(stats));
}

function wantedRange(headers: Headers, stats: ObjectStats): SatisfiedRange | undefined {
  const condition = headers.get("if-range");
  if (condition !== null && condition !== etagOf(stats)) return undefined;
  return rangeOf(headers.get("range"), stats.sizeBytes);
}

function notModified(stats: ObjectStats): Response {
  return new Response(null, { status: 304, headers: { etag: etagOf(stats) } });
}

/** Somebody else's bytes under our name: no browser may run or show them. */
function objectHeaders(stats: ObjectStats, range?: SatisfiedRange): Record<string, string> {
  const { contentType } = stats;
  return {
    "content-type": /^[\x20-\x7e]+$/.test(contentType) ? contentType : "application/octet-stream",
    etag: etagOf(stats),
    "last-modified": httpDate(stats.mtimeMs),
    "accept-ranges": "bytes",
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox; default-src 'none'",
    ...(range ? { "content-range": `bytes ${range.start}-${range.end}/${stats.sizeBytes}` } : {}),
  };
}

/** Makes an answer of a stream: small ones of a length that is told. */
export async function gathered(body: ByteStream, length: number): Promise<Uint8Array> {
  const whole = new Uint8Array(length);
  let at = 0;
  for await (const piece of body) {
    // A piece is ours until we ask for the next one.
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** A stream that asks for a piece only when the one before was taken; it counts as a request until it ends. */
function streamed(body: ByteStream, { metrics, log }: ServerContext): ReadableStream<Uint8Array> {
  const pieces = body[Symbol.asyncIterator]();
  let isOpen = true;
  metrics.begin();
  const end = () => {
    if (isOpen) metrics.end();
    isOpen = false;
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const step = await pieces.next();
        if (!step.done) return controller.enqueue(step.value.slice());
        end();
        controller.close();
      } catch (error) {
        end();
        if (!isCoded(error, "canceled")) log.error("a download broke off", { error: String(error) });
        // The connection is broken off, so that no client takes what it has for the whole.
        controller.error(error);
      }
    },
    async cancel() {
      end();
      await pieces.return?.();
    },
  }, { highWaterMark: 0 });
}
