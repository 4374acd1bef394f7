/** CreateMultipartUpload. */

import type { S3Operation } from "../call.ts";
import { askedChecksum, notesOf, uploadHeaders } from "../multipart/checksum.ts";
import { uploadsOf } from "../multipart/place.ts";
import { writtenHeaders } from "../object_headers.ts";
import { objectPlace } from "../places.ts";
import { checkWrite } from "../writes.ts";
import { textElement, xmlResponse } from "../xml.ts";

export const createMultipartUpload: S3Operation = async (call) => {
  const { request } = call;
  const { headers, bucket, key, user } = request;
  checkWrite(call);
  const checksum = askedChecksum(headers);
  const { repository, ref, path } = await objectPlace(call);
  const { id } = await uploadsOf(call).start(repository, ref, path, {
    ...writtenHeaders(headers),
    who: user,
    notes: notesOf(checksum),
  });
  return xmlResponse(
    "InitiateMultipartUploadResult",
    textElement("Bucket", bucket) + textElement("Key", key) + textElement("UploadId", id),
    uploadHeaders(checksum),
  );
};
