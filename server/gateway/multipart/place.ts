/** What requests to uploads in parts name: the upload, and the part. */

import { MAX_PART_NUMBER, type UploadPlace, type Uploads } from "../../../drivers/store.ts";
import type { ObjectPlace } from "../../downloads.ts";
import type { S3Call } from "../call.ts";
import { invalidArgument } from "../encoding.ts";
import { S3Error } from "../errors.ts";
import { objectPlace } from "../places.ts";

export const MAX_PART_BYTES = 5 * 1024 ** 3;

/** Returns the store's uploads. Fails with `NotImplemented`. */
export function uploadsOf({ store }: S3Call): Uploads {
  if (store.uploads) return store.uploads;
  throw new S3Error("NotImplemented", "Uploads in parts are not built for this store");
}

/** Returns the upload that a request is for. Fails with `NoSuchBucket`, `NoSuchKey`. */
export async function uploadPlace(call: S3Call): Promise<UploadPlace> {
  const { repository, ref, path } = await objectPlace(call);
  return { repository, branch: ref, path, id: call.request.query.get("uploadId") ?? "" };
}

/** Returns the part that a request is for. Fails with `InvalidArgument`. */
export function partNumber({ request }: S3Call): number {
  const text = request.query.get("partNumber") ?? "";
  const number = /^[0-9]{1,5}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= MAX_PART_NUMBER) return number;
  throw invalidArgument(
    "partNumber",
    text,
    `Part number must be an integer between 1 and ${MAX_PART_NUMBER}, inclusive.`,
  );
}

/** Returns the branch of a place, as the functions for writing name it. */
export function branchOf({ repository, branch }: UploadPlace): Pick<ObjectPlace, "repository" | "ref"> {
  return { repository, ref: branch };
}
