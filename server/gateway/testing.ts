/** The gateway in a test: a server on a port of its own over an engine in memory, and a client that signs what it is told. */

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash, createHmac } from "node:crypto";
import { connect } from "node:net";
import type { Ending } from "../../tests/support/temporary.ts";
import type { NewCredential } from "../auth/mod.ts";
import { listen } from "../listen.ts";
import { requestHandler } from "../server.ts";
import { type TestServer, testServer, type TestServerOptions } from "../testing.ts";
import { DEFAULT_S3, type S3Settings } from "./settings.ts";

export interface S3Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  /** The body as text. */
  readonly text: string;
  /** The code of an error document; `undefined` when there is none. */
  readonly code: string | undefined;
  /** Returns the text of each element of this name, in order, as it stands in the document. */
  all(element: string): string[];
}

export interface S3SendOptions {
  readonly body?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** Who signs; nobody with `null`. */
  readonly credential?: Pick<NewCredential, "accessKeyId" | "secretAccessKey"> | null;
  /** Signs the query, for so many seconds, instead of a header. */
  readonly presignedSeconds?: number;
  /** When it is signed; now, unless told otherwise. */
  readonly signedAtMs?: number;
  /** What is said of the body: its hash, unless told otherwise. */
  readonly payload?: string;
  /** What is sent as the body instead of `body`, such as its chunks. */
  readonly sent?: Uint8Array;
}

/** Sends a request whose target goes on the wire as it is: `s3("PUT", "/repo/main/a%20b", { body: "text" })`. */
export type S3Send = (method: string, target: string, options?: S3SendOptions) => Promise<S3Answer>;

export interface TestGateway extends TestServer {
  readonly s3: S3Send;
  readonly port: number;
  /** Sends as `s3` does, and holds the answer to a status. */
  ask(status: number, method: string, target: string, options?: S3SendOptions): Promise<S3Answer>;
}

/** Opens a server with an empty repository `repo`, unless it is bare. */
export async function testGateway(
  t: Ending,
  { s3: settings = DEFAULT_S3, ...options }: TestServerOptions & { readonly s3?: S3Settings } = {},
): Promise<TestGateway> {
  const server = await testServer(t, options);
  const context = { ...server.context, s3: settings };
  if (!options.isBare) await server.store.createRepository("repo", { committer: "tester" });
  const listening = listen({
    host: "127.0.0.1",
    port: 0,
    idleSeconds: 20,
    handler: requestHandler(context),
    onError: (error) => assert.fail(String(error)),
  });
  t.after(() => listening.close());
  const { port } = listening;
  const s3: S3Send = async (method, target, sendOptions = {}) => {
    const { credential = server.admin } = sendOptions;
    const request = credential === null
      ? { target, headers: { host: `localhost:${port}`, ...sendOptions.headers } }
      : signed(
        { method, target, port, credential, nowMs: sendOptions.signedAtMs ?? context.clock.now() },
        sendOptions,
      );
    return await exchange(port, { method, ...request, body: bytesOf(sendOptions.sent ?? sendOptions.body) });
  };
  return {
    ...server,
    context,
    s3,
    port,
    async ask(status, method, target, sendOptions) {
      const answer = await s3(method, target, sendOptions);
      assert.equal(answer.status, status, `${method} ${target}: ${answer.status} ${answer.text}`);
      return answer;
    },
  };
}

export interface Signing {
  readonly method: string;
  readonly target: string;
  readonly port: number;
  readonly credential: Pick<NewCredential, "accessKeyId" | "secretAccessKey">;
  readonly nowMs: number;
}

/** Returns a request's target and headers with a signature of version 4. */
export function signed(
  { method, target, port, credential, nowMs }: Signing,
  { body, headers = {}, presignedSeconds, payload }: S3SendOptions = {},
): { target: string; headers: Record<string, string> } {
  const time = new Date(nowMs).toISOString().replace(/[-:]|\.\d+/g, "");
  const scope = `${time.slice(0, 8)}/us-east-1/s3/aws4_request`;
  const isQuery = presignedSeconds !== undefined;
  const hash = payload ?? (isQuery ? "UNSIGNED-PAYLOAD" : hexHash(bytesOf(body)));
  const all: Record<string, string> = {
    host: `localhost:${port}`,
    ...(isQuery ? {} : { "x-amz-date": time, "x-amz-content-sha256": hash }),
    ...headers,
  };
  const names = Object.keys(all).map((name) => name.toLowerCase()).sort();
  const signedHeaders = names.join(";");
  const [path = "", query = ""] = splitTarget(target);
  const pairs = query === "" ? [] : query.split("&");
  if (isQuery) {
    pairs.push(
      "X-Amz-Algorithm=AWS4-HMAC-SHA256",
      `X-Amz-Credential=${encoded(`${credential.accessKeyId}/${scope}`)}`,
      `X-Amz-Date=${time}`,
      `X-Amz-Expires=${presignedSeconds}`,
      `X-Amz-SignedHeaders=${encoded(signedHeaders)}`,
    );
  }
  const lower = new Map(Object.entries(all).map(([name, value]) => [name.toLowerCase(), value]));
  const canonical = [
    method,
    path.split("/").map((one) => encoded(decodeURIComponent(one))).join("/"),
    canonicalQuery(pairs),
    ...names.map((name) => `${name}:${lower.get(name)!.trim().replaceAll(/ +/g, " ")}`),
    "",
    signedHeaders,
    hash,
  ].join("\n");
  const toSign = ["AWS4-HMAC-SHA256", time, scope, hexHash(bytesOf(canonical))].join("\n");
  const signature = hmac(signingKey(credential.secretAccessKey, scope), toSign).toString("hex");
  if (isQuery) {
    return { target: `${path}?${[...pairs, `X-Amz-Signature=${signature}`].join("&")}`, headers: all };
  }
  const authorization = `AWS4-HMAC-SHA256 Credential=${credential.accessKeyId}/${scope}, ` +
    `SignedHeaders=${signedHeaders}, Signature=${signature}`;
  return { target, headers: { ...all, authorization } };
}

/** Returns the key that signs in a scope: `20260101/us-east-1/s3/aws4_request`. */
export function signingKey(secret: string, scope: string): Buffer {
  return scope.split("/").reduce((key: Buffer | string, part) => hmac(key, part), `AWS4${secret}`) as Buffer;
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

function hexHash(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function bytesOf(body: string | Uint8Array | undefined): Uint8Array {
  return typeof body === "string" ? Buffer.from(body) : body ?? new Uint8Array(0);
}

function splitTarget(target: string): [string, string] {
  const question = target.indexOf("?");
  return question < 0 ? [target, ""] : [target.slice(0, question), target.slice(question + 1)];
}

/** By names, then by values: "a" comes before "a-b". */
function canonicalQuery(pairs: readonly string[]): string {
  const known = pairs.map((pair) => pair.split(/=(.*)/s).map((part) => encoded(decodeURIComponent(part))));
  return known.map(([name = "", value = ""]) => `${name}\0${value}`).sort().join("&").replaceAll("\0", "=");
}

/** Percent-encodes all but what is unreserved, as signatures want it. */
function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

interface RawRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** Sends bytes and reads the answer, with no client between that would make anything nicer. */
export async function exchange(
  port: number,
  { method, target, headers, body }: RawRequest,
): Promise<S3Answer> {
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  const lines = [`${method} ${target} HTTP/1.1`, ...Object.entries(headers).map((pair) => pair.join(": "))];
  if (!names.includes("content-length") && !names.includes("transfer-encoding")) {
    if (body.length > 0 || method === "PUT" || method === "POST") {
      lines.push(`content-length: ${body.length}`);
    }
  }
  lines.push("connection: close", "", "");
  const received = await new Promise<Buffer>((resolve, reject) => {
    const pieces: Buffer[] = [];
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(Buffer.from(lines.join("\r\n"), "utf8"));
      socket.write(body);
    });
    socket.on("data", (piece) => pieces.push(piece as Buffer));
    socket.on("error", reject);
    socket.on("close", () => resolve(Buffer.concat(pieces)));
  });
  return parsedAnswer(received);
}

function parsedAnswer(received: Buffer): S3Answer {
  const end = received.indexOf("\r\n\r\n");
  const [statusLine = "", ...lines] = received.subarray(0, Math.max(0, end)).toString("latin1").split("\r\n");
  const headers = new Headers(lines.map((line): [string, string] => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  }));
  const rest = received.subarray(end + 4);
  const bytes = headers.get("transfer-encoding") === "chunked" ? unchunked(rest) : rest;
  const text = bytes.toString("utf8");
  const all = (element: string) =>
    [...text.matchAll(new RegExp(`<${element}>(.*?)</${element}>`, "gs"))].map((match) => match[1]!);
  return {
    status: Number(statusLine.split(" ")[1]),
    headers,
    bytes,
    text,
    code: text.includes("<Error>") ? all("Code")[0] : undefined,
    all,
  };
}

function unchunked(bytes: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0;;) {
    const line = bytes.indexOf("\r\n", at);
    const length = Number.parseInt(bytes.subarray(at, line).toString(), 16);
    if (!(length > 0)) return Buffer.concat(pieces);
    pieces.push(bytes.subarray(line + 2, line + 2 + length));
    at = line + 2 + length + 2;
  }
}
