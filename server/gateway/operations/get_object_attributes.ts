/** GetObjectAttributes: of what a HEAD tells, the parts that are asked for. */

import { Buffer } from "node:buffer";
import type { ObjectStats } from "../../../drivers/store.ts";
import type { S3Operation } from "../call.ts";
import { invalidArgument } from "../encoding.ts";
import { S3Error } from "../errors.ts";
import { objectPlace } from "../places.ts";
import { checkVersion } from "../versions.ts";
import { textElement, xmlResponse } from "../xml.ts";
import { httpDate } from "../../http_date.ts";

const HEADER = "x-amz-object-attributes";

const ATTRIBUTES: Readonly<Record<string, (stats: ObjectStats) => string>> = {
  ETag: ({ checksum }) => textElement("ETag", checksum),
  Checksum: (stats) => stats.sha256 === undefined ? "" : `<Checksum>${checksumElements(stats)}</Checksum>`,
  // Where the parts of an upload met is not kept.
  ObjectParts: () => "",
  StorageClass: () => textElement("StorageClass", "STANDARD"),
  ObjectSize: ({ sizeBytes }) => textElement("ObjectSize", sizeBytes),
};

/** Returns the checksum that every object of ours has, as elements; nothing of one that others wrote without it. */
export function checksumElements({ sha256 }: ObjectStats): string {
  if (sha256 === undefined) return "";
  return textElement("ChecksumSHA256", Buffer.from(sha256, "hex").toString("base64")) +
    textElement("ChecksumType", "FULL_OBJECT");
}

export const getObjectAttributes: S3Operation = async (call) => {
  const { request, store } = call;
  checkVersion(request);
  const { repository, ref, path } = await objectPlace(call);
  const header = request.headers.get(HEADER);
  if (!header) {
    throw new S3Error(
      "InvalidRequest",
      `The ${HEADER} header specifying the attributes to be retrieved is either missing or empty`,
    );
  }
  const asked = header.split(",").map((one) => one.trim());
  for (const name of asked) {
    if (!Object.hasOwn(ATTRIBUTES, name)) {
      throw invalidArgument(HEADER, name, "Invalid attribute name specified.");
    }
  }
  const stats = await store.stat(repository, ref, path);
  const content = Object.keys(ATTRIBUTES).filter((name) => asked.includes(name))
    .map((name) => ATTRIBUTES[name]!(stats)).join("");
  return xmlResponse("GetObjectAttributesResponse", content, {
    "last-modified": httpDate(stats.mtimeMs),
  });
};
