/**
 * Which requests are S3's. The API, the page and the gateway share one port, and their paths may look alike: a bucket may be
 * named `api`. So a request is S3's if it says so, by what no other client of ours sends, whatever its path:
 *
 * - it is signed in S3's way, in a header (`Authorization: AWS…`) or in its query (`X-Amz-…`);
 * - or it has a header that S3's clients put on requests they do not sign (`x-amz-…`, `amz-sdk-…`);
 * - or its `Host` is that of a bucket: a name, a dot, and a name of ours.
 *
 * All else goes to the app, which answers a path it does not know with 404 and JSON. An S3 request without a signature is
 * refused by the gateway.
 */

import { ownHost } from "./target.ts";

const QUERY = /[?&](?:x-amz-|awsaccesskeyid=)/i;
const API_SCHEMES = /^(?:basic|bearer) /i;
const HEADERS = ["x-amz-date", "x-amz-content-sha256", "amz-sdk-invocation-id"] as const;

/** Whether the gateway answers a request; `hosts` are the server's own names. */
export function isS3Request({ headers, url }: Request, hosts: ReadonlySet<string>): boolean {
  const authorization = headers.get("authorization") ?? "";
  if (API_SCHEMES.test(authorization)) return false;
  return authorization.startsWith("AWS") || QUERY.test(url) || HEADERS.some((name) => headers.has(name)) ||
    ownHost(headers.get("host"), hosts)?.bucket !== undefined;
}
