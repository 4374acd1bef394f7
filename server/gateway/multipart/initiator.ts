/** Who started an upload, as S3's documents tell it. */

import { textElement } from "../xml.ts";

export function initiator(user: string): string {
  return `<Initiator>${textElement("ID", user)}${textElement("DisplayName", user)}</Initiator>`;
}
