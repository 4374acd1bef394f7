/** Who S3's documents say owns everything: whoever keeps the home. Who may do what is told by users, not by owners. */

import { textElement } from "./xml.ts";

export const OWNER_ID = "tarn";

/** The owner as XML. */
export const OWNER: string = `<Owner>${textElement("ID", OWNER_ID)}${
  textElement("DisplayName", OWNER_ID)
}</Owner>`;
