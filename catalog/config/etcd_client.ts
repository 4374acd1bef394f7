/**
 * As much of etcd as a configuration needs, over its v3 HTTP gateway: transactions, and logging in.
 *
 * `node:http` and not `fetch`: certificates of one's own are given to it in the same way under every runtime, and a proxy that
 * the environment names for the web gets no password to see. Redirects are not followed.
 */

import * as http from "node:http";
import * as https from "node:https";
import { Buffer } from "node:buffer";
import { concatBytes, lossyText } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import type { EtcdAddress, EtcdCredentials } from "./etcd_address.ts";

/** Limits of one request: how long nothing may come, and how long all of it may take. */
export interface EtcdLimits {
  readonly idleMs: number;
  readonly wholeMs: number;
}

const LIMITS: EtcdLimits = { idleMs: 10_000, wholeMs: 60_000 };
const MOST_ANSWER_BYTES = 64 * 1024 * 1024;

/** Codes of gRPC, which the gateway passes on. */
const INVALID_ARGUMENT = 3;
const PERMISSION_DENIED = 7;
const UNAUTHENTICATED = 16;

export interface EtcdValue {
  readonly key: string;
  readonly value: string;
}

/** One step of a transaction; `end` makes a range of keys, itself not in it. */
export type EtcdStep =
  | { readonly get: string; readonly end?: string }
  | { readonly put: string; readonly value: string }
  | { readonly delete: string };

export interface EtcdAnswer {
  /** Whether the steps were done: nobody had changed what was to be unchanged. */
  readonly isDone: boolean;
  /** What each `get` found, in their order. */
  readonly found: readonly (readonly EtcdValue[])[];
  /** The revision of the store that it saw. */
  readonly revision: bigint;
}

export class EtcdClient {
  readonly #address: EtcdAddress;
  readonly #credentials: EtcdCredentials;
  readonly #limits: EtcdLimits;
  #token: string | undefined;

  constructor(address: EtcdAddress, credentials: EtcdCredentials, limits = LIMITS) {
    this.#address = address;
    this.#credentials = credentials;
    this.#limits = limits;
  }

  /**
   * Does all steps at one moment, or none. With `unchanged`, only if no key of that range was written after the revision.
   *
   * Fails with `etcd_unavailable`, `etcd_unauthenticated`, `etcd_forbidden`, and `etcd_refused` for what the server takes for
   * wrong or too much.
   */
  async transaction(
    steps: readonly EtcdStep[],
    unchanged?: { readonly from: string; readonly end: string; readonly since: bigint },
  ): Promise<EtcdAnswer> {
    const compare = unchanged
      ? [{
        target: "MOD",
        result: "LESS",
        key: base64(unchanged.from),
        range_end: base64(unchanged.end),
        mod_revision: String(unchanged.since + 1n),
      }]
      : [];
    return readAnswer(await this.#call("/v3/kv/txn", { compare, success: steps.map(stepJson) }));
  }

  async #call(path: string, body: unknown): Promise<unknown> {
    if (this.#credentials.user && this.#token === undefined) await this.#logIn();
    let answer = await this.#post(path, body);
    // A token ends after a while, or when users are changed.
    if (this.#token !== undefined && [UNAUTHENTICATED, INVALID_ARGUMENT].includes(answer.code ?? 0)) {
      await this.#logIn();
      answer = await this.#post(path, body);
    }
    if (answer.code !== undefined) throw this.#failure(answer);
    return answer.json;
  }

  async #logIn(): Promise<void> {
    const { name, password } = this.#credentials.user!;
    this.#token = undefined;
    const { json, code } = await this.#post("/v3/auth/authenticate", { name, password });
    const token = (json as { token?: unknown } | null)?.token;
    if (code !== undefined || typeof token !== "string") {
      throw this.#error(
        "unauthenticated",
        "etcd_unauthenticated",
        `it does not take the user "${name}" with this password`,
      );
    }
    this.#token = token;
  }

  #failure({ code, message }: Answer): CodedError {
    if (code === PERMISSION_DENIED) {
      return this.#error("forbidden", "etcd_forbidden", "the user may not read or write these keys");
    }
    const isNameless = code === INVALID_ARGUMENT && this.#credentials.user === undefined;
    if (code === UNAUTHENTICATED || (isNameless && /user name is empty/.test(message))) {
      return this.#error(
        "unauthenticated",
        "etcd_unauthenticated",
        "it asks for a user; add ?user=NAME&password_env=NAME",
      );
    }
    return code === INVALID_ARGUMENT
      ? this.#error("invalid", "etcd_refused", message)
      : this.#error("unavailable", "etcd_unavailable", message);
  }

  #post(path: string, body: unknown): Promise<Answer> {
    const { host, port, tls } = this.#address;
    const bytes = Buffer.from(JSON.stringify(body));
    const headers = {
      "content-type": "application/json",
      "content-length": String(bytes.length),
      ...(this.#token === undefined ? {} : { authorization: this.#token }),
    };
    const { idleMs, wholeMs } = this.#limits;
    const signal = AbortSignal.timeout(wholeMs);
    const options = {
      host,
      port,
      path,
      method: "POST",
      headers,
      timeout: idleMs,
      signal,
      agent: false as const,
    };
    return new Promise((resolve, reject) => {
      const fail = (error: unknown) =>
        reject(this.#unreachable(signal.aborted ? new Error(`it takes longer than ${wholeMs} ms`) : error));
      const receive = (response: http.IncomingMessage) =>
        void readBody(response).then(answerOf).then(resolve, fail);
      const request = tls
        ? https.request({ ...options, ...this.#credentials.tls }, receive)
        : http.request(options, receive);
      request.on("error", fail);
      request.on("timeout", () => request.destroy(new Error(`nothing came for ${idleMs} ms`)));
      request.end(bytes);
    });
  }

  #unreachable(error: unknown): CodedError {
    if (error instanceof CodedError) return error;
    const { code, message } = error as { code?: string; message?: string };
    const why = `the connection failed: ${message || code || "for no known reason"}`;
    return this.#error("unavailable", "etcd_unavailable", why, error);
  }

  #error(
    ...[kind, code, why, cause]: [kind: CodedError["kind"], code: string, why: string, cause?: unknown]
  ): CodedError {
    return new CodedError(kind, code, `Cannot use "${this.#address.shown}": ${why}`, { cause });
  }
}

interface Answer {
  readonly json: unknown;
  /** The code of a failure. */
  readonly code?: number;
  readonly message: string;
}

async function readBody(response: http.IncomingMessage): Promise<{ status: number; text: string }> {
  const pieces: Uint8Array[] = [];
  let total = 0;
  for await (const piece of response as AsyncIterable<Uint8Array>) {
    if ((total += piece.length) > MOST_ANSWER_BYTES) throw new Error("its answer is too large");
    pieces.push(piece);
  }
  return { status: response.statusCode ?? 0, text: lossyText(concatBytes(...pieces)) };
}

function answerOf({ status, text }: { status: number; text: string }): Answer {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Error(`it answers with status ${status}, and not as etcd does`);
  }
  const { code, message, error } = (json ?? {}) as { code?: unknown; message?: unknown; error?: unknown };
  if (status === 200 && code === undefined) return { json, message: "" };
  const text_ = String(message ?? error ?? `it answers with status ${status}`).replace(/^etcdserver: /, "");
  return { json, code: typeof code === "number" ? code : -1, message: text_ };
}

function stepJson(step: EtcdStep): unknown {
  if ("put" in step) return { request_put: { key: base64(step.put), value: base64(step.value) } };
  if ("delete" in step) return { request_delete_range: { key: base64(step.delete) } };
  const end = step.end === undefined ? {} : { range_end: base64(step.end) };
  return { request_range: { key: base64(step.get), ...end } };
}

interface AnswerJson {
  readonly header?: { readonly revision?: string };
  readonly succeeded?: boolean;
  readonly responses?: readonly {
    readonly response_range?: {
      readonly kvs?: readonly { readonly key?: string; readonly value?: string }[];
    };
  }[];
}

/** What is empty or false is not in an answer. */
function readAnswer(json: unknown): EtcdAnswer {
  const { header, succeeded = false, responses = [] } = json as AnswerJson;
  return {
    isDone: succeeded,
    revision: BigInt(header?.revision ?? 0),
    found: responses.flatMap(({ response_range: range }) =>
      range ? [(range.kvs ?? []).map(({ key, value }) => ({ key: text(key), value: text(value) }))] : []
    ),
  };
}

function base64(text: string): string {
  return Buffer.from(text, "utf8").toString("base64");
}

function text(encoded = ""): string {
  return Buffer.from(encoded, "base64").toString("utf8");
}

/** Returns the key that ends the range of all keys with a prefix that ends in a slash. */
export function endOfPrefix(prefix: string): string {
  // "0" follows "/".
  return `${prefix.slice(0, -1)}0`;
}
