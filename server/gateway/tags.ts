/**
 * Tags: the pairs that S3 keeps beside objects and buckets. Those of an object are one name of its metadata, those of a bucket
 * one of its repository's, as a text in the form of the header `x-amz-tagging`: `KEY=VALUE&KEY=VALUE`.
 */

import { invalidArgument } from "./encoding.ts";
import { S3Error } from "./errors.ts";
import { uriEncode } from "./signatures/canonical.ts";
import { textElement } from "./xml.ts";
import { readXml } from "./xml_reader.ts";

/** The name of tags among metadata. No header can have it, so nobody sends it as metadata of their own. */
export const TAGS_NAME = "s3:tagging";

export type Tags = readonly (readonly [key: string, value: string])[];

const HEADER = "x-amz-tagging";
const MOST = { object: 10, bucket: 50 } as const;
const MAX_KEY_LENGTH = 128, MAX_VALUE_LENGTH = 256;
const KNOWN = /^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u;

/** Returns the tags that a write gives its object. Fails with `InvalidArgument`, `InvalidTag`, `BadRequest`. */
export function tagsOfHeaders(headers: Headers): Tags {
  const header = headers.get(HEADER);
  if (header === null) return [];
  const tags = parsedTags(header);
  if (!tags || hasTwice(tags)) {
    throw invalidArgument(
      HEADER,
      header,
      `The header '${HEADER}' shall be encoded as UTF-8 then URLEncoded URL query parameters without tag name duplicates.`,
    );
  }
  return checked(tags, "object");
}

/** Returns the tags of a document. Fails with `MalformedXML`, `InvalidTag`, `BadRequest`. */
export function tagsOfDocument(document: Uint8Array, owner: keyof typeof MOST): Tags {
  const sets = readXml(document, "Tagging").all("TagSet");
  if (sets.length !== 1) throw new S3Error("MalformedXML");
  return tagsOfNodes(sets[0]!.all("Tag"), owner);
}

/** Returns the tags of elements of documents. Fails as `tagsOfDocument` does. */
export function tagsOfNodes(
  nodes: readonly { text(name: string): string | undefined }[],
  owner: keyof typeof MOST,
): Tags {
  const tags = nodes.map((node) => {
    const key = node.text("Key"), value = node.text("Value");
    if (key === undefined || value === undefined) throw new S3Error("MalformedXML");
    return [key, value] as const;
  });
  return checked(tags, owner);
}

/** Returns the tags that metadata has; none where somebody else wrote there what are none. */
export function tagsOf(metadata: Readonly<Record<string, string>>): Tags {
  return parsedTags(metadata[TAGS_NAME] ?? "") ?? [];
}

/** Returns metadata with these tags, and no others. */
export function withTags(
  metadata: Readonly<Record<string, string>>,
  tags: Tags,
): Readonly<Record<string, string>> {
  const rest = Object.entries(metadata).filter(([name]) => name !== TAGS_NAME);
  const pairs = tags.length === 0 ? rest : [...rest, [TAGS_NAME, tagsText(tags)] as const];
  // Own properties, so that a name such as "__proto__" is one too.
  return Object.fromEntries(pairs);
}

/** Returns tags as one text. */
export function tagsText(tags: Tags): string {
  return tags.map((pair) => pair.map((part) => uriEncode(part)).join("=")).join("&");
}

/** Returns tags as XML. */
export function tagSet(tags: Tags): string {
  const content = tags.map(([key, value]) =>
    `<Tag>${textElement("Key", key)}${textElement("Value", value)}</Tag>`
  ).join("");
  return `<TagSet>${content}</TagSet>`;
}

/** Returns `undefined` for what has no such form. */
function parsedTags(text: string): Tags | undefined {
  const tags: (readonly [string, string])[] = [];
  try {
    for (const pair of text.split("&")) {
      if (pair === "") continue;
      const [key = "", value = ""] = pair.split(/=(.*)/s).map((part) =>
        decodeURIComponent(part.replaceAll("+", " "))
      );
      if (key === "") return undefined;
      tags.push([key, value]);
    }
  } catch {
    return undefined;
  }
  return tags;
}

function hasTwice(tags: Tags): boolean {
  return new Set(tags.map(([key]) => key)).size < tags.length;
}

function checked(tags: Tags, owner: keyof typeof MOST): Tags {
  if (tags.length > MOST[owner]) {
    throw new S3Error(
      "BadRequest",
      owner === "object"
        ? `Object tags cannot be greater than ${MOST.object}`
        : `Bucket tag count cannot be greater than ${MOST.bucket}`,
    );
  }
  for (const [key, value] of tags) {
    if (key === "" || !isKnown(key, MAX_KEY_LENGTH)) throw invalidTag("TagKey", key);
    if (!isKnown(value, MAX_VALUE_LENGTH)) throw invalidTag("TagValue", value);
  }
  if (hasTwice(tags)) throw new S3Error("InvalidTag", "Cannot provide multiple Tags with the same key");
  return tags;
}

function isKnown(text: string, maxLength: number): boolean {
  return text.length <= maxLength && KNOWN.test(text);
}

function invalidTag(part: "TagKey" | "TagValue", text: string): S3Error {
  return new S3Error("InvalidTag", `The ${part} you have provided is invalid`, { details: { [part]: text } });
}
