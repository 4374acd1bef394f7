/** Keys and queries that get mangled on the way, signed by the signer of AWS's own SDK and sent as its clients send them. */

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash, createHmac } from "node:crypto";
import { describe, it } from "node:test";
import { SignatureV4 } from "@smithy/signature-v4";
import { EXAMPLE, exampleOpener } from "./testing.ts";

const NOW_MS = Date.UTC(2026, 10, 30, 8);

class Sha256 {
  readonly #hash;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash("sha256") : createHmac("sha256", secret as Uint8Array);
  }

  update(data: string | Uint8Array): void {
    this.#hash.update(data);
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }

  reset(): void {}
}

const signer = new SignatureV4({
  credentials: EXAMPLE,
  region: "anywhere-1",
  service: "s3",
  // As the SDK does for S3: paths are encoded once.
  uriEscapePath: false,
  sha256: Sha256 as never,
});

/** As the SDK writes keys into paths and values into queries. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

type HttpRequest = Parameters<SignatureV4["presign"]>[0];

interface Signed {
  readonly method: string;
  readonly target: string;
  readonly headers: Record<string, string>;
}

async function signedRequest(
  { key = "", query = {}, headers = {}, how }: {
    key?: string;
    query?: Record<string, string>;
    headers?: Record<string, string>;
    how: "header" | "query";
  },
): Promise<Signed> {
  const request = {
    method: "GET",
    protocol: "http:",
    hostname: "data.example",
    path: `/bucket/${key.split("/").map(encoded).join("/")}`,
    query,
    headers: {
      host: "data.example",
      // The presigner of the SDK for S3 says so; it ends in the query.
      ...(how === "query" ? { "x-amz-content-sha256": "UNSIGNED-PAYLOAD" } : {}),
      ...headers,
    },
  };
  const options = { signingDate: new Date(NOW_MS) };
  const signed = how === "header"
    ? await signer.sign(request as HttpRequest, options)
    : await signer.presign(request as HttpRequest, { ...options, expiresIn: 60 });
  const pairs = Object.entries(signed.query ?? {}).map((pair) =>
    pair.map((part) => encoded(String(part))).join("=")
  );
  const target = pairs.length > 0 ? `${signed.path}?${pairs.join("&")}` : signed.path;
  return { method: "GET", target, headers: signed.headers };
}

const KEYS = [
  "foo+1/bar",
  "a b/",
  "path//empty",
  "//",
  "..",
  "a/../../b",
  "./a/.",
  "%25",
  "%2e%2e/%2F",
  "100%",
  "Net & Works",
  "grün/日本語/😀.txt",
  "e\u0301/\u00e9",
  "~tilde*star'quote(paren)!bang",
  'a;b,c:d@e=f?g#h&i|j\\k^l`m{n}o"p<q>r[s]t$u',
  "tab\tand\u007fand\u0001",
  " leading and trailing ",
  "main/.hidden",
];

describe("odd keys (H01, H02, H06)", () => {
  for (const how of ["header", "query"] as const) {
    it(`reach us as they are, signed in the ${how}`, async (t) => {
      const { open } = await exampleOpener(t, ["data.example"]);
      for (const key of KEYS) {
        const { method, target, headers } = await signedRequest({ key, how });
        const { bucket, key: found, user } = await open({ method, target, headers }, NOW_MS);
        assert.deepEqual([bucket, found, user], ["bucket", key, "example"], target);
      }
    });

    it(`and values of queries, signed in the ${how}`, async (t) => {
      const { open } = await exampleOpener(t, ["data.example"]);
      for (const prefix of [...KEYS, ""]) {
        const query = { "list-type": "2", prefix, delimiter: "/", Z: "1", a: "2", "a b": "c+d" };
        const { method, target, headers } = await signedRequest({ query, how });
        const { query: found } = await open({ method, target, headers }, NOW_MS);
        assert.deepEqual(
          [found.get("prefix"), found.get("a b"), found.get("z")],
          [prefix, "c+d", undefined],
          target,
        );
      }
    });
  }

  it("may be written in any way that means the same: the signature is of what is meant", async (t) => {
    const { open } = await exampleOpener(t, ["data.example"]);
    const { method, target, headers } = await signedRequest({ key: "a+b(c)!/~d e", how: "header" });
    for (
      const other of [
        target,
        target.replaceAll("%2B", "+").replaceAll("%28", "(").replaceAll("%21", "!"),
        target.replaceAll("~", "%7e"),
        target.replaceAll("%2B", "%2b"),
      ]
    ) {
      assert.equal((await open({ method, target: other, headers }, NOW_MS)).key, "a+b(c)!/~d e", other);
    }
  });

  it("of a plus and of a space are two in paths, and one in queries", async (t) => {
    const { open } = await exampleOpener(t, ["data.example"]);
    const path = await signedRequest({ key: "a b", how: "header" });
    await assert.rejects(open({ ...path, target: path.target.replace("%20", "+") }, NOW_MS), {
      code: "SignatureDoesNotMatch",
    });
    const query = await signedRequest({ query: { prefix: "a b" }, how: "header" });
    const { query: found } = await open({ ...query, target: query.target.replace("%20", "+") }, NOW_MS);
    assert.equal(found.get("prefix"), "a b");
  });

  it("that are not UTF-8 are refused, and so is a path without a bucket", async (t) => {
    const { open } = await exampleOpener(t, ["data.example"]);
    const { method, headers } = await signedRequest({ how: "header" });
    for (const target of ["/bucket/%ff", "/bucket/%", "/bucket/%zz", "/bucket?prefix=%c3", "//key"]) {
      await assert.rejects(open({ method, target, headers }, NOW_MS), { code: "InvalidURI" }, target);
    }
  });
});

describe("signed headers", () => {
  it("count with their blanks folded, and as bytes or as the text that they are", async (t) => {
    const { open } = await exampleOpener(t, ["data.example"]);
    const blanks = await signedRequest({ headers: { "x-amz-meta-a": "  a   b\t c " }, how: "header" });
    await open(blanks, NOW_MS);
    // What a client signs as UTF-8 may come as UTF-8 or, from node, as ISO 8859-1. We see a unit a byte.
    const signed = await signedRequest({ headers: { "x-amz-meta-a": "grün à" }, how: "header" });
    const asUtf8 = Buffer.from("grün à", "utf8").toString("latin1");
    await open({ ...signed, headers: { ...signed.headers, "x-amz-meta-a": asUtf8 } }, NOW_MS);
    await open(signed, NOW_MS);
    const other = { ...signed.headers, "x-amz-meta-a": "grun a" };
    await assert.rejects(open({ ...signed, headers: other }, NOW_MS), { code: "SignatureDoesNotMatch" });
  });
});
