/** UploadPartCopy: inside a repository no bytes are written. */

import type { ByteRange } from "../../../drivers/object_store.ts";
import type { ObjectStats } from "../../../drivers/store.ts";
import type { S3Call, S3Operation } from "../call.ts";
import { checkRead, OF_SOURCE } from "../conditions.ts";
import { copySourceOf } from "../copy_source.ts";
import { invalidArgument } from "../encoding.ts";
import { S3Error } from "../errors.ts";
import { checksumElement, checksumOfNotes, notedChecksums, partChecksums } from "../multipart/checksum.ts";
import { MAX_PART_BYTES, partNumber, uploadPlace, uploadsOf } from "../multipart/place.ts";
import { answerSlowly, type SlowDocument } from "../multipart/slow_answer.ts";
import { startChecksum } from "../payload/checksums.ts";
import { placeOf } from "../places.ts";
import { checkWrite } from "../writes.ts";
import { textElement, xmlTime } from "../xml.ts";

const RANGE = "x-amz-copy-source-range";

export const uploadPartCopy: S3Operation = async (call) => {
  call.peer.keepOpen();
  return await answerSlowly(call, copy);
};

async function copy(call: S3Call): Promise<SlowDocument> {
  const { request, context } = call;
  const { headers, signal } = request;
  checkWrite(call);
  const number = partNumber(call);
  const uploads = uploadsOf(call), place = await uploadPlace(call);
  const name = copySourceOf(headers), range = sourceRange(headers);
  const { repository, ref, path } = await placeOf(call, name.bucket, name.key);
  const { algorithm, isAsked } = checksumOfNotes((await uploads.get(place)).notes);
  const running = await startChecksum(algorithm);
  const source = {
    repository,
    ref,
    path,
    ...(range ? { range } : {}),
    check(stats: ObjectStats) {
      checkRead(headers, stats, OF_SOURCE);
      checkSize(stats, range);
    },
  };
  const { part } = await uploads.copyPart(place, number, source, {
    durability: context.durability,
    signal,
    watch: {
      update: (piece) => running.update(piece),
      note: () => notedChecksums({ [algorithm]: running.base64() }),
    },
  });
  return {
    root: "CopyPartResult",
    content: textElement("LastModified", xmlTime(part.storedMs)) +
      textElement("ETag", `"${part.checksum}"`) +
      (isAsked ? checksumElement(algorithm, partChecksums(part)[algorithm]) : ""),
  };
}

function sourceRange(headers: Headers): Required<ByteRange> | undefined {
  const text = headers.get(RANGE);
  if (text === null) return undefined;
  const [, first, last] = /^bytes=([0-9]{1,15})-([0-9]{1,15})$/.exec(text) ?? [];
  const start = Number(first), end = Number(last);
  if (start <= end) return { start, end };
  throw invalidArgument(
    RANGE,
    text,
    `The ${RANGE} value must be of the form bytes=first-last where first and last are the zero-based offsets of the ` +
      "first and last bytes to copy",
  );
}

function checkSize({ sizeBytes }: ObjectStats, range: Required<ByteRange> | undefined): void {
  if (range && range.end >= sizeBytes) {
    throw invalidArgument(
      RANGE,
      String(sizeBytes),
      `Range specified is not valid for source object of size: ${sizeBytes}`,
    );
  }
  const length = range ? range.end - range.start + 1 : sizeBytes;
  if (length <= MAX_PART_BYTES) return;
  throw new S3Error(
    "InvalidRequest",
    `The specified copy source is larger than the maximum allowable size for a copy source: ${MAX_PART_BYTES}`,
  );
}
