// Real work through @aws-sdk/client-s3: node s3_node.mjs URL ACCESS_KEY_ID SECRET_ACCESS_KEY BUCKET PREFIX

import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { argv } from "node:process";
import {
  CopyObjectCommand,
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectAttributesCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListObjectsCommand,
  paginateListObjectsV2,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { Upload } from "@aws-sdk/lib-storage";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";

const [, , url, accessKeyId, secretAccessKey, Bucket, prefix] = argv;
const credentials = { accessKeyId, secretAccessKey };
const config = { endpoint: url, region: "us-east-1", forcePathStyle: true, credentials };
const client = new S3Client(config);
const send = (command) => client.send(command);
const at = (name) => ({ Bucket, Key: `${prefix}node/${name}` });

async function expect(name, command) {
  await assert.rejects(
    send(command),
    (error) => error.name === name || assert.fail(`${name}: ${error.name} ${error.message}`),
  );
}

async function objects() {
  const names = ["a.txt", "b c+d%20.txt", "dots/../x", "double//slash", "dir/", "ü & <湖>", "q?a=b#c"];
  for (const name of names) {
    const put = await send(new PutObjectCommand({ ...at(name), Body: name, Metadata: { name: "plain" } }));
    assert.ok(put.ETag && put.ChecksumCRC32, name);
    const got = await send(new GetObjectCommand(at(name)));
    assert.equal(await got.Body.transformToString(), name);
    assert.deepEqual([got.ContentLength, got.ContentEncoding, got.Metadata], [
      Buffer.byteLength(name),
      undefined,
      { name: "plain" },
    ]);
  }
  const listed = [];
  for await (
    const page of paginateListObjectsV2({ client, pageSize: 3 }, { Bucket, Prefix: `${prefix}node/` })
  ) {
    listed.push(...page.Contents.map(({ Key }) => Key));
  }
  assert.deepEqual(
    listed,
    names.map((name) => at(name).Key).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
  );
  const folded = await send(new ListObjectsCommand({ Bucket, Prefix: `${prefix}node/`, Delimiter: "/" }));
  assert.deepEqual(
    folded.CommonPrefixes.map((one) => one.Prefix),
    ["dir/", "dots/", "double/"].map((name) => at(name).Key),
  );

  await send(new PutObjectCommand({ ...at("ten"), Body: "0123456789", ContentType: "text/x-ten" }));
  const part = await send(new GetObjectCommand({ ...at("ten"), Range: "bytes=-3" }));
  assert.deepEqual([await part.Body.transformToString(), part.ContentRange], ["789", "bytes 7-9/10"]);
  for (const ChecksumAlgorithm of ["CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256"]) {
    const put = await send(new PutObjectCommand({ ...at("ten"), Body: "0123456789", ChecksumAlgorithm }));
    assert.ok(put[`Checksum${ChecksumAlgorithm}`], ChecksumAlgorithm);
  }
  // A stream goes in chunks with its checksum behind it.
  const Body = Readable.from([Buffer.alloc(100_000, "s"), Buffer.alloc(70_000, "t")]);
  await send(new PutObjectCommand({ ...at("stream"), Body, ContentLength: 170_000 }));
  const streamed = await (await send(new GetObjectCommand(at("stream")))).Body.transformToString();
  assert.equal(streamed, "s".repeat(100_000) + "t".repeat(70_000));
  const head = await send(new HeadObjectCommand({ ...at("ten"), ChecksumMode: "ENABLED" }));
  assert.ok(head.ChecksumSHA256);
  const told = await send(
    new GetObjectAttributesCommand({ ...at("ten"), ObjectAttributes: ["ETag", "ObjectSize"] }),
  );
  assert.equal(told.ObjectSize, 10);
  await expect("PreconditionFailed", new PutObjectCommand({ ...at("ten"), Body: "x", IfNoneMatch: "*" }));
  await expect("NoSuchKey", new GetObjectCommand(at("none")));
  await expect("NotFound", new HeadObjectCommand(at("none")));
  await expect("NoSuchBucket", new ListObjectsCommand({ Bucket: "no-such-bucket" }));

  const CopySource = `${Bucket}/${encodeURIComponent(at(names[1]).Key)}`;
  await send(new CopyObjectCommand({ ...at("copy"), CopySource }));
  assert.equal(await (await send(new GetObjectCommand(at("copy")))).Body.transformToString(), names[1]);
  const own = { ...at("copy"), CopySource: `${Bucket}/${at("copy").Key}` };
  await expect("InvalidRequest", new CopyObjectCommand(own));
  await send(new CopyObjectCommand({ ...own, MetadataDirective: "REPLACE", Metadata: { x: "1" } }));
  assert.deepEqual((await send(new HeadObjectCommand(at("copy")))).Metadata, { x: "1" });
  await send(new DeleteObjectCommand(at("copy")));
  const gone = await send(
    new DeleteObjectsCommand({
      Bucket,
      Delete: { Objects: [...names, "ten", "stream"].map((name) => ({ Key: at(name).Key })) },
    }),
  );
  assert.equal(gone.Deleted.length, names.length + 2);
}

async function parts() {
  const content = Buffer.alloc(17 * 1024 * 1024, "0123456789abcdef");
  const upload = new Upload({
    client,
    params: {
      ...at("large"),
      Body: Readable.from([content.subarray(0, 9_000_000), content.subarray(9_000_000)]),
    },
  });
  assert.ok((await upload.done()).ETag.endsWith('-4"'));
  const got = await send(new GetObjectCommand(at("large")));
  assert.ok(Buffer.from(await got.Body.transformToByteArray()).equals(content));
  await expect(
    "NoSuchUpload",
    new UploadPartCommand({ ...at("large"), UploadId: "none", PartNumber: 1, Body: "x" }),
  );
  const given = new Upload({ client, params: { ...at("given-up"), Body: content } });
  given.on("httpUploadProgress", () => given.abort());
  await assert.rejects(given.done(), { name: "AbortError" });
  await expect("NoSuchKey", new GetObjectCommand(at("given-up")));
  await send(new DeleteObjectCommand(at("large")));
}

async function presigned() {
  // As it comes, the library signs the checksum of an empty body into links, which S3 then holds every body to.
  const client = new S3Client({ ...config, requestChecksumCalculation: "WHEN_REQUIRED" });
  const put = await getSignedUrl(client, new PutObjectCommand(at("link + more")), { expiresIn: 60 });
  assert.equal((await fetch(put, { method: "PUT", body: "linked" })).status, 200);
  const get = await getSignedUrl(client, new GetObjectCommand(at("link + more")), { expiresIn: 60 });
  assert.equal(await (await fetch(get)).text(), "linked");
  assert.equal((await fetch(get.replace("more", "less"))).status, 403);
  await send(new DeleteObjectCommand(at("link + more")));
}

async function buckets() {
  await send(new CreateBucketCommand({ Bucket: "made-by-node" }));
  await expect("BucketAlreadyOwnedByYou", new CreateBucketCommand({ Bucket: "made-by-node" }));
  assert.ok((await send(new ListBucketsCommand({}))).Buckets.some(({ Name }) => Name === "made-by-node"));
  assert.equal((await send(new HeadBucketCommand({ Bucket: "made-by-node" }))).BucketRegion, "us-east-1");
  await send(new DeleteBucketCommand({ Bucket: "made-by-node" }));
  await expect("NotFound", new HeadBucketCommand({ Bucket: "made-by-node" }));
}

await objects();
await parts();
await presigned();
await buckets();
const left = await send(new ListObjectsCommand({ Bucket, Prefix: `${prefix}node/` }));
assert.equal(left.Contents, undefined);
console.log("all done");
