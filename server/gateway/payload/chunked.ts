/**
 * Bodies in the encoding `aws-chunked`: the content in chunks, with a signature each if they are signed, then, if the client
 * computed it on the way, a checksum.
 *
 *     10000;chunk-signature=<64 hex>\r\n          <size in hex>\r\n           unsigned
 *     <65,536 bytes>\r\n                          <bytes>\r\n
 *     0;chunk-signature=<64 hex>\r\n              0\r\n
 *     x-amz-checksum-crc32c:<base64>\r\n          x-amz-checksum-crc32c:…\r\n  a trailer, if there is one
 *     x-amz-trailer-signature:<64 hex>\r\n                                     if chunks are signed and there may be trailers
 *     \r\n                                        \r\n
 *
 * Nothing of it is taken on trust: lines are short, sizes are counted against what the request said, and a body that ends
 * before its last line, or goes on behind it, is none. What is held back is never more than a line.
 */

import { concatBytes, hex, lossyText } from "../../../base/bytes.ts";
import { type RunningHash, runningHash } from "../../../base/hashes.ts";
import { S3Error } from "../errors.ts";

/** Checks signatures, each of which covers the one before. Both fail with `SignatureDoesNotMatch`. */
export interface ChunkSigner {
  chunk(signature: string, sha256: string): void;
  trailer(signature: string, text: string): void;
}

export interface ChunkedOptions {
  /** How many bytes the chunks hold. */
  readonly contentBytes: number;
  /** Set if chunks are signed. */
  readonly signer?: ChunkSigner | undefined;
  /** Whether there may be a trailer. */
  readonly hasTrailers: boolean;
}

/** Longer than any line that is right: a trailer of SHA-512, or of a signature. */
const MOST_LINE_BYTES = 512;
/** S3 takes smaller chunks only at the end. */
const LEAST_BYTES = 8192;
const CR = 13, LF = 10;

const SIGNED_HEADER = /^([0-9a-fA-F]{1,12});chunk-signature=([0-9a-f]{64})$/;
const UNSIGNED_HEADER = /^([0-9a-fA-F]{1,12})$/;
const TRAILER = /^\s*([A-Za-z0-9-]*)\s*:\s*(.*?)\s*$/;
const TRAILER_SIGNATURE = "x-amz-trailer-signature";
const SIGNATURE = /^[0-9a-f]{64}$/;

/** What a body may have behind its chunks. */
export interface Trailer {
  /** In lower case. */
  readonly name: string;
  readonly value: string;
}

/** What comes next. */
type State = "header" | "data" | "data end" | "trailer" | "done";

/** Decodes a body that is pushed in pieces of any size. */
export class ChunkDecoder {
  readonly #options: ChunkedOptions;
  #state: State = "header";
  /** The beginning of a line whose end has not come. */
  #line: Uint8Array | undefined;
  /** Of the content, how much is still to come; of the chunk likewise. */
  #contentLeft: number;
  #chunkLeft = 0;
  #chunkBytes = 0;
  #chunkHash: RunningHash | undefined;
  #chunkSignature = "";
  #chunks = 0;
  #trailer: Trailer | undefined;
  #trailerSignature: string | undefined;

  constructor(options: ChunkedOptions) {
    this.#options = options;
    this.#contentLeft = options.contentBytes;
  }

  /**
   * Returns the content in the next piece of the body, as views of it: joined, they would be a copy of most of a body. Fails
   * with `IncompleteBody`, `SignatureDoesNotMatch`, `InvalidChunkSizeError`, `MalformedTrailerError`.
   */
  push(piece: Uint8Array): readonly Uint8Array[] {
    const found: Uint8Array[] = [];
    let at = 0;
    while (at < piece.length) {
      if (this.#state === "data") {
        const data = piece.subarray(at, at + this.#chunkLeft);
        this.#take(data);
        found.push(data);
        at += data.length;
      } else {
        at = this.#readLine(piece, at);
      }
    }
    return found;
  }

  /** Returns the trailer, if there is one, once the body has ended. Fails with `IncompleteBody`. */
  end(): Trailer | undefined {
    if (this.#state !== "done") throw broken();
    return this.#trailer;
  }

  #take(data: Uint8Array): void {
    this.#chunkHash?.update(data);
    this.#chunkLeft -= data.length;
    if (this.#chunkLeft > 0) return;
    this.#checkChunk();
    this.#state = "data end";
  }

  /** Reads up to the end of a line, and acts on it if that is there. Returns where to go on. */
  #readLine(piece: Uint8Array, at: number): number {
    if (this.#state === "done") throw broken();
    const end = piece.indexOf(LF, at);
    const part = piece.subarray(at, end < 0 ? piece.length : end + 1);
    const line = this.#line ? concatBytes(this.#line, part) : part;
    if (line.length > MOST_LINE_BYTES) throw broken();
    if (end < 0) {
      this.#line = line.slice();
      return piece.length;
    }
    this.#line = undefined;
    if (line.at(-2) !== CR) throw broken();
    this.#actOn(lossyText(line, line.length - 2));
    return end + 1;
  }

  #actOn(line: string): void {
    // An end of a line that lost its half.
    if (line.includes("\r")) throw broken();
    if (this.#state === "header") return this.#begin(line);
    if (this.#state === "trailer") return this.#readTrailer(line);
    if (line !== "") throw broken();
    this.#state = "header";
  }

  #begin(line: string): void {
    const { signer } = this.#options;
    const match = (signer ? SIGNED_HEADER : UNSIGNED_HEADER).exec(line);
    if (!match) throw broken();
    const size = Number.parseInt(match[1]!, 16);
    if (size > this.#contentLeft || (size === 0 && this.#contentLeft > 0)) throw otherLength();
    if (size > 0 && this.#chunks > 0 && this.#chunkBytes < LEAST_BYTES) {
      const details = { Chunk: this.#chunks, BadChunkSize: this.#chunkBytes };
      throw new S3Error("InvalidChunkSizeError", undefined, { details });
    }
    if (signer) {
      this.#chunkSignature = match[2]!;
      this.#chunkHash = runningHash("sha256");
    }
    this.#chunks++;
    this.#contentLeft -= size;
    this.#chunkLeft = this.#chunkBytes = size;
    this.#state = size > 0 ? "data" : "trailer";
    if (size === 0) this.#checkChunk();
  }

  #checkChunk(): void {
    if (this.#chunkHash) this.#options.signer!.chunk(this.#chunkSignature, hex(this.#chunkHash.digest()));
    this.#chunkHash = undefined;
  }

  #readTrailer(line: string): void {
    if (line === "") {
      this.#checkTrailer();
      this.#state = "done";
      return;
    }
    const { signer, hasTrailers } = this.#options;
    const [, name = "", value = ""] = TRAILER.exec(line) ?? [];
    if (name === "" || !hasTrailers) throw new S3Error("MalformedTrailerError");
    // Nothing follows on a trailer but its signature.
    if (this.#trailerSignature !== undefined) throw broken();
    if (signer && name.toLowerCase() === TRAILER_SIGNATURE) {
      if (!SIGNATURE.test(value)) throw broken();
      this.#trailerSignature = value;
    } else if (this.#trailer) {
      throw broken();
    } else {
      this.#trailer = { name: name.toLowerCase(), value };
    }
  }

  #checkTrailer(): void {
    const { signer, hasTrailers } = this.#options;
    if (!signer || !hasTrailers) return;
    if (this.#trailerSignature === undefined) throw new S3Error("MalformedTrailerError");
    const text = this.#trailer ? `${this.#trailer.name}:${this.#trailer.value}\n` : "";
    signer.trailer(this.#trailerSignature, text);
  }
}

function broken(): S3Error {
  return new S3Error("IncompleteBody", "The request body terminated unexpectedly");
}

function otherLength(): S3Error {
  return new S3Error(
    "IncompleteBody",
    "You did not provide the number of bytes specified by the Content-Length HTTP header",
  );
}
