/**
 * The checksum of an object that comes in parts: of all its bytes, or composed of its parts' checksums.
 *
 * Which one is told when the upload is started, and noted with it. Where nothing was told it is CRC64NVME of all bytes, as
 * with S3, and nothing is said of it before the upload is complete.
 */

import { Buffer } from "node:buffer";
import type { PartInfo } from "../../../drivers/store.ts";
import { S3Error } from "../errors.ts";
import {
  CHECKSUM_ALGORITHMS,
  type ChecksumAlgorithm,
  checksumAlgorithm,
  checksumHeader,
  startChecksum,
} from "../payload/checksums.ts";
import { textElement } from "../xml.ts";
import { CRC32, CRC32C, CRC64NVME, CrcJoiner, type CrcKind } from "./crc.ts";

const TYPES = ["COMPOSITE", "FULL_OBJECT"] as const;
export type ChecksumType = typeof TYPES[number];

export interface UploadChecksum {
  readonly algorithm: ChecksumAlgorithm;
  readonly type: ChecksumType;
  /** Whether the client asked for it. */
  readonly isAsked: boolean;
}

export const TYPE_HEADER = "x-amz-checksum-type";
const ALGORITHM_HEADER = "x-amz-checksum-algorithm";
const UNASKED: UploadChecksum = { algorithm: "CRC64NVME", type: "FULL_OBJECT", isAsked: false };

/** Only these can be told of all bytes when each part is known alone. */
const CRCS: Partial<Record<ChecksumAlgorithm, CrcKind>> = { CRC32, CRC32C, CRC64NVME };

/** Returns the checksum that a request to start an upload asks for. Fails with `InvalidRequest`. */
export function askedChecksum(headers: Headers): UploadChecksum {
  const name = headers.get(ALGORITHM_HEADER), type = checksumType(headers);
  if (name === null) {
    if (type === undefined) return UNASKED;
    throw invalid(`The ${TYPE_HEADER} header can only be used with the ${ALGORITHM_HEADER} header.`);
  }
  const algorithm = checksumAlgorithm(name);
  if (!algorithm) {
    throw invalid(
      "Checksum algorithm provided is unsupported. Please try again with any of the valid types: " +
        `[${CHECKSUM_ALGORITHMS.toSorted().join(", ")}]`,
    );
  }
  const chosen = type ?? (algorithm === "CRC64NVME" ? "FULL_OBJECT" : "COMPOSITE");
  const isKnown = chosen === "FULL_OBJECT" ? algorithm in CRCS : algorithm !== "CRC64NVME";
  if (isKnown) return { algorithm, type: chosen, isAsked: true };
  throw invalid(
    `The ${chosen} checksum type cannot be used with the ${algorithm.toLowerCase()} checksum algorithm.`,
  );
}

/** Returns the type of checksum that a request names. Fails with `InvalidRequest`. */
export function checksumType(headers: Headers): ChecksumType | undefined {
  const text = headers.get(TYPE_HEADER);
  if (text === null) return undefined;
  const type = TYPES.find((one) => one === text.toUpperCase());
  if (type) return type;
  throw invalid(`Value for ${TYPE_HEADER} header is invalid.`);
}

/** Returns what is noted with the upload. */
export function notesOf({ algorithm, type, isAsked }: UploadChecksum): Readonly<Record<string, string>> {
  return isAsked ? { checksum: `${algorithm} ${type}` } : {};
}

/** Returns the checksum of an upload that this is noted with. */
export function checksumOfNotes({ checksum }: Readonly<Record<string, string>>): UploadChecksum {
  if (checksum === undefined) return UNASKED;
  const [algorithm, type] = checksum.split(" ");
  return { algorithm: algorithm as ChecksumAlgorithm, type: type as ChecksumType, isAsked: true };
}

/** The checksums of a part: one of the upload's algorithm, and perhaps another one that its client sent. */
export type PartChecksums = Partial<Record<ChecksumAlgorithm, string>>;

/** Returns what is noted with a part. */
export function notedChecksums(checksums: PartChecksums): string {
  return Object.entries(checksums).map(([algorithm, value]) => `${algorithm}:${value}`).join(" ");
}

/** Returns the checksums of a part. */
export function partChecksums({ note }: Pick<PartInfo, "note">): PartChecksums {
  const pairs = note === "" ? [] : note.split(" ").map((pair) => pair.split(":", 2) as [string, string]);
  return Object.fromEntries(pairs);
}

/** Returns the checksum of the object that parts make, in base64; a composed one with the number of parts. */
export async function wholeChecksum(
  { algorithm, type }: UploadChecksum,
  parts: readonly PartInfo[],
): Promise<string> {
  const values = parts.map((part) => Buffer.from(partChecksums(part)[algorithm] ?? "", "base64"));
  if (type === "FULL_OBJECT") return joined(CRCS[algorithm]!, parts, values);
  const running = await startChecksum(algorithm);
  for (const value of values) running.update(value);
  return `${running.base64()}-${parts.length}`;
}

function joined(kind: CrcKind, parts: readonly PartInfo[], values: readonly Buffer[]): string {
  const joiner = new CrcJoiner(kind);
  const crcs = values.map((value) => BigInt(`0x${value.toString("hex")}`));
  const whole = crcs.reduce((crc, next, i) => joiner.join(crc, next, parts[i]!.sizeBytes));
  const bytes = Buffer.alloc(kind.bits / 8);
  if (kind.bits === 64) bytes.writeBigUInt64BE(whole);
  else bytes.writeUInt32BE(Number(whole));
  return bytes.toString("base64");
}

/** Returns headers that tell a checksum. */
export function checksumHeaders(algorithm: ChecksumAlgorithm, value: string): Record<string, string> {
  return { [checksumHeader(algorithm)]: value };
}

/** Returns a checksum as an element of a document. */
export function checksumElement(algorithm: ChecksumAlgorithm, value: string | undefined): string {
  return textElement(`Checksum${algorithm}`, value);
}

/** Returns headers that tell which checksum an upload has; none unless it was asked for. */
export function uploadHeaders({ algorithm, type, isAsked }: UploadChecksum): Record<string, string> {
  return isAsked ? { [ALGORITHM_HEADER]: algorithm, [TYPE_HEADER]: type } : {};
}

function invalid(message: string): S3Error {
  return new S3Error("InvalidRequest", message);
}
