/** PutObject. */

import type { S3Operation } from "../call.ts";
import { writeConditions } from "../conditions.ts";
import { etagOf } from "../../etag.ts";
import { writtenHeaders } from "../object_headers.ts";
import { objectPlace } from "../places.ts";
import { checkWrite, openWriter } from "../writes.ts";

export const putObject: S3Operation = async (call) => {
  const { request, peer } = call;
  const { headers } = request;
  checkWrite(call);
  const conditions = writeConditions(headers);
  const place = await objectPlace(call);
  const writer = await openWriter(call, place);
  // As S3 has it: an object whose client sent no checksum gets this one.
  const checksum = request.checksum ?? request.computeChecksum("CRC64NVME");
  const stats = await writer.put(place.path, await request.content(), {
    ...writtenHeaders(headers),
    ...conditions,
  });
  // All has arrived, and may take its time to be durable.
  peer.keepOpen();
  await writer.close();
  const answer = {
    etag: etagOf(stats),
    [checksum.header]: checksum.value(),
    "x-amz-checksum-type": "FULL_OBJECT",
  };
  return new Response(null, { status: 200, headers: answer });
};
