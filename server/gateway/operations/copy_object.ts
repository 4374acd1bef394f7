/** CopyObject: inside a repository the entry alone, from another one the bytes. */

import {
  type BranchWriter,
  checkMetadata,
  checkObjectText,
  type CopyObjectOptions,
  type ObjectStats,
} from "../../../drivers/store.ts";
import type { ObjectPlace } from "../../downloads.ts";
import type { S3Call, S3Operation } from "../call.ts";
import { checkRead, hasReadConditions, OF_SOURCE, writeConditions } from "../conditions.ts";
import { copySourceOf } from "../copy_source.ts";
import { invalidArgument } from "../encoding.ts";
import { S3Error } from "../errors.ts";
import { etagOf } from "../../etag.ts";
import { askedChecksum } from "../multipart/checksum.ts";
import { copiedMetadata, writtenHeaders } from "../object_headers.ts";
import { objectPlace, placeOf } from "../places.ts";
import { checksumElements } from "./get_object_attributes.ts";
import { checkWrite, openWriter } from "../writes.ts";
import { textElement, xmlResponse, xmlText, xmlTime } from "../xml.ts";

export const copyObject: S3Operation = async (call) => {
  const { request, peer } = call;
  const { headers } = request;
  checkWrite(call);
  // Each object has a SHA-256 whatever is asked for: another algorithm need only be one.
  askedChecksum(headers);
  const name = copySourceOf(headers);
  const [source, destination] = [await placeOf(call, name.bucket, name.key), await objectPlace(call)];
  const replaces = {
    metadata: isReplaced(headers, "metadata"),
    tags: isReplaced(headers, "tagging"),
  };
  const { metadata: written, ...type } = writtenHeaders(headers);
  checkObjectText({ metadata: written, ...type });
  const isChanged = replaces.metadata || replaces.tags || headers.has("x-amz-website-redirect-location");
  if (!isChanged && isSamePlace(source, destination)) {
    throw new S3Error(
      "InvalidRequest",
      "This copy request is illegal because it is trying to copy an object to itself without changing the object's metadata, storage class, website redirect location or encryption attributes.",
    );
  }
  const options: NewCopy = {
    ...writeConditions(headers),
    ...(replaces.metadata ? type : {}),
    metadata: (stats) => copiedMetadata(stats.metadata, { written, replaces }),
    isNew: true,
  };
  const writer = await openWriter(call, destination);
  peer.keepOpen();
  const copy = new Copy(call, { source, writer, path: destination.path });
  const stats = source.repository === destination.repository
    ? await copy.entry(options)
    : await copy.bytes(options);
  await writer.close();
  return xmlResponse(
    "CopyObjectResult",
    textElement("LastModified", xmlTime(stats.mtimeMs)) + `<ETag>${xmlText(etagOf(stats))}</ETag>` +
      checksumElements(stats),
  );
};

interface NewCopy extends CopyObjectOptions {
  readonly metadata: (stats: ObjectStats) => Readonly<Record<string, string>>;
}

class Copy {
  readonly #call: S3Call;
  readonly #source: ObjectPlace;
  readonly #writer: BranchWriter;
  readonly #path: string;

  constructor(
    call: S3Call,
    { source, writer, path }: { source: ObjectPlace; writer: BranchWriter; path: string },
  ) {
    this.#call = call;
    this.#source = source;
    this.#writer = writer;
    this.#path = path;
  }

  async entry(options: NewCopy): Promise<ObjectStats> {
    const { ref, path } = this.#source;
    return await this.#writer.copy(this.#path, { ref, path, check: (stats) => this.#check(stats) }, options);
  }

  async bytes(options: NewCopy): Promise<ObjectStats> {
    const { store, request } = this.#call;
    const { repository, ref, path } = this.#source;
    // What is opened is to be read: so a copy that is not wanted is refused before.
    if (hasReadConditions(request.headers, OF_SOURCE)) this.#check(await store.stat(repository, ref, path));
    const { stats, body } = await store.read(repository, ref, path, { signal: request.signal });
    this.#check(stats);
    const metadata = options.metadata(stats);
    checkMetadata(metadata);
    const copied = { contentType: stats.contentType, ...options, metadata, isCarriedOver: true };
    return await this.#writer.put(this.#path, body, copied);
  }

  #check(stats: ObjectStats): void {
    checkRead(this.#call.request.headers, stats, OF_SOURCE);
  }
}

/** Whether the request's own metadata or tags take the place of the source's. Fails with `InvalidArgument`. */
function isReplaced(headers: Headers, what: "metadata" | "tagging"): boolean {
  const name = `x-amz-${what}-directive`, directive = headers.get(name) ?? "COPY";
  if (directive === "COPY" || directive === "REPLACE") return directive === "REPLACE";
  throw invalidArgument(name, directive, `Unknown ${what} directive.`);
}

function isSamePlace(a: ObjectPlace, b: ObjectPlace): boolean {
  return a.repository === b.repository && a.ref === b.ref && a.path === b.path;
}
