import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { describe, it } from "node:test";
import { equalBytes, joinBytes, utf8 } from "../../../base/bytes.ts";
import { seededRandomness } from "../../../base/randomness.ts";
import { isCoded } from "../../../base/errors.ts";
import { chunkSigner } from "../signatures/chunk_signer.ts";
import { ChunkDecoder, type ChunkedOptions, type Trailer } from "./chunked.ts";

const KEY = utf8("a key");
const SIGNED = {
  user: "u",
  key: KEY,
  signature: "0".repeat(64),
  time: "20261130T000000Z",
  scope: "20261130/r/s3/aws4_request",
};
const sha256 = (text: string | Uint8Array) => createHash("sha256").update(text).digest("hex");

/** Writes a body in chunks as a client would. */
function encode(content: Uint8Array, { chunkBytes, isSigned, trailer }: {
  chunkBytes: number;
  isSigned: boolean;
  trailer?: string;
}): Uint8Array {
  let before = SIGNED.signature;
  const sign = (kind: string, hashes: string) => {
    const text = ["AWS4-HMAC-SHA256-" + kind, SIGNED.time, SIGNED.scope, before, hashes].join("\n");
    return before = createHmac("sha256", KEY).update(text).digest("hex");
  };
  const pieces: Uint8Array[] = [];
  const chunk = (data: Uint8Array) => {
    const size = data.length.toString(16);
    const header = isSigned
      ? `${size};chunk-signature=${sign("PAYLOAD", `${sha256("")}\n${sha256(data)}`)}`
      : size;
    pieces.push(utf8(`${header}\r\n`));
    if (data.length > 0) pieces.push(data, utf8("\r\n"));
  };
  for (let at = 0; at < content.length; at += chunkBytes) chunk(content.subarray(at, at + chunkBytes));
  chunk(new Uint8Array(0));
  if (trailer !== undefined) {
    pieces.push(utf8(`${trailer}\r\n`));
    if (isSigned) pieces.push(utf8(`x-amz-trailer-signature:${sign("TRAILER", sha256(`${trailer}\n`))}\r\n`));
  }
  return joinBytes([...pieces, utf8("\r\n")]);
}

interface Decoded {
  readonly content: Uint8Array;
  readonly trailer: Trailer | undefined;
}

function decode(pieces: Iterable<Uint8Array>, { isSigned, ...options }: Omit<ChunkedOptions, "signer"> & {
  isSigned: boolean;
}): Decoded {
  const decoder = new ChunkDecoder({ ...options, signer: isSigned ? chunkSigner(SIGNED) : undefined });
  const content: Uint8Array[] = [];
  for (const piece of pieces) content.push(...decoder.push(piece).map((data) => data.slice()));
  return { trailer: decoder.end(), content: joinBytes(content) };
}

/** As above, but what is refused is `undefined`. */
function tryDecode(...given: Parameters<typeof decode>): Decoded | undefined {
  try {
    return decode(...given);
  } catch (error) {
    if (
      isCoded(
        error,
        "IncompleteBody",
        "SignatureDoesNotMatch",
        "MalformedTrailerError",
        "InvalidChunkSizeError",
      )
    ) {
      return undefined;
    }
    throw error;
  }
}

const CONTENT = utf8("0123456789abcdef".repeat(1100));
const TRAILER = "x-amz-checksum-crc32:z3mWAA==";
const FORMS = [
  { isSigned: true, hasTrailers: false },
  { isSigned: true, hasTrailers: true },
  { isSigned: false, hasTrailers: true },
].map((form) => {
  const body = encode(CONTENT, {
    ...form,
    chunkBytes: 8192,
    ...(form.hasTrailers ? { trailer: TRAILER } : {}),
  });
  const name = `${form.isSigned ? "signed" : "unsigned"} chunks${form.hasTrailers ? " with a trailer" : ""}`;
  return { name, body, options: { ...form, contentBytes: CONTENT.length } };
});

describe("ChunkDecoder", () => {
  for (const { name, body, options } of FORMS) {
    it(`takes ${name} apart, in pieces of any size`, () => {
      const randomness = seededRandomness(11);
      for (const most of [1, 2, 3, 7, 100, 5000, body.length]) {
        const pieces: Uint8Array[] = [];
        for (let at = 0; at < body.length;) {
          const end = at + 1 + Math.floor(randomness.fraction() * most);
          pieces.push(body.subarray(at, end));
          at = end;
        }
        const { content, trailer } = decode(pieces, options);
        assert.ok(equalBytes(content, CONTENT));
        assert.deepEqual(
          trailer,
          options.hasTrailers ? { name: "x-amz-checksum-crc32", value: "z3mWAA==" } : undefined,
        );
      }
    });

    it(`refuses ${name} that end early, wherever`, () => {
      for (let end = 0; end < body.length; end++) {
        // Inside a chunk's data all places are alike.
        if (end > 200 && end < body.length - 700 && end % 997 !== 0) continue;
        assert.equal(tryDecode([body.subarray(0, end)], options), undefined, `cut at ${end}`);
      }
    });

    it(`never takes ${name} that were changed for other content`, () => {
      const randomness = seededRandomness(12);
      const at = () => Math.floor(randomness.fraction() * body.length);
      let refused = 0;
      for (let round = 0; round < 3000; round++) {
        // Half of it where the framing is.
        const place = round % 2 === 0 ? at() : at() % 180 + (round % 3 === 0 ? body.length - 180 : 0);
        const [byte = 0] = randomness.bytes(1);
        const kind = round % 5;
        const changed = kind < 3
          ? joinBytes([body.subarray(0, place), Uint8Array.of(byte), body.subarray(place + 1)])
          : kind === 3
          ? joinBytes([body.subarray(0, place), Uint8Array.of(byte), body.subarray(place)])
          : joinBytes([body.subarray(0, place), body.subarray(place + 1 + byte % 9)]);
        const decoded = tryDecode([changed], options);
        if (!decoded) refused++;
        else if (options.isSigned || changed.length !== body.length) {
          assert.ok(equalBytes(decoded.content, CONTENT), `round ${round}`);
        } else {
          // Unsigned content is held to its checksum, which is not this class's; its length is.
          assert.equal(decoded.content.length, CONTENT.length);
        }
      }
      assert.ok(refused > 1000, `refused ${refused}`);
    });
  }

  it("refuses more and less than was said, and what follows on the end", () => {
    const options = { isSigned: false, hasTrailers: true };
    for (const contentBytes of [4, 6]) {
      const body = utf8("5\r\nhello\r\n0\r\n\r\n");
      assert.throws(() => decode([body], { ...options, contentBytes }), { code: "IncompleteBody" });
    }
    for (const rest of ["x", "\r\n", "0\r\n\r\n"]) {
      const body = utf8(`5\r\nhello\r\n0\r\n\r\n${rest}`);
      assert.throws(() => decode([body], { ...options, contentBytes: 5 }), { code: "IncompleteBody" }, rest);
    }
  });

  it("takes small chunks only at the end, as S3 does", () => {
    for (const isSigned of [true, false]) {
      const options = { isSigned, hasTrailers: false };
      const body = (chunkBytes: number, size: number) =>
        encode(new Uint8Array(size), { isSigned, chunkBytes });
      decode([body(8192, 8193)], { ...options, contentBytes: 8193 });
      decode([body(100, 100)], { ...options, contentBytes: 100 });
      assert.throws(() => decode([body(8191, 8192)], { ...options, contentBytes: 8192 }), {
        code: "InvalidChunkSizeError",
        details: { Chunk: 1, BadChunkSize: 8191 },
      });
    }
  });

  it("does not take chunks in another order, twice, or of another request", () => {
    const options = { isSigned: true, hasTrailers: false, contentBytes: 16_384 };
    const content = joinBytes([new Uint8Array(8192).fill(1), new Uint8Array(8192).fill(2)]);
    const body = encode(content, { isSigned: true, chunkBytes: 8192 });
    const size = (body.length - 86) / 2;
    const [first, second, end] = [
      body.subarray(0, size),
      body.subarray(size, 2 * size),
      body.subarray(2 * size),
    ];
    decode([first, second, end], options);
    for (const pieces of [[second, first, end], [first, first, end]]) {
      assert.throws(() => decode(pieces, options), { code: "SignatureDoesNotMatch" });
    }
  });

  it("holds no more than a line: a header without an end, a chunk of 5 GB, a million chunks of one byte", () => {
    const unsigned = { signer: undefined, hasTrailers: true };
    const endless = new ChunkDecoder({ ...unsigned, contentBytes: 5 });
    assert.throws(() => {
      for (let i = 0; i < 100; i++) endless.push(utf8("1".repeat(100)));
    }, { code: "IncompleteBody" });

    const huge = new ChunkDecoder({ ...unsigned, contentBytes: 5e9 });
    huge.push(utf8(`${(5e9).toString(16)}\r\n`));
    const piece = new Uint8Array(65_536);
    for (let i = 0; i < 1000; i++) {
      assert.ok(huge.push(piece).every(({ buffer }) => buffer === piece.buffer), "a view, no copy");
    }
    const pair = new ChunkDecoder({ ...unsigned, contentBytes: 16_384 });
    const two = joinBytes([
      utf8("2000\r\n"),
      new Uint8Array(8192),
      utf8("\r\n2000\r\n"),
      new Uint8Array(8000),
    ]);
    const views = pair.push(two);
    assert.deepEqual(views.map(({ length }) => length), [8192, 8000]);
    assert.ok(views.every(({ buffer }) => buffer === two.buffer), "views, no copy");

    const tiny = new ChunkDecoder({ ...unsigned, contentBytes: 1_000_000 });
    assert.throws(() => tiny.push(utf8("1\r\nx\r\n".repeat(100_000))), { code: "InvalidChunkSizeError" });
  });
});
