/** CopyObject: inside a repository the entry alone, from another one the bytes. */

import type {
  BranchWriter,
  CopyObjectOptions,
  ObjectStats,
  PutObjectOptions,
} from "../../../drivers/store.ts";
import type { ObjectPlace } from "../../downloads.ts";
import type { S3Call, S3Operation } from "../call.ts";
import { checkRead, hasReadConditions, OF_SOURCE, writeConditions } from "../conditions.ts";
import { copySourceOf } from "../copy_source.ts";
import { invalidArgument } from "../encoding.ts";
import { S3Error } from "../errors.ts";
import { etagOf } from "../../etag.ts";
import { writtenHeaders } from "../object_headers.ts";
import { objectPlace, placeOf } from "../places.ts";
import { checkWrite, openWriter } from "../writes.ts";
import { textElement, xmlResponse, xmlText, xmlTime } from "../xml.ts";

export const copyObject: S3Operation = async (call) => {
  const { request, peer } = call;
  const { headers } = request;
  checkWrite(headers);
  const name = copySourceOf(headers);
  const [source, destination] = [await placeOf(call, name.bucket, name.key), await objectPlace(call)];
  const isReplacing = replacesMetadata(headers);
  if (!isReplacing && isSamePlace(source, destination)) {
    throw new S3Error(
      "InvalidRequest",
      "This copy request is illegal because it is trying to copy an object to itself without changing the object's metadata, storage class, website redirect location or encryption attributes.",
    );
  }
  const options: CopyObjectOptions = {
    ...writeConditions(headers),
    ...(isReplacing ? writtenHeaders(headers) : {}),
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
    textElement("LastModified", xmlTime(stats.mtimeMs)) + `<ETag>${xmlText(etagOf(stats))}</ETag>`,
  );
};

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

  async entry(options: CopyObjectOptions): Promise<ObjectStats> {
    const { ref, path } = this.#source;
    return await this.#writer.copy(this.#path, { ref, path, check: (stats) => this.#check(stats) }, options);
  }

  async bytes(options: PutObjectOptions): Promise<ObjectStats> {
    const { store, request } = this.#call;
    const { repository, ref, path } = this.#source;
    // What is opened is to be read: so a copy that is not wanted is refused before.
    if (hasReadConditions(request.headers, OF_SOURCE)) this.#check(await store.stat(repository, ref, path));
    const { stats, body } = await store.read(repository, ref, path, { signal: request.signal });
    this.#check(stats);
    const { contentType, metadata } = stats;
    const isCarriedOver = options.metadata === undefined;
    return await this.#writer.put(this.#path, body, { contentType, metadata, ...options, isCarriedOver });
  }

  #check(stats: ObjectStats): void {
    checkRead(this.#call.request.headers, stats, OF_SOURCE);
  }
}

function replacesMetadata(headers: Headers): boolean {
  const directive = headers.get("x-amz-metadata-directive") ?? "COPY";
  if (directive === "COPY" || directive === "REPLACE") return directive === "REPLACE";
  throw invalidArgument("x-amz-metadata-directive", directive, "Unknown metadata directive.");
}

function isSamePlace(a: ObjectPlace, b: ObjectPlace): boolean {
  return a.repository === b.repository && a.ref === b.ref && a.path === b.path;
}
