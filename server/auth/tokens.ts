/** JSON Web Tokens of our own making: HS256, one audience, no other algorithm is ever accepted. */

import { createHmac, timingSafeEqual } from "node:crypto";
import { Buffer } from "node:buffer";
import { CodedError } from "../../base/errors.ts";

export interface TokenClaims {
  /** The user's name, for who reads the token. */
  readonly sub: string;
  readonly uid: string;
  /** The access key that was logged in with: the token ends when it is deleted. */
  readonly key: string;
  readonly iat: number;
  readonly exp: number;
}

const AUDIENCE = "tarn-api";
const HEADER = Buffer.from(JSON.stringify({ alg: "HS256", typ: "JWT" })).toString("base64url");

export function signToken(claims: TokenClaims, key: Uint8Array): string {
  const payload = Buffer.from(JSON.stringify({ ...claims, aud: AUDIENCE })).toString("base64url");
  return `${HEADER}.${payload}.${signature(`${HEADER}.${payload}`, key).toString("base64url")}`;
}

/** Returns the claims of a token that we signed and that still holds. Fails with `unauthenticated`. */
export function verifyToken(token: string, { key, nowMs }: { key: Uint8Array; nowMs: number }): TokenClaims {
  const [header, payload, given, ...more] = token.split(".");
  if (header !== HEADER || payload === undefined || given === undefined || more.length > 0) {
    refuse("it is not one of ours");
  }
  const expected = signature(`${header}.${payload}`, key);
  const bytes = Buffer.from(given, "base64url");
  if (bytes.length !== expected.length || !timingSafeEqual(bytes, expected)) refuse("it is not one of ours");
  const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as TokenClaims & { aud: string };
  if (claims.aud !== AUDIENCE) refuse("it is for another purpose");
  if (claims.exp * 1000 <= nowMs) refuse("it has expired");
  return claims;
}

function signature(text: string, key: Uint8Array): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

function refuse(why: string): never {
  throw new CodedError("unauthenticated", "unauthenticated", `Cannot use the token: ${why}`);
}
