/** Who S3's documents say owns everything: whoever keeps the home. Who may do what is told by users, not by owners. */

import { S3Error } from "./errors.ts";
import { textElement } from "./xml.ts";

export const OWNER_ID = "tarn";

/** The owner as XML. */
export const OWNER: string = `<Owner>${textElement("ID", OWNER_ID)}${
  textElement("DisplayName", OWNER_ID)
}</Owner>`;

/** Who names the owner that a bucket should have would rather fail than use another's. Fails with `AccessDenied`. */
export function checkOwner(expected: string | null): void {
  if (expected !== null && expected !== OWNER_ID) throw new S3Error("AccessDenied");
}
