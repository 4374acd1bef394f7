/** UploadPart. */

import type { S3Operation } from "../call.ts";
import { S3Error } from "../errors.ts";
import {
  checksumHeaders,
  checksumOfNotes,
  notedChecksums,
  type UploadChecksum,
} from "../multipart/checksum.ts";
import { MAX_PART_BYTES, partNumber, uploadPlace, uploadsOf } from "../multipart/place.ts";
import type { S3Request } from "../request.ts";
import { checkWrite } from "../writes.ts";

export const uploadPart: S3Operation = async (call) => {
  const { request, context, peer } = call;
  checkWrite(call);
  const number = partNumber(call);
  if ((request.bodyBytes ?? 0) > MAX_PART_BYTES) throw new S3Error("EntityTooLarge");
  const place = await uploadPlace(call);
  const upload = checksumOfNotes((await uploadsOf(call).get(place)).notes);
  checkAlgorithm(upload, request);
  const computed = request.computeChecksum(upload.algorithm), sent = request.checksum;
  const part = await uploadsOf(call).putPart(place, number, await request.content(), {
    durability: context.durability,
    sizeBytes: request.bodyBytes,
    note() {
      // All has arrived, and may take its time to be durable.
      peer.keepOpen();
      return notedChecksums({
        [computed.algorithm]: computed.value(),
        ...(sent ? { [sent.algorithm]: sent.value() } : {}),
      });
    },
  });
  const told = sent ?? (upload.isAsked ? computed : undefined);
  return new Response(null, {
    status: 200,
    headers: {
      etag: `"${part.checksum}"`,
      ...(told ? checksumHeaders(told.algorithm, told.value()) : {}),
    },
  });
};

/** An upload that was started with a checksum takes no part with another one, and a composed one none without. */
function checkAlgorithm({ algorithm, type, isAsked }: UploadChecksum, { checksum }: S3Request): void {
  if (!isAsked || checksum?.algorithm === algorithm) return;
  if (!checksum && type === "FULL_OBJECT") return;
  throw new S3Error(
    "InvalidRequest",
    `Checksum Type mismatch occurred, expected checksum Type: ${algorithm}, ` +
      `actual checksum Type: ${checksum?.algorithm ?? "null"}`,
  );
}
