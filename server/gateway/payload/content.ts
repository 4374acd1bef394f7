/** The content of a request's body, out of its chunks, and held to everything that was said of it. */

import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { joinBytes } from "../../../base/bytes.ts";
import { assertInvariant } from "../../../base/errors.ts";
import type { ByteStream } from "../../../drivers/object_store.ts";
import { bodyStream, wholeBody } from "../../body.ts";
import type { Limits } from "../../context.ts";
import { S3Error } from "../errors.ts";
import {
  type ChecksumAlgorithm,
  checksumHeader,
  isChecksum,
  type RunningChecksum,
  startChecksum,
} from "./checksums.ts";
import { ChunkDecoder, type ChunkSigner, type Trailer } from "./chunked.ts";
import type { BodyPlan, Payload } from "./plan.ts";

/** A checksum that a body turned out to have: one that its client sent, or one that it was asked for. */
export interface VerifiedChecksum {
  readonly algorithm: ChecksumAlgorithm;
  /** The answer's header: `x-amz-checksum-crc32`. */
  readonly header: string;
  /** Returns it in base64, once the body has been read to its end. */
  value(): string;
}

export interface ContentOptions {
  readonly plan: BodyPlan;
  /** Set if its chunks are signed. */
  readonly signer: ChunkSigner | undefined;
  readonly limits: Limits;
}

/** Up to this size a body is read whole: then it is stored in one go. */
const SMALL_BYTES = 256 * 1024;
const EMPTY_SHA256 = createHash("sha256").digest("hex");

/** Checks that there is a body if there should be one. Fails with `XAmzContentSHA256Mismatch`. */
export function checkPresence({ body }: Request, { sha256 = EMPTY_SHA256 }: Payload): void {
  if (body === null && sha256 !== EMPTY_SHA256) throw otherSha256(sha256, EMPTY_SHA256);
}

/** The content of one request, to be read once. */
export class Content {
  readonly #request: Request;
  readonly #options: ContentOptions;
  readonly #checks: Check[] = [];
  readonly #computed = new Map<ChecksumAlgorithm, ComputedChecksum>();
  readonly checksum: VerifiedChecksum | undefined;

  constructor(request: Request, options: ContentOptions) {
    this.#request = request;
    this.#options = options;
    const { payload: { sha256 }, md5, checksum } = options.plan;
    // Of no body it was checked at once.
    if (sha256 !== undefined && request.body !== null) this.#checks.push(new Sha256Check(sha256));
    if (md5 !== undefined) this.#checks.push(new Md5Check(md5));
    if (checksum) this.checksum = this.#compute(checksum.algorithm, checksum.value);
  }

  /** Has a checksum computed with the content, which must not have been read yet. */
  compute(algorithm: ChecksumAlgorithm): VerifiedChecksum {
    return this.#computed.get(algorithm) ?? this.#compute(algorithm, undefined);
  }

  /** Returns the content: whole and checked if it is small, else as it comes. */
  async wholeIfSmall(): Promise<Uint8Array | ByteStream> {
    const { contentBytes } = this.#options.plan;
    return contentBytes !== undefined && contentBytes <= SMALL_BYTES
      ? await this.whole(SMALL_BYTES)
      : this.stream();
  }

  /** Reads the content whole. Fails with `MaxMessageLengthExceeded`, and as `stream` does. */
  async whole(mostBytes: number): Promise<Uint8Array> {
    const { plan, limits } = this.#options;
    if ((plan.contentBytes ?? 0) > mostBytes) throw tooLong(mostBytes);
    if (plan.payload.chunks) return await collected(this.stream());
    const body = await wholeBody(this.#request, { ...limits, bodyBytes: mostBytes });
    for (const check of this.#checks) {
      await check.start();
      check.update(body);
      check.end();
    }
    return body;
  }

  /** Yields the content as it comes. Fails at its end, or before, when it is not what was said. */
  async *stream(): ByteStream {
    const { plan: { payload: { chunks }, contentBytes = 0 }, signer } = this.#options;
    const decoder = chunks && new ChunkDecoder({ contentBytes, signer, hasTrailers: chunks.hasTrailer });
    for (const check of this.#checks) await check.start();
    for await (const piece of bodyStream(this.#request)) {
      for (const data of decoder ? decoder.push(piece) : [piece]) {
        for (const check of this.#checks) check.update(data);
        yield data;
      }
    }
    const trailer = decoder?.end();
    if (decoder) this.#takeTrailer(trailer);
    for (const check of this.#checks) check.end();
  }

  /** The trailer must be the one that was announced. */
  #takeTrailer(trailer: Trailer | undefined): void {
    const { checksum } = this.#options.plan;
    const isAnnounced = checksum !== undefined && checksum.value === undefined;
    if (trailer?.name !== (isAnnounced ? checksumHeader(checksum.algorithm) : undefined)) {
      throw new S3Error("MalformedTrailerError");
    }
    if (trailer && checksum) this.#computed.get(checksum.algorithm)!.expect(trailer.value);
  }

  #compute(algorithm: ChecksumAlgorithm, expected: string | undefined): VerifiedChecksum {
    const check = new ComputedChecksum(algorithm, expected);
    this.#computed.set(algorithm, check);
    this.#checks.push(check);
    return check;
  }
}

/** Something that the content must turn out to be. */
interface Check {
  start(): void | Promise<void>;
  update(bytes: Uint8Array): void;
  end(): void;
}

class Sha256Check implements Check {
  readonly #expected: string;
  readonly #hash = createHash("sha256");

  constructor(expected: string) {
    this.#expected = expected;
  }

  start(): void {}

  update(bytes: Uint8Array): void {
    this.#hash.update(bytes);
  }

  end(): void {
    const found = this.#hash.digest("hex");
    if (found !== this.#expected) throw otherSha256(this.#expected, found);
  }
}

class Md5Check implements Check {
  readonly #expected: string;
  readonly #hash = createHash("md5");

  constructor(expected: string) {
    this.#expected = expected;
  }

  start(): void {}

  update(bytes: Uint8Array): void {
    this.#hash.update(bytes);
  }

  end(): void {
    const found = this.#hash.digest("base64");
    if (found === this.#expected) return;
    throw new S3Error("BadDigest", undefined, {
      details: {
        CalculatedDigest: found,
        ExpectedDigest: Buffer.from(this.#expected, "base64").toString("hex"),
      },
    });
  }
}

class ComputedChecksum implements Check, VerifiedChecksum {
  readonly algorithm: ChecksumAlgorithm;
  readonly header: string;
  #expected: string | undefined;
  #running: RunningChecksum | undefined;
  #value: string | undefined;

  constructor(algorithm: ChecksumAlgorithm, expected: string | undefined) {
    this.algorithm = algorithm;
    this.header = checksumHeader(algorithm);
    this.#expected = expected;
  }

  async start(): Promise<void> {
    this.#running = await startChecksum(this.algorithm);
  }

  update(bytes: Uint8Array): void {
    this.#running!.update(bytes);
  }

  /** Says what it must be, as the trailer has it. */
  expect(value: string): void {
    if (!isChecksum(value, this.algorithm)) {
      throw new S3Error("InvalidRequest", `Value for ${this.header} trailing header is invalid.`);
    }
    this.#expected = value;
  }

  end(): void {
    this.#value = this.#running!.base64();
    if (this.#expected === undefined || this.#value === this.#expected) return;
    throw new S3Error(
      "BadDigest",
      `The ${this.algorithm} you specified did not match the calculated checksum.`,
    );
  }

  value(): string {
    assertInvariant(this.#value !== undefined, "a checksum is known once the body has ended");
    return this.#value;
  }
}

/** Pieces are gone once the next one is asked for. */
async function collected(stream: ByteStream): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of stream) pieces.push(piece.slice());
  return pieces.length === 1 ? pieces[0]! : joinBytes(pieces);
}

function otherSha256(said: string, found: string): S3Error {
  return new S3Error("XAmzContentSHA256Mismatch", undefined, {
    details: { ClientComputedContentSHA256: said, S3ComputedContentSHA256: found },
  });
}

function tooLong(mostBytes: number): S3Error {
  return new S3Error("MaxMessageLengthExceeded", undefined, {
    details: { MaxMessageLengthBytes: mostBytes },
  });
}
