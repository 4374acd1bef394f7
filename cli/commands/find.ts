/** `find`: the URIs of the objects, or folders, under a URI that pass all tests. */

import { systemClock } from "../../base/clock.ts";
import { CodedError } from "../../base/errors.ts";
import { parseTime } from "../../base/time.ts";
import type { ListItem, ObjectStats } from "../../drivers/store.ts";
import type { ParsedArguments } from "../arguments.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { globExpression } from "../folders/glob.ts";
import { objectsAt, orNotFound } from "../folders/objects_at.ts";
import { folderPrefix } from "../folders/recursive.ts";
import { foldersOf } from "../folders/tree.ts";
import { keyLocation, objectUri, refOf } from "../locations.ts";
import { LISTING_FIELDS, listingForm } from "../render/objects.ts";
import { parseSize } from "../render/sizes.ts";
import { FOUND_TYPES } from "../verbs/choices.ts";

export async function run({ arguments: given, output, session }: Context): Promise<number> {
  const location = keyLocation(given.positionals[0]!, given.value("key"));
  const type = given.choice("type", FOUND_TYPES) ?? "object";
  const passes = testOf(given, type);
  const store = await session.store();
  const { repository } = location;
  const ref = await refOf(store, location);
  const objects = orNotFound(objectsAt(store, { ...location, ref }), { ...location, ref });
  const items: AsyncIterable<readonly ListItem[]> = type === "folder"
    ? foldersOf(objects, folderPrefix(location.key))
    : itemsOf(objects);
  const pathOf = (item: ListItem) => item.kind === "object" ? item.stats.path : item.path;
  await output.list(filtered(items, passes), {
    json: listingForm(output).json,
    fields: LISTING_FIELDS,
    line: (item) => objectUri(repository, ref, pathOf(item)),
  }, { amount: given.count("amount") });
  return EXIT_OK;
}

type FoundType = typeof FOUND_TYPES[number];

async function* itemsOf(objects: AsyncIterable<readonly ObjectStats[]>): AsyncGenerator<readonly ListItem[]> {
  for await (const page of objects) yield page.map((stats) => ({ kind: "object", stats }));
}

async function* filtered(
  items: AsyncIterable<readonly ListItem[]>,
  passes: (item: ListItem) => boolean,
): AsyncGenerator<readonly ListItem[]> {
  for await (const page of items) yield page.filter(passes);
}

function testOf(given: ParsedArguments, type: FoundType): (item: ListItem) => boolean {
  const name = globOf(given, "name"), path = globOf(given, "path");
  const sizes = given.values("size").map(sizeTest);
  const newer = given.value("newer-than");
  const since = newer === undefined ? undefined : parseTime(newer, systemClock.now());
  if (type === "folder" && (sizes.length > 0 || newer !== undefined)) {
    refuse('Cannot find folders by "--size" or "--newer-than": they have neither size nor time');
  }
  return (item) => {
    const key = item.kind === "object" ? item.stats.path : item.path.slice(0, -1);
    if (name && !name.test(key.slice(key.lastIndexOf("/") + 1))) return false;
    if (path && !path.test(key)) return false;
    if (item.kind !== "object") return true;
    const { sizeBytes, mtimeMs } = item.stats;
    return sizes.every((test) => test(sizeBytes)) && (since === undefined || mtimeMs > since);
  };
}

function globOf(given: ParsedArguments, option: string): RegExp | undefined {
  const glob = given.value(option);
  if (glob === undefined) return undefined;
  return globExpression(glob) ?? refuse(`Cannot read "--${option} ${glob}": the pattern has no end`);
}

/** `+N` is more than N, `-N` less, `N` exactly that. */
function sizeTest(text: string): (size: number) => boolean {
  const sign = /^[+-]/.exec(text)?.[0];
  const wanted = parseSize(sign ? text.slice(1) : text);
  if (wanted === undefined) {
    refuse(`Cannot read "--size ${text}": it must be a size such as +10MB, -1kB or 512`);
  }
  if (sign === "+") return (size) => size > wanted;
  return sign === "-" ? (size) => size < wanted : (size) => size === wanted;
}

function refuse(message: string): never {
  throw new CodedError("invalid", "invalid_argument", message);
}
