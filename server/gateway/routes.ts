/** Which operation a request is for: told by its method, by whether it names a key, and by its subresource. */

import { invalidArgument } from "./encoding.ts";
import { S3Error } from "./errors.ts";
import type { S3Request } from "./request.ts";

export type S3OperationName =
  | "ListBuckets"
  | "CreateBucket"
  | "DeleteBucket"
  | "HeadBucket"
  | "ListObjects"
  | "ListObjectsV2"
  | "ListObjectVersions"
  | "GetBucketSubresource"
  | "PutBucketSubresource"
  | "DeleteBucketSubresource"
  | "GetBucketTagging"
  | "PutBucketTagging"
  | "DeleteBucketTagging"
  | "DeleteObjects"
  | "GetObject"
  | "HeadObject"
  | "GetObjectAttributes"
  | "GetObjectSubresource"
  | "PutObjectSubresource"
  | "GetObjectTagging"
  | "PutObjectTagging"
  | "DeleteObjectTagging"
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

/** Returns the operation of a request. Fails with `NotImplemented`, `MethodNotAllowed`, `InvalidArgument`, `InvalidRequest`. */
export function operationOf(request: Routed): S3OperationName {
  const { method, bucket, key, headers } = request;
  const source = headers.get("x-amz-copy-source");
  if (source !== null && (method !== "PUT" || key === undefined)) {
    const why = "You can only specify a copy source header for copy requests.";
    throw invalidArgument("x-amz-copy-source", source, why);
  }
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
  const named = OF_BUCKETS[`${method} ${subresource}`];
  if (named) return named;
  switch (method) {
    case "GET":
      if (subresource !== "") return "GetBucketSubresource";
      return query.get("list-type") === "2" ? "ListObjectsV2" : "ListObjects";
    case "HEAD":
      return subresource === "" ? "HeadBucket" : undefined;
    case "PUT":
      return subresource === "" ? "CreateBucket" : "PutBucketSubresource";
    case "DELETE":
      return subresource === "" ? "DeleteBucket" : "DeleteBucketSubresource";
  }
  return undefined;
}

const OF_BUCKETS: Readonly<Record<string, S3OperationName>> = {
  "DELETE tagging": "DeleteBucketTagging",
  "GET tagging": "GetBucketTagging",
  "GET uploads": "ListMultipartUploads",
  "GET versions": "ListObjectVersions",
  "POST delete": "DeleteObjects",
  "PUT acl": "PutAcl",
  "PUT tagging": "PutBucketTagging",
};

function objectOperation(request: Routed): S3OperationName | undefined {
  const { method, headers } = request;
  const subresource = subresourceOf(request);
  checkParameters(request, subresource);
  const named = OF_OBJECTS[`${method} ${subresource}`.trimEnd()];
  if (named) {
    if (!headers.has("x-amz-copy-source")) return named;
    return named === "PutObject" ? "CopyObject" : named === "UploadPart" ? "UploadPartCopy" : named;
  }
  if (method === "GET") return "GetObjectSubresource";
  return method === "PUT" ? "PutObjectSubresource" : undefined;
}

const OF_OBJECTS: Readonly<Record<string, S3OperationName>> = {
  DELETE: "DeleteObject",
  "DELETE tagging": "DeleteObjectTagging",
  "DELETE uploadId": "AbortMultipartUpload",
  GET: "GetObject",
  "GET attributes": "GetObjectAttributes",
  "GET tagging": "GetObjectTagging",
  "GET uploadId": "ListParts",
  HEAD: "HeadObject",
  "POST uploadId": "CompleteMultipartUpload",
  "POST uploads": "CreateMultipartUpload",
  PUT: "PutObject",
  "PUT acl": "PutAcl",
  "PUT tagging": "PutObjectTagging",
  "PUT uploadId": "UploadPart",
};

/** Refuses what was meant for a part of an upload, or for a bucket, and would do something else. */
function checkParameters({ method, query }: Routed, subresource: string): void {
  if (method === "PUT" && query.has("partNumber") !== (subresource === "uploadId")) {
    if (subresource === "uploadId") throw new S3Error("MethodNotAllowed");
    const why = "This operation does not accept partNumber without uploadId";
    throw invalidArgument("partNumber", query.get("partNumber")!, why);
  }
  if (method === "GET" && subresource === "uploads") {
    throw new S3Error("InvalidRequest", "Key is not expected for the GET method ?uploads subresource");
  }
  if (method === "GET" && subresource === "versions") {
    throw new S3Error("InvalidRequest", "There is no such thing as the ?versions sub-resource for a key");
  }
}
