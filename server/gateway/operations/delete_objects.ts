/** DeleteObject and DeleteObjects. */

import type { BranchWriter, PutObjectOptions } from "../../../drivers/store.ts";
import type { S3Call, S3Operation } from "../call.ts";
import { ifMatch } from "../conditions.ts";
import { S3Error } from "../errors.ts";
import { s3ErrorOf } from "../failures.ts";
import { objectPlace, placeOf } from "../places.ts";
import { checkVersion, checkVersionId } from "../versions.ts";
import { openWriter } from "../writes.ts";
import { textElement, xmlResponse } from "../xml.ts";
import { readXml, type XmlNode } from "../xml_reader.ts";

const MOST_KEYS = 1000;
const MOST_BYTES = 8 * 1024 * 1024;

export const deleteObject: S3Operation = async (call) => {
  const { request, peer } = call;
  checkVersion(request);
  const condition = deletionCondition(request.headers);
  const { path, ...branch } = await objectPlace(call);
  const writer = await openWriter(call, branch);
  peer.keepOpen();
  await writer.delete(path, condition);
  await writer.close();
  return new Response(null, { status: 204 });
};

export const deleteObjects: S3Operation = async (call) => {
  const { request, peer } = call;
  if (!request.checksum && !request.headers.has("content-md5")) {
    throw new S3Error(
      "InvalidRequest",
      "Missing required header for this request: Content-MD5 OR x-amz-checksum-*",
    );
  }
  const document = readXml(await request.wholeBody(MOST_BYTES), "Delete");
  const objects = document.all("Object").map(namedKey);
  if (objects.length === 0 || objects.length > MOST_KEYS) throw new S3Error("MalformedXML");
  const isQuiet = document.text("Quiet")?.trim().toLowerCase() === "true";
  peer.keepOpen();
  const deletion = new Deletion(call);
  for (const object of objects) await deletion.add(object);
  const failures = await deletion.finish();
  return xmlResponse(
    "DeleteResult",
    objects.map((object) => resultOf(object, { failures, isQuiet })).join(""),
  );
};

/** Fails with `NotImplemented` for what S3 knows of its directory buckets alone, and for what it does not know. */
function deletionCondition(headers: Headers): Pick<PutObjectOptions, "ifMatch"> {
  for (const name of ["x-amz-if-match-last-modified-time", "x-amz-if-match-size", "if-none-match"]) {
    if (headers.has(name)) throw new S3Error("NotImplemented", `A deletion under "${name}" is not built`);
  }
  return ifMatch(headers.get("if-match"));
}

interface NamedKey {
  readonly key: string;
  readonly condition: Pick<PutObjectOptions, "ifMatch">;
  /** What else is said of it, and cannot be done. */
  readonly refusal: S3Error | undefined;
}

function namedKey(node: XmlNode): NamedKey {
  const key = node.text("Key");
  if (key === undefined || key === "") throw new S3Error("MalformedXML");
  return { key, condition: ifMatch(node.text("ETag") ?? null), refusal: refusalOf(node) };
}

function refusalOf(node: XmlNode): S3Error | undefined {
  try {
    checkVersionId(node.text("VersionId"));
  } catch (error) {
    return s3ErrorOf(error);
  }
  const hasCondition = ["LastModifiedTime", "Size"].some((name) => node.text(name) !== undefined);
  return hasCondition
    ? new S3Error("NotImplemented", "A deletion under a condition on time or size is not built")
    : undefined;
}

function resultOf(
  object: NamedKey,
  { failures, isQuiet }: { readonly failures: ReadonlyMap<NamedKey, S3Error>; readonly isQuiet: boolean },
): string {
  const { key } = object;
  const failure = failures.get(object);
  if (failure) {
    const { code, message } = failure;
    return `<Error>${textElement("Key", key)}${textElement("Code", code)}${
      textElement("Message", message)
    }</Error>`;
  }
  return isQuiet ? "" : `<Deleted>${textElement("Key", key)}</Deleted>`;
}

/** Deletions on one branch or several, staged together for each. */
class Deletion {
  readonly #call: S3Call;
  readonly #branches = new Map<
    string,
    { readonly writer: Promise<BranchWriter>; readonly objects: NamedKey[] }
  >();
  /** By what is named, not by its key: that may come again under another condition. */
  readonly #failures = new Map<NamedKey, S3Error>();

  constructor(call: S3Call) {
    this.#call = call;
  }

  async add(object: NamedKey): Promise<void> {
    const { key, condition, refusal } = object;
    try {
      if (refusal) throw refusal;
      const { path, ...place } = await placeOf(this.#call, this.#call.request.bucket!, key);
      let branch = this.#branches.get(place.ref);
      if (!branch) {
        branch = { writer: openWriter(this.#call, place), objects: [] };
        this.#branches.set(place.ref, branch);
      }
      await (await branch.writer).delete(path, condition);
      branch.objects.push(object);
    } catch (error) {
      const failure = s3ErrorOf(error);
      // That the bucket is not there is said of the request, not of each key.
      if (failure.code === "NoSuchBucket" && this.#isOfBucket(error)) throw failure;
      if (failure.code !== "NoSuchKey" || condition.ifMatch) this.#failures.set(object, failure);
    }
  }

  /** Stages all; returns what could not be deleted. */
  async finish(): Promise<ReadonlyMap<NamedKey, S3Error>> {
    for (const { writer, objects } of this.#branches.values()) {
      try {
        await (await writer).close();
      } catch (error) {
        for (const object of objects) this.#failures.set(object, s3ErrorOf(error));
      }
    }
    return this.#failures;
  }

  #isOfBucket(error: unknown): boolean {
    return this.#call.context.s3.buckets === "branch" ||
      (error as { code?: string }).code === "repository_not_found";
  }
}
