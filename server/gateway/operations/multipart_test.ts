import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { crc32 } from "node:zlib";
import { DEFAULT_S3 } from "../settings.ts";
import { type S3Answer, type S3SendOptions, type TestGateway, testGateway } from "../testing.ts";

const MIB = 1024 * 1024;
const XMLNS = "http://s3.amazonaws.com/doc/2006-03-01/";

interface Upload {
  readonly target: string;
  readonly id: string;
}

async function start(
  gateway: TestGateway,
  target = "/repo/main/big",
  headers: Record<string, string> = {},
): Promise<Upload> {
  const answer = await gateway.ask(200, "POST", `${target}?uploads`, { headers });
  return { target, id: answer.all("UploadId")[0]! };
}

async function putPart(
  gateway: TestGateway,
  { target, id }: Upload,
  number: number,
  body: string | Uint8Array,
  headers: Record<string, string> = {},
): Promise<string> {
  const answer = await gateway.ask(200, "PUT", `${target}?partNumber=${number}&uploadId=${id}`, {
    body,
    headers,
  });
  return answer.headers.get("etag")!;
}

function document(parts: readonly (readonly [number, string, string?])[]): string {
  const lines = parts.map(([number, etag, more = ""]) =>
    `<Part><PartNumber>${number}</PartNumber><ETag>${etag.replaceAll('"', "&quot;")}</ETag>${more}</Part>`
  );
  return `<CompleteMultipartUpload xmlns="${XMLNS}">${lines.join("")}</CompleteMultipartUpload>`;
}

async function complete(
  gateway: TestGateway,
  { target, id }: Upload,
  parts: readonly (readonly [number, string, string?])[],
  options: S3SendOptions = {},
): Promise<S3Answer> {
  return await gateway.s3("POST", `${target}?uploadId=${id}`, { body: document(parts), ...options });
}

function refused(answer: S3Answer, status: number, code: string): void {
  assert.deepEqual([answer.status, answer.code], [status, code], answer.text);
}

const bytes = (size: number, fill: string) => Buffer.alloc(size, fill);
const md5 = (body: Uint8Array) => createHash("md5").update(body).digest();
const crc = (body: Uint8Array) => {
  const out = Buffer.alloc(4);
  out.writeUInt32BE(crc32(body));
  return out.toString("base64");
};

test("an upload in parts makes one object, with all that was told when it was started", async (t) => {
  const gateway = await testGateway(t);
  const upload = await start(gateway, "/repo/main/a%20b/%C3%BC", {
    "content-type": "text/x",
    "cache-control": "no-cache",
    "x-amz-meta-who": "gr\u00fcn",
  });
  const first = bytes(5 * MIB, "a"), last = Buffer.from("end");
  const etags = [await putPart(gateway, upload, 7, last), await putPart(gateway, upload, 3, first)];
  assert.equal(etags[1], `"${md5(first).toString("hex")}"`);
  assert.equal((await gateway.s3("GET", upload.target)).status, 404);
  const done = await complete(gateway, upload, [[3, etags[1]!], [7, etags[0]!]]);
  assert.equal(done.status, 200, done.text);
  const etag = `${createHash("md5").update(md5(first)).update(md5(last)).digest("hex")}-2`;
  assert.deepEqual(done.all("ETag"), [`&quot;${etag}&quot;`]);
  assert.deepEqual([done.all("Bucket"), done.all("Key")], [["repo"], ["main/a b/ü"]]);
  assert.deepEqual(done.all("Location"), [`http://localhost:${gateway.port}/repo/main/a%20b/%C3%BC`]);
  const read = await gateway.ask(200, "GET", upload.target);
  assert.ok(Buffer.from(read.bytes).equals(Buffer.concat([first, last])));
  assert.equal(read.headers.get("etag"), `"${etag}"`);
  assert.equal(read.headers.get("content-type"), "text/x");
  assert.equal(read.headers.get("cache-control"), "no-cache");
  assert.equal(read.headers.get("x-amz-meta-who"), "=?UTF-8?B?Z3LDvG4=?=");
});

test("H20: parts that are listed 2, 1 are InvalidPartOrder", async (t) => {
  const gateway = await testGateway(t);
  const upload = await start(gateway);
  const [one, two] = [await putPart(gateway, upload, 1, "a"), await putPart(gateway, upload, 2, "b")];
  refused(await complete(gateway, upload, [[2, two], [1, one]]), 400, "InvalidPartOrder");
  refused(await complete(gateway, upload, [[1, one], [1, one]]), 400, "InvalidPartOrder");
});

test("H21: a part with another ETag, or one that is not there, is InvalidPart", async (t) => {
  const gateway = await testGateway(t);
  const upload = await start(gateway);
  const one = await putPart(gateway, upload, 1, "a");
  refused(await complete(gateway, upload, [[1, `"${"0".repeat(32)}"`]]), 400, "InvalidPart");
  refused(await complete(gateway, upload, [[1, "x"]]), 400, "InvalidPart");
  refused(await complete(gateway, upload, [[2, one]]), 400, "InvalidPart");
  // ETags also come without their quotes.
  assert.equal((await complete(gateway, upload, [[1, one.slice(1, -1)]])).status, 200);
});

test("H22: what was aborted can be neither aborted again nor completed", async (t) => {
  const gateway = await testGateway(t);
  const upload = await start(gateway);
  const one = await putPart(gateway, upload, 1, "a");
  const abort = () => gateway.s3("DELETE", `${upload.target}?uploadId=${upload.id}`);
  assert.equal((await abort()).status, 204);
  refused(await abort(), 404, "NoSuchUpload");
  refused(await complete(gateway, upload, [[1, one]]), 404, "NoSuchUpload");
  refused(
    await gateway.s3("PUT", `${upload.target}?partNumber=1&uploadId=${upload.id}`, { body: "a" }),
    404,
    "NoSuchUpload",
  );
  refused(await gateway.s3("GET", `${upload.target}?uploadId=${upload.id}`), 404, "NoSuchUpload");
  refused(await gateway.s3("GET", upload.target), 404, "NoSuchKey");
});

test("a completion that is repeated is answered as before", async (t) => {
  const gateway = await testGateway(t);
  const upload = await start(gateway);
  const one = await putPart(gateway, upload, 1, "a");
  const first = await complete(gateway, upload, [[1, one]]);
  const again = await complete(gateway, upload, [[1, one]]);
  assert.deepEqual([again.status, again.text], [200, first.text]);
  refused(await complete(gateway, upload, [[1, one], [2, one]]), 404, "NoSuchUpload");
});

test("all parts but the last have 5 MiB", async (t) => {
  const gateway = await testGateway(t);
  const upload = await start(gateway);
  const small = await putPart(gateway, upload, 1, bytes(5 * MIB - 1, "a"));
  const last = await putPart(gateway, upload, 2, "b");
  refused(await complete(gateway, upload, [[1, small], [2, last]]), 400, "EntityTooSmall");
  const large = await putPart(gateway, upload, 1, bytes(5 * MIB, "a"));
  assert.equal((await complete(gateway, upload, [[1, large], [2, last]])).status, 200);
});

test("documents and numbers that make no sense are refused", async (t) => {
  const gateway = await testGateway(t);
  const upload = await start(gateway);
  const one = await putPart(gateway, upload, 1, "a");
  const part = (number: string) =>
    gateway.s3("PUT", `${upload.target}?partNumber=${number}&uploadId=${upload.id}`);
  for (const number of ["0", "-1", "10001", "x", "1.5"]) {
    const answer = await part(number);
    refused(answer, 400, "InvalidArgument");
    assert.match(answer.text, /Part number must be an integer between 1 and 10000, inclusive/);
  }
  const send = (body: string) => gateway.s3("POST", `${upload.target}?uploadId=${upload.id}`, { body });
  const named = `<PartNumber>1</PartNumber>`, etag = `<ETag>${one}</ETag>`;
  for (
    const body of [
      "",
      "x",
      document([]),
      `<CompleteMultipartUpload><Part>${named}</Part></CompleteMultipartUpload>`,
      `<CompleteMultipartUpload><Part>${etag}</Part></CompleteMultipartUpload>`,
      `<CompleteMultipartUpload><Part>${named}${named}${etag}</Part></CompleteMultipartUpload>`,
      `<Complete><Part>${named}${etag}</Part></Complete>`,
      document(Array.from({ length: 10_001 }, (_, i) => [i + 1, one])),
    ]
  ) refused(await send(body), 400, "MalformedXML");
  refused(await send(document([[-4, one]])), 400, "InvalidArgument");
  refused(await gateway.s3("POST", "/repo/main?uploads"), 404, "NoSuchKey");
  refused(await gateway.s3("POST", "/none/main/a?uploads"), 404, "NoSuchBucket");
  refused(await gateway.s3("POST", "/repo/none/a?uploads"), 404, "NoSuchBucket");
  refused(
    await gateway.s3("POST", "/repo/main/a?uploads", { headers: { "x-amz-acl": "public-read" } }),
    400,
    "AccessControlListNotSupported",
  );
});

test("a body that is not what was said of it leaves the part that was there", async (t) => {
  const gateway = await testGateway(t);
  const upload = await start(gateway);
  const one = await putPart(gateway, upload, 1, "kept");
  const wrong = { body: "other", headers: { "content-md5": md5(Buffer.from("else")).toString("base64") } };
  const target = `${upload.target}?partNumber=1&uploadId=${upload.id}`;
  refused(await gateway.s3("PUT", target, wrong), 400, "BadDigest");
  assert.equal((await complete(gateway, upload, [[1, one]])).status, 200);
  assert.equal((await gateway.ask(200, "GET", upload.target)).text, "kept");
});

test("parts are listed with their sizes, page by page", async (t) => {
  const gateway = await testGateway(t);
  const upload = await start(gateway);
  const etags = [];
  for (const number of [1, 2, 10, 11]) etags.push(await putPart(gateway, upload, number, "x".repeat(number)));
  const list = (query: string) => gateway.ask(200, "GET", `${upload.target}?uploadId=${upload.id}${query}`);
  const all = await list("");
  assert.deepEqual(all.all("PartNumber"), ["1", "2", "10", "11"]);
  assert.deepEqual(all.all("Size"), ["1", "2", "10", "11"]);
  assert.deepEqual(all.all("ETag"), etags.map((etag) => etag.replaceAll('"', "&quot;")));
  assert.deepEqual([all.all("IsTruncated"), all.all("MaxParts")], [["false"], ["1000"]]);
  const page = await list("&max-parts=3");
  assert.deepEqual([page.all("PartNumber"), page.all("IsTruncated")], [["1", "2", "10"], ["true"]]);
  const next = await list(`&part-number-marker=${page.all("NextPartNumberMarker")[0]}`);
  assert.deepEqual([next.all("PartNumber"), next.all("PartNumberMarker")], [["11"], ["10"]]);
  assert.deepEqual((await list("&max-parts=0")).all("PartNumber"), []);
  for (const query of ["max-parts=-3", "part-number-marker=x", "part-number-marker=-14"]) {
    refused(
      await gateway.s3("GET", `${upload.target}?uploadId=${upload.id}&${query}`),
      400,
      "InvalidArgument",
    );
  }
});

test("open uploads are listed by key and folded, each prefix once, page by page", async (t) => {
  const gateway = await testGateway(t);
  await gateway.store.createBranch("repo", "dev", "main", "tester");
  const keys = ["dev/x", "main/a+b", "main/foo/1", "main/foo/2", "main/foo/2", "main/zoo/1", "main/zz"];
  const ids = new Map<string, string>();
  for (const key of keys.toReversed()) {
    ids.set(key, (await start(gateway, `/repo/${key.replace("+", "%2B")}`)).id);
  }
  const list = (query = "") => gateway.ask(200, "GET", `/repo?uploads${query}`);
  const all = await list();
  assert.deepEqual(all.all("Key"), keys);
  assert.equal(all.all("UploadId")[0], ids.get("dev/x"));
  assert.deepEqual((await list("&encoding-type=url")).all("Key")[1], "main/a%2Bb");
  assert.deepEqual((await list("&prefix=main/z")).all("Key"), ["main/zoo/1", "main/zz"]);
  const folded = await list("&prefix=main/&delimiter=/");
  assert.deepEqual([folded.all("Key"), folded.all("Prefix").slice(1)], [["main/a+b", "main/zz"], [
    "main/foo/",
    "main/zoo/",
  ]]);
  for (const delimiter of ["", "&prefix=main/&delimiter=/"]) {
    const seen: string[] = [];
    let marker = "";
    for (let turn = 0; turn < 20; turn++) {
      const page = await list(`&max-uploads=1${delimiter}${marker}`);
      seen.push(
        ...page.all("Key"),
        ...page.all("CommonPrefixes").map((text) => /<Prefix>(.*)<\/Prefix>/.exec(text)![1]!),
      );
      if (page.all("IsTruncated")[0] === "false") break;
      const next = encodeURIComponent(page.all("NextKeyMarker")[0]!);
      marker = `&key-marker=${next}&upload-id-marker=${page.all("NextUploadIdMarker")[0]}`;
    }
    assert.deepEqual(seen, delimiter === "" ? keys : ["main/a+b", "main/foo/", "main/zoo/", "main/zz"]);
  }
  assert.deepEqual((await list("&key-marker=main/foo/2")).all("Key"), ["main/zoo/1", "main/zz"]);
  assert.deepEqual((await list("&upload-id-marker=anything")).all("Key"), keys);
  refused(await gateway.s3("GET", "/repo?uploads&key-marker=a&upload-id-marker=x"), 400, "InvalidArgument");
  refused(await gateway.s3("GET", "/none?uploads"), 404, "NoSuchBucket");
});

test("where buckets are branches, uploads are listed by path", async (t) => {
  const gateway = await testGateway(t, { s3: { ...DEFAULT_S3, buckets: "branch" } });
  await gateway.store.createBranch("repo", "dev", "main", "tester");
  await start(gateway, "/repo/on-main");
  const upload = await start(gateway, "/dev.repo/on/dev");
  assert.deepEqual((await gateway.ask(200, "GET", "/dev.repo?uploads")).all("Key"), ["on/dev"]);
  assert.deepEqual((await gateway.ask(200, "GET", "/repo?uploads&delimiter=/")).all("Key"), ["on-main"]);
  refused(await gateway.s3("GET", "/other.repo?uploads"), 404, "NoSuchBucket");
  const one = await putPart(gateway, upload, 1, "a");
  assert.equal((await complete(gateway, upload, [[1, one]])).status, 200);
  assert.equal((await gateway.ask(200, "GET", "/dev.repo/on/dev")).text, "a");
});

test("parts are copied, whole or in ranges, under conditions of their own", async (t) => {
  const gateway = await testGateway(t);
  await gateway.store.createRepository("other", { committer: "tester" });
  const source = Buffer.concat([bytes(5 * MIB, "s"), Buffer.from("tail")]);
  await gateway.ask(200, "PUT", "/other/main/s%2B1", { body: source });
  await gateway.ask(200, "PUT", "/repo/main/own", { body: source });
  const upload = await start(gateway);
  const copy = (number: number, headers: Record<string, string>) =>
    gateway.s3("PUT", `${upload.target}?partNumber=${number}&uploadId=${upload.id}`, { headers });
  const range = { "x-amz-copy-source-range": `bytes=0-${5 * MIB - 1}` };
  const one = await copy(1, { "x-amz-copy-source": "/other/main/s%2B1", ...range });
  assert.equal(
    one.all("ETag")[0],
    `&quot;${md5(source.subarray(0, 5 * MIB)).toString("hex")}&quot;`,
    one.text,
  );
  const two = await copy(2, { "x-amz-copy-source": "repo/main/own" });
  const parts = [one, two].map((answer, i) =>
    [i + 1, answer.all("ETag")[0]!.replaceAll("&quot;", '"')] as const
  );
  assert.equal((await complete(gateway, upload, parts)).status, 200);
  const read = await gateway.ask(200, "GET", upload.target);
  assert.ok(Buffer.from(read.bytes).equals(Buffer.concat([source.subarray(0, 5 * MIB), source])));

  const next = await start(gateway);
  const refusal = (headers: Record<string, string>) =>
    gateway.s3("PUT", `${next.target}?partNumber=1&uploadId=${next.id}`, {
      headers: { "x-amz-copy-source": "repo/main/own", ...headers },
    });
  for (const wrong of ["byte=1-2", "bytes=5-1", "bytes=-2-3", "bytes=aa-12", "bytes=1-"]) {
    refused(await refusal({ "x-amz-copy-source-range": wrong }), 400, "InvalidArgument");
  }
  const beyond = await refusal({ "x-amz-copy-source-range": `bytes=0-${source.length}` });
  refused(beyond, 400, "InvalidArgument");
  assert.match(
    beyond.text,
    new RegExp(`Range specified is not valid for source object of size: ${source.length}<`),
  );
  refused(await refusal({ "x-amz-copy-source-if-match": '"x"' }), 412, "PreconditionFailed");
  refused(await refusal({ "x-amz-copy-source": "repo/main/none" }), 404, "NoSuchKey");
  refused(await refusal({ "x-amz-copy-source": "none/main/own" }), 404, "NoSuchBucket");
});

test("a checksum of all bytes is worked out from those of the parts, and held against what was sent", async (t) => {
  const gateway = await testGateway(t);
  const headers = { "x-amz-checksum-algorithm": "CRC32", "x-amz-checksum-type": "FULL_OBJECT" };
  const first = bytes(5 * MIB, "a"), last = Buffer.from("end"), whole = crc(Buffer.concat([first, last]));
  const upload = await start(gateway, "/repo/main/big", headers);
  const one = await putPart(gateway, upload, 1, first, { "x-amz-checksum-crc32": crc(first) });
  // Here it is not needed of each part.
  const two = await putPart(gateway, upload, 2, last);
  const parts = [[1, one, `<ChecksumCRC32>${crc(first)}</ChecksumCRC32>`], [2, two]] as const;
  const send = (sent: Record<string, string>) => complete(gateway, upload, parts, { headers: sent });
  refused(await send({ "x-amz-checksum-crc32": crc(first) }), 400, "BadDigest");
  refused(await send({ "x-amz-checksum-crc32": "x" }), 400, "InvalidRequest");
  refused(
    await send({ "x-amz-checksum-crc32": whole, "x-amz-checksum-crc32c": whole }),
    400,
    "InvalidRequest",
  );
  refused(await send({ "x-amz-checksum-type": "COMPOSITE" }), 400, "InvalidRequest");
  refused(await send({ "x-amz-checksum-type": "x" }), 400, "InvalidRequest");
  refused(await send({ "x-amz-mp-object-size": "7" }), 400, "InvalidRequest");
  refused(await send({ "x-amz-mp-object-size": "-7" }), 400, "InvalidRequest");
  refused(
    await complete(gateway, upload, [[1, one, `<ChecksumCRC32>${crc(last)}</ChecksumCRC32>`], [2, two]]),
    400,
    "InvalidPart",
  );
  refused(
    await complete(gateway, upload, [[1, one, "<ChecksumCRC32>x</ChecksumCRC32>"], [2, two]]),
    400,
    "InvalidArgument",
  );
  const sent = { "x-amz-checksum-crc32": whole, "x-amz-mp-object-size": String(first.length + last.length) };
  const done = await send(sent);
  assert.deepEqual(
    [done.all("ChecksumCRC32"), done.all("ChecksumType")],
    [[whole], ["FULL_OBJECT"]],
    done.text,
  );
});

test("a composed checksum needs that of each part", async (t) => {
  const gateway = await testGateway(t);
  const upload = await start(gateway, "/repo/main/big", { "x-amz-checksum-algorithm": "sha256" });
  const first = bytes(5 * MIB, "a"), last = Buffer.from("end");
  const sha = (body: Uint8Array) => createHash("sha256").update(body).digest("base64");
  const put = (number: number, body: Uint8Array, headers = {}) =>
    gateway.s3("PUT", `${upload.target}?partNumber=${number}&uploadId=${upload.id}`, { body, headers });
  refused(await put(1, last), 400, "InvalidRequest");
  refused(await put(1, last, { "x-amz-checksum-crc32": crc(last) }), 400, "InvalidRequest");
  const parts: [number, string, string][] = [];
  for (const [i, body] of [first, last].entries()) {
    const answer = await put(i + 1, body, { "x-amz-checksum-sha256": sha(body) });
    assert.equal(answer.headers.get("x-amz-checksum-sha256"), sha(body));
    parts.push([i + 1, answer.headers.get("etag")!, `<ChecksumSHA256>${sha(body)}</ChecksumSHA256>`]);
  }
  const listed = await gateway.ask(200, "GET", `${upload.target}?uploadId=${upload.id}`);
  assert.deepEqual(listed.all("ChecksumSHA256"), [sha(first), sha(last)]);
  assert.deepEqual([listed.all("ChecksumAlgorithm"), listed.all("ChecksumType")], [["SHA256"], [
    "COMPOSITE",
  ]]);
  refused(
    await complete(gateway, upload, parts.map(([number, etag]) => [number, etag])),
    400,
    "InvalidRequest",
  );
  const composed = createHash("sha256").update(Buffer.from(sha(first), "base64")).update(
    Buffer.from(sha(last), "base64"),
  ).digest("base64");
  for (const wrong of [`${composed}-3`, sha(first)]) {
    refused(
      await complete(gateway, upload, parts, { headers: { "x-amz-checksum-sha256": wrong } }),
      400,
      "BadDigest",
    );
  }
  const done = await complete(gateway, upload, parts, { headers: { "x-amz-checksum-sha256": composed } });
  assert.deepEqual([done.all("ChecksumSHA256"), done.all("ChecksumType")], [[`${composed}-2`], [
    "COMPOSITE",
  ]]);
});

test("an upload without a checksum gets CRC64NVME, and takes parts with any", async (t) => {
  const gateway = await testGateway(t);
  const upload = await start(gateway);
  const body = Buffer.from("123456789");
  const one = await putPart(gateway, upload, 1, body, { "x-amz-checksum-crc32": crc(body) });
  const done = await complete(gateway, upload, [[1, one, `<ChecksumCRC32>${crc(body)}</ChecksumCRC32>`]]);
  assert.deepEqual(done.all("ChecksumCRC64NVME"), ["rosUhgp5mIg="]);
  assert.deepEqual(done.all("ChecksumType"), ["FULL_OBJECT"]);
});

test("checksums that do not exist, or not of such uploads, are refused at once", async (t) => {
  const gateway = await testGateway(t);
  const cases: [Record<string, string>, RegExp][] = [
    [{ "x-amz-checksum-algorithm": "none" }, /unsupported/],
    [{ "x-amz-checksum-type": "COMPOSITE" }, /can only be used with/],
    [{ "x-amz-checksum-type": "x" }, /is invalid/],
    [
      { "x-amz-checksum-algorithm": "CRC64NVME", "x-amz-checksum-type": "COMPOSITE" },
      /cannot be used with the crc64nvme/,
    ],
    [
      { "x-amz-checksum-algorithm": "SHA1", "x-amz-checksum-type": "FULL_OBJECT" },
      /cannot be used with the sha1/,
    ],
  ];
  for (const [headers, message] of cases) {
    const answer = await gateway.s3("POST", "/repo/main/a?uploads", { headers });
    refused(answer, 400, "InvalidRequest");
    assert.match(answer.text, message);
  }
});

test("conditions hold for completions, which leave the upload as it was", async (t) => {
  const gateway = await testGateway(t);
  await gateway.ask(200, "PUT", "/repo/main/big", { body: "old" });
  const upload = await start(gateway);
  const one = await putPart(gateway, upload, 1, "new");
  const send = (headers: Record<string, string>) => complete(gateway, upload, [[1, one]], { headers });
  refused(await send({ "if-none-match": "*" }), 412, "PreconditionFailed");
  refused(await send({ "if-match": '"x"' }), 412, "PreconditionFailed");
  refused(await send({ "if-match": '"x"', "if-none-match": "*" }), 501, "NotImplemented");
  assert.equal((await gateway.ask(200, "GET", "/repo/main/big")).text, "old");
  const etag = (await gateway.ask(200, "HEAD", "/repo/main/big")).headers.get("etag")!;
  assert.equal((await send({ "if-match": etag })).status, 200);
  assert.equal((await gateway.ask(200, "GET", "/repo/main/big")).text, "new");
  await gateway.ask(204, "DELETE", "/repo/main/big");
  const next = await start(gateway);
  const part = await putPart(gateway, next, 1, "newer");
  refused(await complete(gateway, next, [[1, part]], { headers: { "if-match": etag } }), 404, "NoSuchKey");
});

test("an abort that is for an upload of another time is refused", async (t) => {
  const gateway = await testGateway(t);
  const upload = await start(gateway);
  const initiated = Date.parse((await gateway.ask(200, "GET", "/repo?uploads")).all("Initiated")[0]!);
  const abort = (ms: number) =>
    gateway.s3("DELETE", `${upload.target}?uploadId=${upload.id}`, {
      headers: { "x-amz-if-match-initiated-time": new Date(ms).toUTCString() },
    });
  refused(await abort(initiated - 3_600_000), 412, "PreconditionFailed");
  assert.equal((await abort(initiated)).status, 204);
});

test("what may not be written cannot be uploaded in parts", async (t) => {
  const gateway = await testGateway(t);
  const upload = await start(gateway);
  const one = await putPart(gateway, upload, 1, "a");
  await gateway.store.settings.setBranchProtection("repo", ["main"]);
  refused(await gateway.s3("POST", "/repo/main/b?uploads"), 403, "AccessDenied");
  refused(await complete(gateway, upload, [[1, one]]), 403, "AccessDenied");
  await gateway.store.createTag("repo", "v1", "main", "tester");
  refused(await gateway.s3("POST", "/repo/v1/b?uploads"), 403, "AccessDenied");
});
