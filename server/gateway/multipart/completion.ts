/** What a request to complete an upload says of it, and what is held against that. */

import { MAX_PART_NUMBER, type NamedPart, type PartInfo } from "../../../drivers/store.ts";
import { invalidArgument } from "../encoding.ts";
import { S3Error } from "../errors.ts";
import {
  algorithmOfHeader,
  CHECKSUM_ALGORITHMS,
  type ChecksumAlgorithm,
  checksumHeader,
  isChecksum,
} from "../payload/checksums.ts";
import { readXml, type XmlNode } from "../xml_reader.ts";
import { checksumType, partChecksums, type UploadChecksum, wholeChecksum } from "./checksum.ts";

/** All parts but the last have so many bytes. */
const MIN_PART_BYTES = 5 * 1024 * 1024;
const SIZE_HEADER = "x-amz-mp-object-size";

interface CompletedPart extends NamedPart {
  readonly sent: { readonly algorithm: ChecksumAlgorithm; readonly value: string } | undefined;
}

/** The parts that a request names. */
export class Completion {
  readonly parts: readonly CompletedPart[];
  readonly #headers: Headers;
  /** The algorithm of the checksum in a header, which is the object's. */
  readonly #sent: ChecksumAlgorithm | undefined;

  /** Fails with `MalformedXML`, `InvalidArgument`, `InvalidRequest`. */
  constructor(document: Uint8Array, headers: Headers) {
    const parts = readXml(document, "CompleteMultipartUpload").all("Part");
    if (parts.length === 0 || parts.length > MAX_PART_NUMBER) throw new S3Error("MalformedXML");
    this.parts = parts.map(completedPart);
    this.#headers = headers;
    const sent = [...headers.keys()].map(algorithmOfHeader).filter((one) => one !== undefined);
    if (sent.length > 1) {
      throw invalid("Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.");
    }
    this.#sent = sent[0];
  }

  /**
   * Holds the parts that are there against what was said of them, and returns the object's checksum. Fails with S3's codes.
   */
  async judge(parts: readonly PartInfo[], upload: UploadChecksum): Promise<string> {
    const type = checksumType(this.#headers);
    if (type !== undefined && upload.isAsked && type !== upload.type) {
      throw invalid(
        `The upload was created using the ${upload.type} checksum mode. The complete request must use the same checksum mode.`,
      );
    }
    parts.forEach((part, i) => checkPart(part, this.parts[i]!, upload));
    for (const part of parts.slice(0, -1)) {
      if (part.sizeBytes < MIN_PART_BYTES) throw new S3Error("EntityTooSmall");
    }
    this.#checkSize(parts.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0));
    const whole = await wholeChecksum(upload, parts);
    this.#checkWhole(whole, upload);
    return whole;
  }

  #checkSize(sizeBytes: number): void {
    const text = this.#headers.get(SIZE_HEADER);
    if (text === null) return;
    if (/^-[0-9]+$/.test(text)) throw invalid(`Value for ${SIZE_HEADER} header is less than zero: '${text}'`);
    if (!/^[0-9]{1,15}$/.test(text)) throw invalid(`Value for ${SIZE_HEADER} header is invalid: '${text}'`);
    if (Number(text) === sizeBytes) return;
    throw invalid(
      `The provided '${SIZE_HEADER}' header value ${text} does not match what was computed: ${sizeBytes}`,
    );
  }

  /** A composed checksum may come without the number of parts. */
  #checkWhole(whole: string, { algorithm, type, isAsked }: UploadChecksum): void {
    const sent = this.#sent;
    if (sent === undefined) return;
    const header = checksumHeader(sent), value = this.#headers.get(header)!;
    const [, sum = "", count] = /^([^-]*)(?:-([0-9]+))?$/.exec(value) ?? [];
    const isComposed = type === "COMPOSITE" && count !== undefined;
    if (!isChecksum(sum, sent) || (count !== undefined && !isComposed)) {
      throw invalid(`Value for ${header} header is invalid.`);
    }
    if (sent !== algorithm) {
      // Of an upload that was started without one S3 knows no other.
      if (!isAsked) return;
      throw mismatch(sent);
    }
    if (value !== whole && (isComposed || sum !== whole.split("-")[0])) throw mismatch(sent);
  }
}

function completedPart(node: XmlNode): CompletedPart {
  const text = node.text("PartNumber")?.trim(), etag = node.text("ETag")?.trim();
  if (text === undefined || !etag || !/^-?[0-9]{1,10}$/.test(text)) throw new S3Error("MalformedXML");
  const number = Number(text);
  if (number < 1) throw invalidArgument("PartNumber", text, "PartNumber must be >= 1");
  return { number, checksum: etag.replace(/^"(.*)"$/, "$1"), sent: sentChecksum(node) };
}

function sentChecksum(node: XmlNode): CompletedPart["sent"] {
  const sent = CHECKSUM_ALGORITHMS.flatMap((algorithm) => {
    const value = node.text(`Checksum${algorithm}`)?.trim();
    return value ? [{ algorithm, value }] : [];
  });
  const [first] = sent;
  if (!first || (sent.length === 1 && isChecksum(first.value, first.algorithm))) return first;
  const shown = sent.length === 1
    ? first.value
    : sent.map((one) => `${one.algorithm}:${one.value};`).join("");
  throw invalidArgument("Checksum", shown, "Invalid Base64 or multiple checksums present in request");
}

function checkPart(part: PartInfo, { number, sent }: CompletedPart, upload: UploadChecksum): void {
  const { algorithm, type, isAsked } = upload;
  if (!sent) {
    if (!isAsked || type === "FULL_OBJECT") return;
    throw invalid(
      `The upload was created using a ${algorithm.toLowerCase()} checksum. The complete request must include the ` +
        `checksum for each part. It was missing for part ${number} in the request.`,
    );
  }
  const known = partChecksums(part)[sent.algorithm];
  if (known === sent.value) return;
  if (known !== undefined) throw new S3Error("InvalidPart");
  const name = sent.algorithm.toLowerCase();
  throw new S3Error(
    "BadDigest",
    `The ${name} you specified for part ${number} did not match what we received.`,
  );
}

function invalid(message: string): S3Error {
  return new S3Error("InvalidRequest", message);
}

function mismatch(algorithm: ChecksumAlgorithm): S3Error {
  return new S3Error("BadDigest", `The ${algorithm} you specified did not match the calculated checksum.`);
}
