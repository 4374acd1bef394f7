/** The signatures of a body's chunks: each covers the one before, the first that of the request. */

import { createHash } from "node:crypto";
import { S3Error } from "../errors.ts";
import type { ChunkSigner } from "../payload/chunked.ts";
import { ALGORITHM } from "./presented.ts";
import { isSignature, type VerifiedSignature } from "./verify.ts";

const EMPTY_SHA256 = sha256Hex("");

/** Returns what checks the chunks of a request. */
export function chunkSigner(
  { key, signature, time, scope }: Omit<VerifiedSignature, "user" | "headers">,
): ChunkSigner {
  let before = signature;
  const check = (kind: string, given: string, hashes: string) => {
    const text = `${ALGORITHM}-${kind}\n${time}\n${scope}\n${before}\n${hashes}`;
    if (!isSignature(given, { key, text })) throw new S3Error("SignatureDoesNotMatch");
    before = given;
  };
  return {
    chunk: (given, sha256) => check("PAYLOAD", given, `${EMPTY_SHA256}\n${sha256}`),
    trailer: (given, text) => check("TRAILER", given, sha256Hex(text)),
  };
}

function sha256Hex(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
