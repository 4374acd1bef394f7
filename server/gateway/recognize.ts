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

import { hostOfHeader, isLoopbackHost } from "../addresses.ts";

const QUERY = /[?&](?:x-amz-|awsaccesskeyid=)/i;
const HEADERS = ["x-amz-date", "x-amz-content-sha256", "amz-sdk-invocation-id"] as const;

/** Whether the gateway answers a request; `hosts` are the server's own names. */
export function isS3Request({ headers, url }: Request, hosts: ReadonlySet<string>): boolean {
  const authorization = headers.get("authorization");
  if (authorization !== null) return authorization.startsWith("AWS");
  return QUERY.test(url) || HEADERS.some((name) => headers.has(name)) ||
    isBucketHost(hostOfHeader(headers.get("host")), hosts);
}

function isBucketHost(host: string | undefined, hosts: ReadonlySet<string>): boolean {
  if (host === undefined || hosts.has(host) || isLoopbackHost(host)) return false;
  // The names of buckets may have dots in them, and so may ours.
  for (let dot = host.indexOf("."); dot >= 0; dot = host.indexOf(".", dot + 1)) {
    const base = host.slice(dot + 1);
    if (dot > 0 && (hosts.has(base) || base === "localhost")) return true;
  }
  return false;
}
