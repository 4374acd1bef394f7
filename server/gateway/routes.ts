/** Which operation a request is for: told by its method, by whether it names a key, and by its subresource. */

import { S3Error } from "./errors.ts";
import type { S3Request } from "./request.ts";

export type S3OperationName =
  | "ListBuckets"
  | "CreateBucket"
  | "DeleteBucket"
  | "HeadBucket"
  | "ListObjects"
  | "ListObjectsV2"
  | "GetBucketSubresource"
  | "DeleteObjects"
  | "GetObject"
  | "HeadObject"
  | "GetObjectAttributes"
  | "GetObjectSubresource"
  | "PutAcl"
  | "PutObject"
  | "CopyObject"
  | "DeleteObject"
  | "CreateMultipartUpload"
  | "UploadPart"
  | "UploadPartCopy"
  | "CompleteMultipartUpload"
  | "AbortMultipartUpload"
  | "ListParts"
  | "ListMultipartUploads";

/** What of a request says what it is for. */
export type Routed = Pick<S3Request, "method" | "bucket" | "key" | "query" | "headers">;

/** What S3 keeps beside buckets and objects under a name in the query. */
export const SUBRESOURCES: ReadonlySet<string> = new Set([
  "accelerate",
  "acl",
  "analytics",
  "attributes",
  "cors",
  "delete",
  "encryption",
  "intelligent-tiering",
  "inventory",
  "legal-hold",
  "lifecycle",
  "location",
  "logging",
  "metadataConfiguration",
  "metadataInventoryTable",
  "metadataJournalTable",
  "metadataTable",
  "metrics",
  "notification",
  "object-lock",
  "ownershipControls",
  "policy",
  "policyStatus",
  "publicAccessBlock",
  "renameObject",
  "replication",
  "requestPayment",
  "restore",
  "retention",
  "select",
  "session",
  "tagging",
  "torrent",
  "uploadId",
  "uploads",
  "versioning",
  "versions",
  "website",
]);

/** Returns the subresource that a request names; `""` when it is for the bucket or object itself. */
export function subresourceOf({ query }: Routed): string {
  for (const [name] of query.entries) if (SUBRESOURCES.has(name)) return name;
  return "";
}

/** Returns the operation of a request. Fails with `NotImplemented`, `MethodNotAllowed`. */
export function operationOf(request: Routed): S3OperationName {
  const { bucket, key } = request;
  const found = bucket === undefined
    ? serviceOperation(request)
    : key === undefined
    ? bucketOperation(request)
    : objectOperation(request);
  if (found) return found;
  throw new S3Error(subresourceOf(request) === "" ? "MethodNotAllowed" : "NotImplemented");
}

function serviceOperation({ method }: Routed): S3OperationName | undefined {
  return method === "GET" || method === "HEAD" ? "ListBuckets" : undefined;
}

function bucketOperation(request: Routed): S3OperationName | undefined {
  const { method, query } = request;
  const subresource = subresourceOf(request);
  if (method === "GET" && subresource === "uploads") return "ListMultipartUploads";
  if (method === "GET" && subresource !== "") return "GetBucketSubresource";
  if (method === "POST" && subresource === "delete") return "DeleteObjects";
  if (method === "PUT" && subresource === "acl") return "PutAcl";
  if (subresource !== "") return undefined;
  switch (method) {
    case "GET":
      return query.get("list-type") === "2" ? "ListObjectsV2" : "ListObjects";
    case "HEAD":
      return "HeadBucket";
    case "PUT":
      return "CreateBucket";
    case "DELETE":
      return "DeleteBucket";
  }
  return undefined;
}

function objectOperation(request: Routed): S3OperationName | undefined {
  const { method, query, headers } = request;
  const isCopy = headers.has("x-amz-copy-source");
  switch (`${method} ${subresourceOf(request)}`.trimEnd()) {
    case "GET":
      return "GetObject";
    case "HEAD":
      return "HeadObject";
    case "PUT":
      return isCopy ? "CopyObject" : "PutObject";
    case "DELETE":
      return "DeleteObject";
    case "GET uploadId":
      return "ListParts";
    case "GET attributes":
      return "GetObjectAttributes";
    case "PUT acl":
      return "PutAcl";
    case "PUT uploadId":
      if (!query.has("partNumber")) return undefined;
      return isCopy ? "UploadPartCopy" : "UploadPart";
    case "POST uploads":
      return "CreateMultipartUpload";
    case "POST uploadId":
      return "CompleteMultipartUpload";
    case "DELETE uploadId":
      return "AbortMultipartUpload";
  }
  return method === "GET" ? "GetObjectSubresource" : undefined;
}
