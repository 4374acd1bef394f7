/** Names in a folder that only some disks tell apart: a put takes them, and whoever gets them may not be able to. */

import { type AlikeNames, toldApart } from "../../base/placement.ts";
import type { Messages } from "../messages.ts";
import { counted } from "../render/sizes.ts";

export class AlikeNotes {
  #first: AlikeNames | undefined;
  #last: AlikeNames | undefined;
  #count = 0;

  add(names: AlikeNames): void {
    // All that is in a folder comes with the folder's name.
    if (names.name === this.#last?.name && names.earlier === this.#last.earlier) return;
    this.#last = names;
    this.#first ??= names;
    this.#count++;
  }

  /** Says, in one line, which names they are. */
  tell(messages: Messages): void {
    if (!this.#first) return;
    const [name, earlier] = toldApart(this.#first);
    const more = this.#count === 1 ? "" : ` (and ${counted(this.#count - 1, "other pair")})`;
    messages.note(
      `tarn: ${earlier} and ${name}${more} are one name on some disks: get -r refuses them unless it may leave one out`,
    );
  }
}
