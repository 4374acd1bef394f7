/** Bodies on their way into objects: what arrives is what was said, or nothing is stored. Raw requests, as clients send them. */

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash, createHmac } from "node:crypto";
import { connect } from "node:net";
import { describe, it } from "node:test";
import { joinBytes, utf8 } from "../../base/bytes.ts";
import { seededRandomness } from "../../base/randomness.ts";
import { EXAMPLE, exampleOpener } from "./signatures/testing.ts";
import { signed, signingKey, type TestGateway, testGateway } from "./testing.ts";

const TARGET = "/repo/main/a.bin";
const UNSIGNED_TRAILER = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";
const LARGE = Buffer.alloc(1_000_000, "0123456789");

/** Writes content in unsigned chunks with a trailer. */
function unsignedChunks(content: Uint8Array, trailer?: string): Uint8Array {
  return joinBytes([
    ...(content.length > 0 ? [utf8(`${content.length.toString(16)}\r\n`), content, utf8("\r\n")] : []),
    utf8(`0\r\n${trailer === undefined ? "" : `${trailer}\r\n`}\r\n`),
  ]);
}

function chunkedHeaders(content: Uint8Array, trailer?: string): Record<string, string> {
  return {
    "content-encoding": "aws-chunked",
    "x-amz-decoded-content-length": String(content.length),
    ...(trailer === undefined ? {} : { "x-amz-trailer": trailer }),
  };
}

/** The object's text; `undefined` when there is none. */
async function stored({ s3 }: TestGateway): Promise<string | undefined> {
  const answer = await s3("GET", TARGET);
  return answer.status === 404 ? undefined : answer.text;
}

describe("a body", () => {
  it("in chunks with a trailer, as current SDKs send it, is stored without them (H23)", async (t) => {
    const gateway = await testGateway(t);
    const content = utf8("Hello World!\n");
    const answer = await gateway.ask(200, "PUT", TARGET, {
      payload: UNSIGNED_TRAILER,
      headers: {
        ...chunkedHeaders(content, "x-amz-checksum-crc32"),
        "x-amz-sdk-checksum-algorithm": "CRC32",
      },
      sent: unsignedChunks(content, "x-amz-checksum-crc32:fRTd3Q=="),
    });
    assert.equal(answer.headers.get("x-amz-checksum-crc32"), "fRTd3Q==");
    const head = await gateway.ask(200, "HEAD", TARGET);
    assert.deepEqual([head.headers.get("content-length"), head.headers.get("content-encoding")], [
      "13",
      null,
    ]);
    assert.equal(await stored(gateway), "Hello World!\n");
  });

  it("without a checksum gets S3's default one", async (t) => {
    const { ask } = await testGateway(t);
    const { headers } = await ask(200, "PUT", TARGET, { body: "hello world" });
    assert.deepEqual([headers.get("x-amz-checksum-crc64nvme"), headers.get("x-amz-checksum-type")], [
      "jSnVw/bqjr4=",
      "FULL_OBJECT",
    ]);
  });

  it("keeps the encoding that is its own", async (t) => {
    const gateway = await testGateway(t);
    const content = utf8("zipped");
    const headers = { ...chunkedHeaders(content), "content-encoding": "aws-chunked,gzip" };
    await gateway.ask(200, "PUT", TARGET, {
      payload: UNSIGNED_TRAILER,
      headers,
      sent: unsignedChunks(content),
    });
    assert.equal((await gateway.ask(200, "HEAD", TARGET)).headers.get("content-encoding"), "gzip");
  });

  it("that is not what its hash, digest, checksum or length says is not stored, and what was there stays", async (t) => {
    const gateway = await testGateway(t);
    for (const body of [utf8("hello"), LARGE]) {
      await gateway.ask(200, "PUT", TARGET, { body: "before" });
      const sha256 = createHash("sha256").update("other").digest("hex");
      const md5 = createHash("md5").update("other").digest("base64");
      const cases: [string, Parameters<TestGateway["s3"]>[2]][] = [
        ["XAmzContentSHA256Mismatch", { body, payload: sha256 }],
        ["BadDigest", { body, headers: { "content-md5": md5 } }],
        ["InvalidDigest", { body, headers: { "content-md5": "not base64" } }],
        ["InvalidDigest", { body, headers: { "content-md5": "" } }],
      ];
      for (const [name, value] of WRONG) {
        const header = `x-amz-checksum-${name}`;
        const chunked = { payload: UNSIGNED_TRAILER, body };
        cases.push(["BadDigest", { body, headers: { [header]: value } }]);
        cases.push(["BadDigest", {
          ...chunked,
          headers: chunkedHeaders(body, header),
          sent: unsignedChunks(body, `${header}:${value}`),
        }]);
        cases.push(["InvalidRequest", { body, headers: { [header]: "not base64" } }]);
        cases.push(["InvalidRequest", {
          ...chunked,
          headers: chunkedHeaders(body, header),
          sent: unsignedChunks(body, `${header}:not`),
        }]);
        cases.push(["MalformedTrailerError", {
          ...chunked,
          headers: chunkedHeaders(body, header),
          sent: unsignedChunks(body),
        }]);
      }
      for (const [code, options] of cases) {
        const answer = await gateway.s3("PUT", TARGET, options);
        assert.equal(
          answer.code,
          code,
          `${answer.status} ${answer.text} ${JSON.stringify(options?.headers)}`,
        );
      }
      assert.equal(await stored(gateway), "before");
    }
  });

  it("may have one checksum, of a kind that we know, and the one that was announced", async (t) => {
    const { ask } = await testGateway(t);
    const refused = async (headers: Record<string, string>, message: RegExp) => {
      const answer = await ask(400, "PUT", TARGET, { body: "hello", headers });
      assert.equal(answer.code, "InvalidRequest");
      assert.match(answer.all("Message")[0]!, message);
    };
    const crc32 = { "x-amz-checksum-crc32": "NhCmhg==" };
    await ask(200, "PUT", TARGET, { body: "hello", headers: crc32 });
    await refused(
      { ...crc32, "x-amz-checksum-sha1": "qvTGHdzF6KLavt4PO0gs2a6pQ00=" },
      /single x-amz-checksum- header/,
    );
    await refused({ "x-amz-checksum-crc16": "AAA=" }, /algorithm type you specified/);
    await refused(
      { ...crc32, "x-amz-sdk-checksum-algorithm": "SHA1" },
      /x-amz-sdk-checksum-algorithm header is invalid/,
    );
    await refused({ "x-amz-sdk-checksum-algorithm": "SHA1" }, /no corresponding x-amz-checksum/);
    await refused({ "x-amz-trailer": "x-amz-checksum-crc32" }, /x-amz-trailer header is not supported/);
  });

  it("must say how long it is, and may come in the chunks of HTTP if its content does", async (t) => {
    const gateway = await testGateway(t);
    const content = utf8("hello");
    for (const length of ["", "abc", "12x", "-1"]) {
      const headers = { ...chunkedHeaders(content), "x-amz-decoded-content-length": length };
      const options = { payload: UNSIGNED_TRAILER, headers, sent: unsignedChunks(content) };
      assert.equal((await gateway.ask(411, "PUT", TARGET, options)).code, "MissingContentLength");
    }
    const request = signed(
      {
        method: "PUT",
        target: TARGET,
        port: gateway.port,
        credential: gateway.admin,
        nowMs: gateway.context.clock.now(),
      },
      { payload: UNSIGNED_TRAILER, headers: { ...chunkedHeaders(content), "transfer-encoding": "chunked" } },
    );
    const inner = Buffer.from(unsignedChunks(content)).toString();
    const pieces = [inner.slice(0, 4), inner.slice(4)];
    const framed = pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join("") +
      "0\r\n\r\n";
    assert.match(await talk(gateway.port, [head("PUT", request), framed]), /^HTTP\/1.1 200 /);
    assert.equal(await stored(gateway), "hello");
    const unsized = signed(
      {
        method: "PUT",
        target: TARGET,
        port: gateway.port,
        credential: gateway.admin,
        nowMs: gateway.context.clock.now(),
      },
    );
    assert.match(await talk(gateway.port, [head("PUT", unsized)]), /^HTTP\/1.1 411 /);
  });

  it("comes after the server said to go on, if the client asks", async (t) => {
    const gateway = await testGateway(t);
    const request = signed(
      {
        method: "PUT",
        target: TARGET,
        port: gateway.port,
        credential: gateway.admin,
        nowMs: gateway.context.clock.now(),
      },
      { body: "hello" },
    );
    const headers = { ...request.headers, expect: "100-continue", "content-length": "5" };
    const answer = await talk(gateway.port, [head("PUT", { ...request, headers }), "hello"]);
    assert.match(answer, /^HTTP\/1.1 100 [^]*HTTP\/1.1 200 /);
    assert.equal(await stored(gateway), "hello");
  });

  it("of a client that goes away is never an object: with a length, in chunks, small and large", async (t) => {
    const gateway = await testGateway(t);
    await gateway.ask(200, "PUT", TARGET, { body: "before" });
    const at = {
      method: "PUT",
      target: TARGET,
      port: gateway.port,
      credential: gateway.admin,
      nowMs: gateway.context.clock.now(),
    };
    for (const content of [utf8("hello"), LARGE]) {
      const plain = signed(at, { body: content, headers: { "content-length": String(content.length) } });
      const chunked = signed(at, {
        payload: UNSIGNED_TRAILER,
        headers: {
          ...chunkedHeaders(content, "x-amz-checksum-crc32"),
          "content-length": String(content.length + 50),
        },
      });
      const half = Buffer.from(content).subarray(0, content.length / 2).toString();
      await cut(gateway.port, [head("PUT", plain), half]);
      await cut(gateway.port, [head("PUT", chunked), `${content.length.toString(16)}\r\n${half}`]);
    }
    assert.equal(await stored(gateway), "before");
  });

  it("in signed chunks is held to each signature", async (t) => {
    const gateway = await testGateway(t);
    const content = LARGE.subarray(0, 100_000);
    const send = (spoil: (body: Buffer) => void) => {
      const nowMs = gateway.context.clock.now();
      const headers = { "x-amz-decoded-content-length": String(content.length) };
      const payload = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD";
      const { headers: all } = signed(
        { method: "PUT", target: TARGET, port: gateway.port, credential: gateway.admin, nowMs },
        { headers, payload },
      );
      const body = Buffer.from(signedChunks(content, all, gateway.admin.secretAccessKey));
      spoil(body);
      return gateway.s3("PUT", TARGET, {
        headers: { ...headers, "x-amz-date": all["x-amz-date"]! },
        payload,
        sent: body,
      });
    };
    assert.equal((await send(() => {})).status, 200);
    await gateway.ask(200, "PUT", TARGET, { body: "before" });
    for (const at of [200, 70_000, 100_100]) {
      const answer = await send((body) => void (body[at] = body[at]! ^ 1));
      assert.equal(answer.code, "SignatureDoesNotMatch", `at ${at}`);
    }
    assert.equal(await stored(gateway), "before");
  });

  it("changed anywhere is no content, if it has a checksum", async (t) => {
    const { open } = await exampleOpener(t, ["localhost"]);
    const content = utf8("The quick brown fox jumps over the lazy dog. ".repeat(40));
    const trailer = `x-amz-checksum-crc64nvme:${await crc64nvme(content)}`;
    const body = unsignedChunks(content, trailer);
    const nowMs = Date.UTC(2026, 0, 1);
    const { headers } = signed(
      { method: "PUT", target: TARGET, port: 1, credential: EXAMPLE, nowMs },
      { payload: UNSIGNED_TRAILER, headers: chunkedHeaders(content, "x-amz-checksum-crc64nvme") },
    );
    const read = async (sent: Uint8Array) => {
      const request = await open({ method: "PUT", target: TARGET, headers, body: sent }, nowMs);
      return await request.wholeBody(100_000);
    };
    assert.deepEqual(await read(body), content);
    const randomness = seededRandomness(21);
    let refused = 0;
    for (let round = 0; round < 600; round++) {
      const at = Math.floor(randomness.fraction() * body.length);
      const [byte = 0] = randomness.bytes(1);
      const changed = round % 3 === 0
        ? body.slice(0, at)
        : joinBytes([body.subarray(0, at), Uint8Array.of(byte), body.subarray(at + round % 2)]);
      const got = await read(changed).catch(() => undefined);
      if (got) assert.deepEqual(got, content, `round ${round}`);
      else refused++;
    }
    assert.ok(refused > 550, `refused ${refused}`);
  });
});

const WRONG = [
  ["crc32", "AAAAAA=="],
  ["crc32c", "AAAAAA=="],
  ["crc64nvme", "AAAAAAAAAAA="],
  ["md5", "AAAAAAAAAAAAAAAAAAAAAA=="],
  ["sha1", "AAAAAAAAAAAAAAAAAAAAAAAAAAA="],
  ["sha256", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="],
  ["xxhash64", "AAAAAAAAAAA="],
] as const;

async function crc64nvme(content: Uint8Array): Promise<string> {
  const { createCRC64 } = await import("hash-wasm");
  const hasher = (await createCRC64("9a6c9329ac4bc9b5")).init();
  return Buffer.from(hasher.update(content).digest("binary")).toString("base64");
}

/** Writes content in chunks of 64 KiB that are signed behind a request. */
function signedChunks(content: Uint8Array, headers: Record<string, string>, secret: string): Uint8Array {
  const time = headers["x-amz-date"]!, scope = `${time.slice(0, 8)}/us-east-1/s3/aws4_request`;
  const key = signingKey(secret, scope);
  const sha256 = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");
  let before = headers["authorization"]!.split("Signature=")[1]!;
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < content.length + 65_536; at += 65_536) {
    const data = content.subarray(at, at + 65_536);
    const text = ["AWS4-HMAC-SHA256-PAYLOAD", time, scope, before, sha256(""), sha256(data)].join("\n");
    before = createHmac("sha256", key).update(text).digest("hex");
    pieces.push(utf8(`${data.length.toString(16)};chunk-signature=${before}\r\n`), data, utf8("\r\n"));
  }
  return joinBytes(pieces);
}

function head(
  method: string,
  { target, headers }: { target: string; headers: Record<string, string> },
): string {
  const lines = Object.entries(headers).map((pair) => pair.join(": "));
  return [`${method} ${target} HTTP/1.1`, ...lines, "connection: close", "", ""].join("\r\n");
}

/** Sends pieces with a pause between, and returns all that comes until the connection is closed. */
function talk(port: number, pieces: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = "";
    const socket = connect(port, "127.0.0.1", async () => {
      for (const piece of pieces) {
        socket.write(Buffer.from(piece, "latin1"));
        await new Promise((sent) => setTimeout(sent, 30));
      }
    });
    socket.on("data", (piece) => received += piece.toString("latin1"));
    socket.on("error", reject).on("close", () => resolve(received));
  });
}

/** Sends pieces and goes away. */
async function cut(port: number, pieces: readonly string[]): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(pieces.join(""), () => setTimeout(() => socket.destroy(), 50));
    });
    socket.on("error", reject).on("close", () => resolve());
  });
  // The server hears of it in its own time.
  await new Promise((heard) => setTimeout(heard, 50));
}
