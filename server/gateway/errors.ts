/** Errors of the S3 gateway: S3's own codes with S3's statuses. */

import { CodedError, type CodedErrorOptions, type ErrorKind } from "../../base/errors.ts";

/** A failure by S3's name of it. Its code is S3's, which clients know; its message is for people. */
export class S3Error extends CodedError {
  readonly status: number;

  constructor(code: S3ErrorCode, message?: string, options?: CodedErrorOptions) {
    const [status, usual] = S3_ERRORS[code];
    super(kindOf(status), code, message ?? usual, options);
    this.name = "S3Error";
    this.status = status;
  }
}

/** The codes that are answered, each with its status and what is said when nothing better is known. */
export const S3_ERRORS = {
  AccessControlListNotSupported: [400, "The bucket does not allow ACLs."],
  AccessDenied: [403, "Access Denied."],
  AuthorizationHeaderMalformed: [400, "The authorization header is malformed"],
  AuthorizationQueryParametersError: [400, "Error parsing the X-Amz-Credential parameter"],
  BadDigest: [400, "The Content-MD5 you specified did not match what we received."],
  BadRequest: [400, "Bad Request"],
  BucketAlreadyOwnedByYou: [
    409,
    "Your previous request to create the named bucket succeeded and you already own it.",
  ],
  BucketNotEmpty: [409, "The bucket you tried to delete is not empty."],
  EntityTooLarge: [400, "The upload exceeds the largest allowed size"],
  EntityTooSmall: [400, "Your proposed upload is smaller than the minimum allowed size"],
  IncompleteBody: [400, "The request body terminated unexpectedly"],
  InternalError: [500, "We encountered an internal error. Please try again."],
  InvalidAccessKeyId: [403, "The AWS Access Key Id you provided does not exist in our records."],
  InvalidArgument: [400, "Invalid Argument"],
  InvalidBucketName: [400, "The specified bucket is not valid."],
  InvalidBucketAclWithObjectOwnership: [
    400,
    "Bucket cannot have ACLs set with ObjectOwnership's BucketOwnerEnforced setting",
  ],
  InvalidChunkSizeError: [400, "Only the last chunk is allowed to have a size less than 8192 bytes"],
  InvalidDigest: [400, "The Content-Md5 you specified is not valid."],
  InvalidPart: [
    400,
    "One or more of the specified parts could not be found.  The part may not have been uploaded, or the specified entity tag may not match the part's entity tag.",
  ],
  InvalidPartNumber: [416, "The requested partnumber is not satisfiable."],
  InvalidPartOrder: [
    400,
    "The list of parts was not in ascending order. Parts must be ordered by part number.",
  ],
  InvalidRange: [416, "The requested range is not satisfiable"],
  InvalidRedirectLocation: [
    400,
    "The website redirect location must have a prefix of 'http://' or 'https://' or '/'.",
  ],
  InvalidRequest: [400, "Invalid Request"],
  InvalidStorageClass: [400, "The storage class you specified is not valid."],
  InvalidTag: [400, "The tag provided was not a valid tag."],
  InvalidToken: [400, "The provided token is malformed or otherwise invalid."],
  InvalidURI: [400, "Could not parse the specified URI"],
  KeyTooLongError: [400, "Your key is too long."],
  MalformedTrailerError: [
    400,
    "The request contained trailing data that was not well-formed or did not conform to our published schema.",
  ],
  MalformedXML: [
    400,
    "The XML you provided was not well-formed or did not validate against our published schema.",
  ],
  MaxMessageLengthExceeded: [400, "Your request was too big"],
  MetadataTooLarge: [400, "Your metadata headers exceed the maximum allowed metadata size"],
  MethodNotAllowed: [405, "The specified method is not allowed against this resource."],
  MissingContentLength: [411, "You must provide the Content-Length HTTP header."],
  MissingSecurityHeader: [400, "Your request is missing a required header"],
  NoSuchBucket: [404, "The specified bucket does not exist."],
  NoSuchBucketPolicy: [404, "The bucket policy does not exist."],
  NoSuchCORSConfiguration: [404, "The CORS configuration does not exist"],
  NoSuchKey: [404, "The specified key does not exist."],
  NoSuchLifecycleConfiguration: [404, "The lifecycle configuration does not exist"],
  NoSuchObjectLockConfiguration: [404, "The specified object does not have an ObjectLock configuration"],
  NoSuchPublicAccessBlockConfiguration: [404, "The public access block configuration was not found"],
  NoSuchTagSet: [404, "The TagSet does not exist"],
  NoSuchUpload: [
    404,
    "The specified multipart upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed.",
  ],
  NoSuchVersion: [404, "The specified version does not exist"],
  NoSuchWebsiteConfiguration: [404, "The specified bucket does not have a website configuration"],
  NotImplemented: [501, "A header you provided implies functionality that is not implemented."],
  NotModified: [304, "Not Modified"],
  ObjectLockConfigurationNotFoundError: [404, "Object Lock configuration does not exist for this bucket"],
  OwnershipControlsNotFoundError: [404, "The bucket ownership controls were not found"],
  PreconditionFailed: [412, "At least one of the pre-conditions you specified did not hold."],
  ReplicationConfigurationNotFoundError: [404, "The replication configuration was not found"],
  RequestTimeTooSkewed: [403, "The difference between the request time and the current time is too large."],
  RequestTimeout: [400, "Your socket connection to the server was not read from or written to in time"],
  ServerSideEncryptionConfigurationNotFoundError: [
    404,
    "The server side encryption configuration was not found",
  ],
  ServiceUnavailable: [503, "Please reduce your request rate"],
  SignatureDoesNotMatch: [
    403,
    "The request signature we calculated does not match the signature you provided. Check your key and signing method.",
  ],
  SlowDown: [503, "Please reduce your request rate"],
  XAmzContentSHA256Mismatch: [
    400,
    "The provided 'x-amz-content-sha256' header does not match what was computed.",
  ],
} as const satisfies Record<string, readonly [status: number, message: string]>;

export type S3ErrorCode = keyof typeof S3_ERRORS;

function kindOf(status: number): ErrorKind {
  switch (status) {
    case 403:
      return "forbidden";
    case 404:
      return "not_found";
    case 409:
      return "conflict";
    case 412:
      return "precondition";
    case 500:
      return "internal";
    case 501:
      return "unsupported";
    case 503:
      return "unavailable";
    default:
      return "invalid";
  }
}
