/** The operations that are built, by name; the others answer NotImplemented. A new one is one line here. */

import type { S3Operation } from "../call.ts";
import type { S3OperationName } from "../routes.ts";
import { getObject, headObject } from "./get_object.ts";
import { listObjects, listObjectsV2 } from "./list_objects.ts";
import { putObject } from "./put_object.ts";

export const S3_OPERATIONS: Partial<Readonly<Record<S3OperationName, S3Operation>>> = {
  GetObject: getObject,
  HeadObject: headObject,
  ListObjects: listObjects,
  ListObjectsV2: listObjectsV2,
  PutObject: putObject,
};
