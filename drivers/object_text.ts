/** What may stand beside an object's bytes: text that can be sent in a header of HTTP. */

import { isWellFormed, utf8 } from "../base/bytes.ts";
import { CodedError } from "../base/errors.ts";
import { MAX_OBJECT_METADATA_BYTES } from "../base/limits.ts";

export interface ObjectText {
  readonly contentType?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/** Of the control characters HTTP has a tab in its headers, and no other. */
const CONTROL = /[\0-\x08\n-\x1f\x7f]/;
const CONTROL_OR_TAB = /[\0-\x1f\x7f]/;

/** Refuses what cannot be sent with an object. Fails with `invalid_content_type`, `invalid_metadata`, `limit_exceeded`. */
export function checkObjectText({ contentType = "", metadata = {} }: ObjectText): void {
  if (!isWellFormed(contentType)) throw invalidContentType(contentType, "it is not valid text");
  if (CONTROL.test(contentType)) throw invalidContentType(contentType, "it contains a control character");
  checkMetadata(metadata);
  for (const [name, value] of Object.entries(metadata)) {
    if (CONTROL_OR_TAB.test(name)) throw invalidMetadata(name, "its name contains a control character");
    if (CONTROL.test(value)) {
      throw invalidMetadata(name, "it contains a control character, such as a newline");
    }
  }
}

/** Refuses metadata that is too large or not text. Fails with `limit_exceeded`, `invalid_metadata`. */
export function checkMetadata(metadata: Readonly<Record<string, string>>): void {
  let size = 0;
  for (const [name, value] of Object.entries(metadata)) {
    if (!isWellFormed(name) || !isWellFormed(value)) throw invalidMetadata(name, "it is not valid text");
    size += utf8(name).length + utf8(value).length;
  }
  if (size > MAX_OBJECT_METADATA_BYTES) {
    throw new CodedError(
      "invalid",
      "limit_exceeded",
      `Cannot use metadata of ${size} bytes: at most ${MAX_OBJECT_METADATA_BYTES} are allowed for an object`,
    );
  }
}

function invalidContentType(contentType: string, why: string): CodedError {
  return new CodedError(
    "invalid",
    "invalid_content_type",
    `Cannot use the content type "${contentType}": ${why}`,
  );
}

function invalidMetadata(name: string, why: string): CodedError {
  return new CodedError("invalid", "invalid_metadata", `Cannot use metadata "${name}": ${why}`);
}
