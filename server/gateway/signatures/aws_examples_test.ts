/**
 * The examples of AWS's documentation: "Authenticating Requests (AWS Signature Version 4)" of the Amazon S3 API Reference, with
 * its sections on the header, the query, chunks and trailers. Each is what AWS says it is, byte for byte.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { concatBytes, lossyText, utf8 } from "../../../base/bytes.ts";
import { exampleOpener, type ExampleRequest } from "./testing.ts";

const EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const CREDENTIAL = "AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request";

function authorization(signedHeaders: string, signature: string): string {
  return `AWS4-HMAC-SHA256 Credential=${CREDENTIAL},SignedHeaders=${signedHeaders},Signature=${signature}`;
}

const HOST = { host: "examplebucket.s3.amazonaws.com", "x-amz-date": "20130524T000000Z" };
const PLAIN = "host;x-amz-content-sha256;x-amz-date";

const GET_OBJECT: ExampleRequest = {
  method: "GET",
  target: "/test.txt",
  headers: {
    ...HOST,
    range: "bytes=0-9",
    "x-amz-content-sha256": EMPTY,
    authorization: authorization(
      "host;range;x-amz-content-sha256;x-amz-date",
      "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
    ),
  },
};

const PUT_OBJECT: ExampleRequest = {
  method: "PUT",
  target: "/test%24file.text",
  body: utf8("Welcome to Amazon S3."),
  headers: {
    ...HOST,
    date: "Fri, 24 May 2013 00:00:00 GMT",
    "content-length": "21",
    "x-amz-storage-class": "REDUCED_REDUNDANCY",
    "x-amz-content-sha256": "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
    authorization: authorization(
      "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
      "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
    ),
  },
};

const GET_LIFECYCLE: ExampleRequest = {
  method: "GET",
  target: "/?lifecycle",
  headers: {
    ...HOST,
    "x-amz-content-sha256": EMPTY,
    authorization: authorization(PLAIN, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
  },
};

const LIST_OBJECTS: ExampleRequest = {
  method: "GET",
  target: "/?max-keys=2&prefix=J",
  headers: {
    ...HOST,
    "x-amz-content-sha256": EMPTY,
    authorization: authorization(PLAIN, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
  },
};

const PRESIGNED: ExampleRequest = {
  method: "GET",
  target: "/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256" +
    "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request" +
    "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host" +
    "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404",
  headers: { host: HOST.host },
};

const CHUNKED_HEADERS = {
  host: "s3.amazonaws.com",
  "x-amz-date": "20130524T000000Z",
  "x-amz-storage-class": "REDUCED_REDUNDANCY",
  "content-encoding": "aws-chunked",
  "x-amz-decoded-content-length": "66560",
};

const CONTENT = new Uint8Array(66_560).fill("a".charCodeAt(0));

function chunk(size: number, signature: string): Uint8Array {
  return utf8(`${size.toString(16)};chunk-signature=${signature}\r\n${"a".repeat(size)}\r\n`);
}

const CHUNKED: ExampleRequest = {
  method: "PUT",
  target: "/examplebucket/chunkObject.txt",
  body: concatBytes(
    chunk(65_536, "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648"),
    chunk(1024, "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497"),
    chunk(0, "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9"),
  ),
  headers: {
    ...CHUNKED_HEADERS,
    "content-length": "66824",
    "x-amz-content-sha256": "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
    authorization: authorization(
      "content-encoding;content-length;host;x-amz-content-sha256;x-amz-date;x-amz-decoded-content-length;x-amz-storage-class",
      "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9",
    ),
  },
};

const TRAILER_BODY = concatBytes(
  chunk(65_536, "b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2"),
  chunk(1024, "1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7"),
  utf8(
    "0;chunk-signature=2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992\r\n" +
      "x-amz-checksum-crc32c:sOO8/Q==\r\n" +
      "x-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n\r\n",
  ),
);

const TRAILER: ExampleRequest = {
  method: "PUT",
  target: "/examplebucket/chunkObject.txt",
  body: TRAILER_BODY,
  headers: {
    ...CHUNKED_HEADERS,
    "x-amz-content-sha256": "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER",
    "x-amz-trailer": "x-amz-checksum-crc32c",
    authorization: authorization(
      "content-encoding;host;x-amz-content-sha256;x-amz-date;x-amz-decoded-content-length;x-amz-storage-class;x-amz-trailer",
      "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e",
    ),
  },
};

describe("AWS's examples", () => {
  it("are requests of who signed them: header, query, with and without a body", async (t) => {
    const { open } = await exampleOpener(t);
    for (const request of [GET_OBJECT, GET_LIFECYCLE, LIST_OBJECTS, PRESIGNED]) {
      const { user, bucket } = await open(request);
      assert.deepEqual([user, bucket], ["example", "examplebucket"]);
    }
    const put = await open(PUT_OBJECT);
    assert.equal(put.key, "test$file.text");
    assert.equal(lossyText(await put.wholeBody(100)), "Welcome to Amazon S3.");
  });

  it("in signed chunks are their content", async (t) => {
    const { open } = await exampleOpener(t);
    const request = await open(CHUNKED);
    assert.deepEqual([request.bucket, request.key, request.bodyBytes], [
      "examplebucket",
      "chunkObject.txt",
      66_560,
    ]);
    assert.equal(request.headers.has("content-encoding"), false);
    assert.deepEqual(await request.wholeBody(100_000), CONTENT);
  });

  it("in signed chunks with a trailer have its checksum", async (t) => {
    const { open } = await exampleOpener(t);
    const request = await open(TRAILER);
    assert.deepEqual(await request.wholeBody(100_000), CONTENT);
    assert.deepEqual([request.checksum?.header, request.checksum?.value()], [
      "x-amz-checksum-crc32c",
      "sOO8/Q==",
    ]);
  });

  it("are refused with any other method, target, signed header, content or chunk", async (t) => {
    const { open } = await exampleOpener(t);
    const refused = async (request: ExampleRequest) => {
      await assert.rejects(async () => await (await open(request)).wholeBody(100_000), {
        code: /^(?:SignatureDoesNotMatch|XAmzContentSHA256Mismatch)$/,
      });
    };
    await refused({ ...GET_OBJECT, method: "HEAD" });
    await refused({ ...GET_OBJECT, target: "/Test.txt" });
    await refused({ ...GET_OBJECT, target: "/test.txt?acl" });
    await refused({ ...GET_OBJECT, headers: { ...GET_OBJECT.headers, range: "bytes=0-8" } });
    await refused({ ...LIST_OBJECTS, target: "/?max-keys=2&prefix=K" });
    await refused({ ...PRESIGNED, target: PRESIGNED.target.replace("86400", "86401") });
    await refused({ ...PRESIGNED, headers: { host: "other.s3.amazonaws.com" } });
    await refused({ ...PUT_OBJECT, body: utf8("Welcome to Amazon S4.") });
    for (const at of [100, 65_700, 66_700]) {
      for (const signed of [CHUNKED, TRAILER]) {
        const body = (signed.body as Uint8Array).slice();
        body[at] = body[at] === "b".charCodeAt(0) ? "c".charCodeAt(0) : "b".charCodeAt(0);
        await refused({ ...signed, body });
      }
    }
  });
});
