/** ListObjects and ListObjectsV2; and ListObjectVersions, where each object has one version. */

import type { S3Call, S3Operation } from "../call.ts";
import { countOf, invalidArgument, keyEncoding, placeOfToken, tokenOf } from "../encoding.ts";
import { branchKeys, type KeyOptions, repositoryKeys } from "../listing.ts";
import { OWNER } from "../owner.ts";
import { bucketOf } from "../places.ts";
import { ONLY_VERSION } from "../versions.ts";
import { textElement, xmlResponse, xmlText, xmlTime } from "../xml.ts";
import type { ObjectStats } from "../../../drivers/store.ts";

const MAX_KEYS = 1000;

export const listObjectsV2: S3Operation = async (call) => {
  const { query } = call.request;
  const token = query.get("continuation-token"), startAfter = query.get("start-after");
  const after = token === undefined ? startAfter ?? "" : placeOfToken("continuation-token", token);
  const encode = keyEncoding(query);
  const page = await takePage(call, { after, encode, hasOwner: query.get("fetch-owner") === "true" });
  return xmlResponse(
    "ListBucketResult",
    page.head +
      textElement("KeyCount", page.count) +
      textElement("ContinuationToken", token) +
      textElement("StartAfter", startAfter && encode(startAfter)) +
      (page.isTruncated ? textElement("NextContinuationToken", tokenOf(page.last)) : "") +
      page.content,
  );
};

export const listObjects: S3Operation = async (call) => {
  const { query } = call.request;
  const after = query.get("marker") ?? "";
  const encode = keyEncoding(query);
  const page = await takePage(call, { after, encode, hasOwner: true });
  return xmlResponse(
    "ListBucketResult",
    page.head +
      textElement("Marker", encode(after)) +
      (page.isTruncated ? textElement("NextMarker", encode(page.last)) : "") +
      page.content,
  );
};

export const listObjectVersions: S3Operation = async (call) => {
  const { query } = call.request;
  const after = query.get("key-marker") ?? "", versionMarker = query.get("version-id-marker");
  if (versionMarker !== undefined && after === "") {
    const why = "A version-id marker cannot be specified without a key marker.";
    throw invalidArgument("version-id-marker", versionMarker, why);
  }
  const encode = keyEncoding(query);
  const page = await takePage(call, { after, encode, hasOwner: true, hasVersions: true });
  return xmlResponse(
    "ListVersionsResult",
    page.head +
      textElement("KeyMarker", encode(after)) +
      textElement("VersionIdMarker", versionMarker ?? "") +
      (page.isTruncated
        ? textElement("NextKeyMarker", encode(page.last)) + textElement("NextVersionIdMarker", ONLY_VERSION)
        : "") +
      page.content,
  );
};

interface PageOptions {
  readonly after: string;
  readonly encode: (key: string) => string;
  readonly hasOwner: boolean;
  readonly hasVersions?: boolean;
}

interface Page {
  /** What every listing says of itself, as XML. */
  readonly head: string;
  /** The objects and prefixes, as XML. */
  readonly content: string;
  readonly count: number;
  readonly isTruncated: boolean;
  /** The last key or prefix. */
  readonly last: string;
}

async function takePage(call: S3Call, options: PageOptions): Promise<Page> {
  const { query, bucket } = call.request;
  const { after, encode } = options;
  const prefix = query.get("prefix") ?? "", delimiter = query.get("delimiter") ?? "";
  const most = countOf(query, "max-keys", { most: MAX_KEYS });
  const lines = new PageLines(options);
  const isTruncated = await fill(lines, {
    call,
    most,
    options: { prefix, delimiter, after, amount: most + 1 },
  });
  const { content, count, last } = lines;
  const head = textElement("Name", bucket) +
    textElement("Prefix", encode(prefix)) +
    textElement("MaxKeys", most) +
    textElement("Delimiter", delimiter === "" ? undefined : encode(delimiter)) +
    textElement("EncodingType", query.get("encoding-type") || undefined) +
    textElement("IsTruncated", isTruncated);
  return { head, content, count, isTruncated, last };
}

/** Takes what a page may hold; returns whether there is more. */
async function fill(
  lines: PageLines,
  { call, most, options }: { readonly call: S3Call; readonly most: number; readonly options: KeyOptions },
): Promise<boolean> {
  const { repository, branch } = await bucketOf(call);
  const keys = branch === undefined
    ? repositoryKeys(call.store, repository, options)
    : branchKeys(call.store, { repository, ref: branch }, options);
  for await (const { base, items } of keys) {
    for (const item of items) {
      // A page of no keys has nothing behind it either.
      if (lines.count === most) return most > 0;
      if (item.kind === "object") lines.addObject(base + item.stats.path, item.stats);
      else lines.addPrefix(base + item.path);
    }
  }
  return false;
}

class PageLines {
  readonly #encode: (key: string) => string;
  readonly #owner: string;
  readonly #element: string;
  readonly #version: string;
  #objects = "";
  #prefixes = "";
  count = 0;
  last = "";
  #second = NaN;
  #time = "";

  constructor({ encode, hasOwner, hasVersions = false }: PageOptions) {
    this.#encode = encode;
    this.#owner = hasOwner ? OWNER : "";
    this.#element = hasVersions ? "Version" : "Contents";
    this.#version = hasVersions ? `<VersionId>${ONLY_VERSION}</VersionId><IsLatest>true</IsLatest>` : "";
  }

  get content(): string {
    return this.#objects + this.#prefixes;
  }

  addObject(key: string, { mtimeMs, checksum, sizeBytes }: ObjectStats): void {
    this.count++;
    this.last = key;
    this.#objects += `<${this.#element}><Key>${
      xmlText(this.#encode(key))
    }</Key>${this.#version}<LastModified>${this.#timeOf(mtimeMs)}</LastModified><ETag>&quot;${
      xmlText(checksum)
    }&quot;</ETag><Size>${sizeBytes}</Size>${this.#owner}<StorageClass>STANDARD</StorageClass></${this.#element}>`;
  }

  addPrefix(prefix: string): void {
    this.count++;
    this.last = prefix;
    this.#prefixes += `<CommonPrefixes>${textElement("Prefix", this.#encode(prefix))}</CommonPrefixes>`;
  }

  /** In whole seconds, as the header has it; what was written together shares it. */
  #timeOf(ms: number): string {
    const second = Math.floor(ms / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#time = xmlTime(second * 1000);
    }
    return this.#time;
  }
}
