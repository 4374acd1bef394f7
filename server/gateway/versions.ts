/** S3's versions of objects: there are none here, for history is in commits. */

import { S3Error } from "./errors.ts";
import type { S3Request } from "./request.ts";

export const ONLY_VERSION = "null";

/** Fails with `NoSuchVersion` when a request names any version but the only one. */
export function checkVersion({ query }: S3Request): void {
  checkVersionId(query.get("versionId"));
}

export function checkVersionId(version: string | undefined): void {
  if (version === undefined || version === "" || version === ONLY_VERSION) return;
  throw new S3Error(
    "NoSuchVersion",
    "There are no versions of objects: older ones are read through commits and tags",
  );
}
