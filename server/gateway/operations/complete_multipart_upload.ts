/** CompleteMultipartUpload. */

import type { S3Call, S3Operation } from "../call.ts";
import { writeConditions } from "../conditions.ts";
import { urlEncoded } from "../encoding.ts";
import { checksumElement, checksumOfNotes } from "../multipart/checksum.ts";
import { Completion } from "../multipart/completion.ts";
import { branchOf, uploadPlace, uploadsOf } from "../multipart/place.ts";
import { answerSlowly, type SlowDocument } from "../multipart/slow_answer.ts";
import { etagOf } from "../../etag.ts";
import { noteWrite } from "../writes.ts";
import { textElement } from "../xml.ts";

const MOST_BYTES = 8 * 1024 * 1024;

export const completeMultipartUpload: S3Operation = async (call) => {
  const { request, peer } = call;
  const completion = new Completion(await request.wholeBody(MOST_BYTES), request.headers);
  peer.keepOpen();
  return await answerSlowly(call, (own) => complete(own, completion));
};

async function complete(call: S3Call, completion: Completion): Promise<SlowDocument> {
  const { request, context } = call;
  const { headers, bucket, key } = request;
  const uploads = uploadsOf(call), place = await uploadPlace(call);
  await noteWrite(call, branchOf(place));
  const { stats, note } = await uploads.complete(place, completion.parts, {
    ...writeConditions(headers),
    durability: context.durability,
    async judge(parts, { notes }) {
      const checksum = checksumOfNotes(notes);
      return `${checksum.algorithm} ${checksum.type} ${await completion.judge(parts, checksum)}`;
    },
  });
  const [algorithm, type, value] = note.split(" ");
  return {
    root: "CompleteMultipartUploadResult",
    content: textElement("Location", locationOf(headers, `${bucket}/${key}`)) +
      textElement("Bucket", bucket) +
      textElement("Key", key) +
      textElement("ETag", etagOf(stats)) +
      checksumElement(algorithm as Parameters<typeof checksumElement>[0], value) +
      textElement("ChecksumType", type),
  };
}

function locationOf(headers: Headers, path: string): string {
  return `http://${headers.get("host") ?? "localhost"}/${urlEncoded(path)}`;
}
