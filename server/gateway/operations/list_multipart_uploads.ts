/** ListMultipartUploads. */

import { compareBytes, utf8 } from "../../../base/bytes.ts";
import type { UploadInfo } from "../../../drivers/store.ts";
import type { S3Call, S3Operation } from "../call.ts";
import { countOf, invalidArgument, keyEncoding } from "../encoding.ts";
import { checksumOfNotes } from "../multipart/checksum.ts";
import { initiator } from "../multipart/initiator.ts";
import { uploadsOf } from "../multipart/place.ts";
import { OWNER } from "../owner.ts";
import { bucketOf } from "../places.ts";
import { textElement, xmlResponse, xmlTime } from "../xml.ts";

const MAX_UPLOADS = 1000;

export const listMultipartUploads: S3Operation = async (call) => {
  const { query, bucket } = call.request;
  const prefix = query.get("prefix") ?? "", delimiter = query.get("delimiter") ?? "";
  const keyMarker = query.get("key-marker") ?? "", idMarker = query.get("upload-id-marker") ?? "";
  const most = countOf(query, "max-uploads", { most: MAX_UPLOADS });
  const encode = keyEncoding(query);
  // Without a key it means nothing.
  if (keyMarker !== "" && idMarker !== "" && !/^[0-9a-v]{26}$/.test(idMarker)) {
    throw invalidArgument("upload-id-marker", idMarker, "Invalid uploadId marker");
  }
  const page = new UploadPage({ prefix, delimiter, keyMarker, most, encode });
  await fill(page, { call, prefix, keyMarker, idMarker });
  return xmlResponse(
    "ListMultipartUploadsResult",
    textElement("Bucket", bucket) +
      textElement("KeyMarker", encode(keyMarker)) +
      textElement("UploadIdMarker", idMarker) +
      (page.isTruncated
        ? textElement("NextKeyMarker", encode(page.last.key)) +
          textElement("NextUploadIdMarker", page.last.id)
        : "") +
      textElement("Prefix", encode(prefix)) +
      textElement("Delimiter", delimiter === "" ? undefined : encode(delimiter)) +
      textElement("EncodingType", query.get("encoding-type") || undefined) +
      textElement("MaxUploads", most) +
      textElement("IsTruncated", page.isTruncated) +
      page.content,
  );
};

interface Filling {
  readonly call: S3Call;
  readonly prefix: string;
  readonly keyMarker: string;
  readonly idMarker: string;
}

/** Takes uploads until the page is full. Where buckets are branches, keys are paths; else BRANCH/PATH. */
async function fill(page: UploadPage, { call, prefix, keyMarker, idMarker }: Filling): Promise<void> {
  const { repository, branch } = await bucketOf(call);
  if (branch !== undefined) await call.store.getBranch(repository, branch);
  const base = branch === undefined ? "" : `${branch}/`;
  const after = keyMarker === ""
    ? {}
    : { after: { name: base + keyMarker, ...(idMarker === "" ? {} : { id: idMarker }) } };
  for await (const uploads of uploadsOf(call).list(repository, { prefix: base + prefix, ...after })) {
    for (const upload of uploads) {
      page.add(`${upload.branch}/${upload.path}`.slice(base.length), upload);
      if (page.isFull) return;
    }
  }
}

interface PageOptions {
  readonly prefix: string;
  readonly delimiter: string;
  readonly keyMarker: string;
  readonly most: number;
  readonly encode: (key: string) => string;
}

class UploadPage {
  readonly #options: PageOptions;
  #uploads = "";
  #prefixes = "";
  #count = 0;
  isFull = false;
  /** The last upload that is shown, or the last prefix. */
  last: { readonly key: string; readonly id: string } = { key: "", id: "" };

  constructor(options: PageOptions) {
    this.#options = options;
  }

  get content(): string {
    return this.#uploads + this.#prefixes;
  }

  /** A page of nothing has nothing behind it either. */
  get isTruncated(): boolean {
    return this.isFull && this.#options.most > 0;
  }

  add(key: string, upload: UploadInfo): void {
    const { prefix, delimiter, keyMarker } = this.#options;
    const at = delimiter === "" ? -1 : key.indexOf(delimiter, prefix.length);
    if (at < 0) {
      if (this.#takes({ key, id: upload.id })) this.#uploads += this.#uploadElement(key, upload);
      return;
    }
    const folded = key.slice(0, at + delimiter.length);
    // What the last page has shown as one is not shown again.
    if (folded === this.last.key || compareBytes(utf8(folded), utf8(keyMarker)) <= 0) return;
    if (!this.#takes({ key: folded, id: "" })) return;
    this.#prefixes += `<CommonPrefixes>${
      textElement("Prefix", this.#options.encode(folded))
    }</CommonPrefixes>`;
  }

  #takes(item: { readonly key: string; readonly id: string }): boolean {
    this.isFull = this.#count === this.#options.most;
    if (this.isFull) return false;
    this.#count++;
    this.last = item;
    return true;
  }

  #uploadElement(key: string, { id, who, startedMs, notes }: UploadInfo): string {
    const { algorithm, type, isAsked } = checksumOfNotes(notes);
    const content = textElement("Key", this.#options.encode(key)) +
      textElement("UploadId", id) +
      initiator(who) + OWNER +
      textElement("StorageClass", "STANDARD") +
      textElement("Initiated", xmlTime(startedMs)) +
      (isAsked ? textElement("ChecksumAlgorithm", algorithm) + textElement("ChecksumType", type) : "");
    return `<Upload>${content}</Upload>`;
  }
}
