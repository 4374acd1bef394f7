/** The operations that are built, by name; the others answer NotImplemented. A new one is one line here. */

import type { S3Operation } from "../call.ts";
import type { S3OperationName } from "../routes.ts";

export const S3_OPERATIONS: Partial<Readonly<Record<S3OperationName, S3Operation>>> = {};
