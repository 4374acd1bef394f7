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
  AccessDenied: [403, "Access Denied"],
  AuthorizationHeaderMalformed: [400, "The authorization header is malformed"],
  AuthorizationQueryParametersError: [400, "Error parsing the X-Amz-Credential parameter"],
  BadDigest: [400, "The Content-MD5 or checksum that was given does not match what was received"],
  EntityTooLarge: [400, "The upload exceeds the largest allowed size"],
  IncompleteBody: [400, "The request ended before the number of bytes that it declares"],
  InternalError: [500, "We encountered an internal error. Please try again."],
  InvalidAccessKeyId: [403, "The access key Id you provided does not exist in our records"],
  InvalidArgument: [400, "Invalid Argument"],
  InvalidDigest: [400, "The Content-MD5 or checksum value that you specified is not valid"],
  InvalidRequest: [400, "Invalid Request"],
  InvalidToken: [400, "The provided token is malformed or otherwise invalid"],
  InvalidURI: [400, "Could not parse the specified URI"],
  MalformedTrailerError: [400, "The request contained trailing data that was not well-formed"],
  MaxMessageLengthExceeded: [400, "Your request was too big"],
  MissingContentLength: [411, "You must provide the Content-Length HTTP header"],
  MissingSecurityHeader: [400, "Your request is missing a required header"],
  NotImplemented: [501, "A header or query you provided implies functionality that is not implemented"],
  RequestTimeTooSkewed: [403, "The difference between the request time and the current time is too large"],
  RequestTimeout: [400, "Your socket connection to the server was not read from or written to in time"],
  SignatureDoesNotMatch: [
    403,
    "The request signature we calculated does not match the signature you provided. Check your key and signing method.",
  ],
  SlowDown: [503, "Please reduce your request rate"],
  XAmzContentSHA256Mismatch: [
    400,
    "The provided 'x-amz-content-sha256' header does not match what was computed",
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
