/** AbortMultipartUpload. */

import type { S3Operation } from "../call.ts";
import { S3Error } from "../errors.ts";
import { uploadPlace, uploadsOf } from "../multipart/place.ts";

export const abortMultipartUpload: S3Operation = async (call) => {
  const { request, context, peer } = call;
  const uploads = uploadsOf(call), place = await uploadPlace(call);
  const wanted = Date.parse(request.headers.get("x-amz-if-match-initiated-time") ?? "");
  // A time that has not come yet is passed over, as S3 does.
  if (wanted <= context.clock.now()) {
    const { startedMs } = await uploads.get(place);
    if (Math.floor(startedMs / 1000) !== Math.floor(wanted / 1000)) throw new S3Error("PreconditionFailed");
  }
  peer.keepOpen();
  await uploads.abort(place);
  return new Response(null, { status: 204 });
};
