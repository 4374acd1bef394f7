/** A view as a person or a program is shown it: the sections that count, as they were written or filled in. */

import { Problems } from "./problems.ts";
import { type Reader, Reading } from "./reading.ts";
import type { Plain, PlainMap } from "./tree.ts";
import { type Item, SHARED_SECTIONS, type View } from "./view.ts";

/** Returns the sections of a view; with a reader every `${…}` is filled in. Fails with `invalid_configuration`. */
export function shownView({ raw, sections, hooks }: View, reader?: Reader): PlainMap {
  const problems = new Problems(raw);
  const reading = reader && new Reading(problems, reader, raw.folder);
  const valueOf = (item: Item): Plain => reading ? reading.filled(item) : item.value;
  const shown: Record<string, Plain> = {};
  for (const section of SHARED_SECTIONS) {
    if (section === "hooks") {
      if (hooks) shown[section] = valueOf(hooks);
    } else if (sections[section].size > 0) {
      shown[section] = Object.fromEntries(
        [...sections[section]].map(([name, item]) => [name, valueOf(item)]),
      );
    }
  }
  problems.throwIfAny();
  return shown;
}

/** Returns a configuration as YAML. */
export async function yamlText(value: PlainMap): Promise<string> {
  if (Object.keys(value).length === 0) return "";
  const { stringify } = await import("yaml");
  return stringify(value, { version: "1.2", lineWidth: 0, aliasDuplicateObjects: false });
}
