/** The credential that a signature names: `ACCESS-KEY/20130524/us-east-1/s3/aws4_request`. */

import type { S3Error } from "../errors.ts";
import { isDay } from "./times.ts";

export interface Credential {
  readonly accessKeyId: string;
  /** The day as `20130524`. */
  readonly date: string;
  /** Any: we have none. */
  readonly region: string;
}

/** Parses a credential; `fail` makes the error for what is wrong with it. */
export function parseCredential(text: string, fail: (why: string) => S3Error): Credential {
  const parts = text.split("/");
  // No access key has a "/" in it.
  if (parts.length !== 5) {
    throw fail('the Credential is mal-formed; expecting "<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/aws4_request".');
  }
  const [accessKeyId, date, region, service, terminal] = parts as [string, string, string, string, string];
  if (terminal !== "aws4_request") {
    throw fail(`incorrect terminal "${terminal}". This endpoint uses "aws4_request".`);
  }
  if (service !== "s3") throw fail(`incorrect service "${service}". This endpoint belongs to "s3".`);
  if (!isDay(date)) {
    throw fail(
      `incorrect date format "${date}". This date in the credential must be in the format "yyyyMMdd".`,
    );
  }
  return { accessKeyId, date, region };
}
