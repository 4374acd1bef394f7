/** A request to the S3 gateway: parsed once, its sender known, its body as it is to be stored. */

import type { ByteStream } from "../../drivers/object_store.ts";
import type { ServerContext } from "../context.ts";
import type { Peer } from "../listen.ts";
import { S3Error } from "./errors.ts";

/** The query of a request, each name and value decoded once. */
export interface S3Query {
  /** Returns the value of the first parameter of this name; `""` when it has none (`?uploads`). */
  get(name: string): string | undefined;
  has(name: string): boolean;
  /** All parameters in the order in which they came. */
  readonly entries: readonly (readonly [name: string, value: string])[];
}

export type ChecksumAlgorithm = "CRC32" | "CRC32C" | "CRC64NVME" | "SHA1" | "SHA256";

/** A checksum that a client sent with a body, and which the body turned out to have. */
export interface VerifiedChecksum {
  readonly algorithm: ChecksumAlgorithm;
  /** The answer's header: `x-amz-checksum-crc32`. */
  readonly header: string;
  /** Returns it in base64. A checksum in a trailer is known only once the body has been read to its end. */
  value(): string;
}

export interface S3Request {
  readonly method: string;
  /** Decoded once; `undefined` at the service's root. */
  readonly bucket: string | undefined;
  /** Decoded once and otherwise exact: `a//b`, `..`, `+`, `%2e` written `%252e`. Never empty; `undefined` at a bucket. */
  readonly key: string | undefined;
  readonly query: S3Query;
  readonly headers: Headers;
  /** The target of the request line, as it came. */
  readonly rawTarget: string;
  /** The user whose credential signed the request. */
  readonly user: string;
  /** The content without its chunks; fails at its end if its signature, checksum or length is not what was said. */
  readonly body: ByteStream;
  /** Returns the content: whole and checked if it is small, else as `body`. Either is to be read once. */
  content(): Promise<Uint8Array | ByteStream>;
  /** Reads the body whole: for documents. Fails with `MaxMessageLengthExceeded`. */
  wholeBody(mostBytes: number): Promise<Uint8Array>;
  /** How many bytes the content has, if that was said. */
  readonly bodyBytes: number | undefined;
  readonly checksum: VerifiedChecksum | undefined;
  readonly signal: AbortSignal;
}

/**
 * Parses a request and checks who sent it. Fails with an `S3Error`: `AccessDenied` for one that is not signed,
 * `InvalidAccessKeyId`, `SignatureDoesNotMatch`, `RequestTimeTooSkewed` and others.
 */
export function openS3Request(
  _request: Request,
  _parts: { context: ServerContext; peer: Peer },
): Promise<S3Request> {
  return Promise.reject(new S3Error("NotImplemented"));
}
