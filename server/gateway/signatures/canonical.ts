/** The form of a request that is signed: SigV4's canonical request, as S3 has it (paths are encoded once, and not normalized). */

const NEEDS_NOTHING = /^[A-Za-z0-9\-._~]*$/;
const NEEDS_NOTHING_IN_PATH = /^[A-Za-z0-9\-._~/]*$/;

/** Encodes all but what RFC 3986 calls unreserved, in upper-case hexadecimal. */
export function uriEncode(text: string, { keepSlashes = false }: { keepSlashes?: boolean } = {}): string {
  if ((keepSlashes ? NEEDS_NOTHING_IN_PATH : NEEDS_NOTHING).test(text)) return text;
  const encoded = encodeURIComponent(text).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return keepSlashes ? encoded.replaceAll("%2F", "/") : encoded;
}

/** What of a request is signed. */
export interface CanonicalParts {
  readonly method: string;
  /** Encoded already. */
  readonly path: string;
  /** Decoded. */
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly headers: Headers;
  /** In lower case, in order. */
  readonly signedHeaders: readonly string[];
  readonly payloadHash: string;
}

/** Returns the canonical request: one unit a byte, for header values are bytes, whatever they mean. */
export function canonicalRequest(parts: CanonicalParts): string {
  const { method, path, query, headers, signedHeaders, payloadHash } = parts;
  let text = `${method}\n${path}\n${canonicalQuery(query)}\n`;
  for (const name of signedHeaders) text += `${name}:${canonicalValue(headers.get(name) ?? "")}\n`;
  return `${text}\n${signedHeaders.join(";")}\n${payloadHash}`;
}

/** Sorted by the bytes of the encoded names, then values: ASCII, so that the order of strings is theirs. */
function canonicalQuery(query: readonly (readonly [name: string, value: string])[]): string {
  if (query.length === 0) return "";
  const encoded = query.map(([name, value]) => [uriEncode(name), uriEncode(value)] as const);
  encoded.sort((a, b) => order(a[0], b[0]) || order(a[1], b[1]));
  return encoded.map((pair) => pair.join("=")).join("&");
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Runs of blanks count as one. Only ASCII's: a byte of a longer character may look like another blank. */
function canonicalValue(value: string): string {
  return value.includes("  ") || value.includes("\t") ? value.replace(/[ \t]+/g, " ").trim() : value;
}
