/** ListParts. */

import type { PartInfo } from "../../../drivers/store.ts";
import type { S3Operation } from "../call.ts";
import { countOf, invalidArgument } from "../encoding.ts";
import {
  checksumElement,
  checksumOfNotes,
  partChecksums,
  type UploadChecksum,
} from "../multipart/checksum.ts";
import { initiator } from "../multipart/initiator.ts";
import { uploadPlace, uploadsOf } from "../multipart/place.ts";
import { OWNER } from "../owner.ts";
import type { S3Query } from "../request.ts";
import { textElement, xmlResponse, xmlTime } from "../xml.ts";

const MAX_PARTS = 1000;

export const listParts: S3Operation = async (call) => {
  const { query, bucket, key } = call.request;
  const most = countOf(query, "max-parts", { most: MAX_PARTS }), after = markerOf(query);
  const uploads = uploadsOf(call), place = await uploadPlace(call);
  const { id, who, notes } = await uploads.get(place);
  const checksum = checksumOfNotes(notes);
  const parts: PartInfo[] = [];
  for await (const page of uploads.parts(place, { after })) {
    parts.push(...page);
    if (parts.length > most) break;
  }
  const isTruncated = most > 0 && parts.length > most;
  const shown = parts.slice(0, most);
  return xmlResponse(
    "ListPartsResult",
    textElement("Bucket", bucket) + textElement("Key", key) + textElement("UploadId", id) +
      initiator(who) + OWNER +
      textElement("StorageClass", "STANDARD") +
      textElement("PartNumberMarker", after) +
      (isTruncated ? textElement("NextPartNumberMarker", shown.at(-1)!.number) : "") +
      textElement("MaxParts", most) +
      textElement("IsTruncated", isTruncated) +
      // Of what was not asked for S3 says just this.
      textElement("ChecksumAlgorithm", checksum.isAsked ? checksum.algorithm : "null") +
      textElement("ChecksumType", checksum.isAsked ? checksum.type : "null") +
      shown.map((part) => partElement(part, checksum)).join(""),
  );
};

function partElement(part: PartInfo, { algorithm, isAsked }: UploadChecksum): string {
  const content = textElement("PartNumber", part.number) +
    textElement("LastModified", xmlTime(part.storedMs)) +
    textElement("ETag", `"${part.checksum}"`) +
    textElement("Size", part.sizeBytes) +
    (isAsked ? checksumElement(algorithm, partChecksums(part)[algorithm]) : "");
  return `<Part>${content}</Part>`;
}

function markerOf(query: S3Query): number {
  const name = "part-number-marker", text = query.get(name) ?? "";
  if (/^[0-9]{0,10}$/.test(text) && Number(text) < 2 ** 31) return Number(text);
  const why = /^-[0-9]+$/.test(text)
    ? `Argument ${name} must be an integer between 0 and 2147483647`
    : `Provided ${name} not an integer or within integer range`;
  throw invalidArgument(name, text, why);
}
