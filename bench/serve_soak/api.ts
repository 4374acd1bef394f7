/** Requests of one client of the soak, and what each end of them means. */

import { createHash } from "node:crypto";
import type { Versions } from "../soak_model.ts";
import { Lost } from "../soak_process.ts";
import type { SoakServer } from "./server.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  readonly text: string;
  // deno-lint-ignore no-explicit-any
  readonly json: any;
}

export interface Sent {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The server was killed before it had answered: what was asked for is done or not. */
export class Unanswered extends Error {}

/** What became of a write. */
export type Outcome = "done" | "refused" | "unanswered";

/** A write, and what each end of it means for what must be there. */
export interface Write extends Sent {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  done(answer: Answer): void | Promise<void>;
  /** It may be done or not: looks, and fails if it is neither. */
  doubt(): Promise<void>;
  /** It was refused with a status below 500; absent if it must not be. Fails if it should not have been. */
  refused?(answer: Answer): void | Promise<void>;
}

/** Asks for what is below one repository. */
export class Api {
  readonly repository: string;
  readonly #server: SoakServer;

  private constructor(server: SoakServer, repository: string) {
    this.#server = server;
    this.repository = repository;
  }

  /** Makes an empty repository. */
  static async create(server: SoakServer, name: string): Promise<Api> {
    const response = await fetch(`${server.url}/api/v1/repositories`, {
      method: "POST",
      headers: { authorization: server.authorization, "content-type": "application/json" },
      body: JSON.stringify({ name, storage_namespace: `local://${name}` }),
    });
    if (response.status !== 201) throw new Lost(`repository ${name}: ${await response.text()}`);
    return new Api(server, name);
  }

  /** Sends a request. Fails with {@link Unanswered}, and for an answer that is the server's failure. */
  async ask(method: string, path: string, { body, headers = {} }: Sent = {}): Promise<Answer> {
    const server = this.#server;
    await server.isUp();
    const { kills } = server;
    const isJson = body !== undefined && typeof body !== "string" && !(body instanceof FormData);
    let answer: Answer;
    try {
      const response = await fetch(`${server.url}/api/v1/repositories/${this.repository}${path}`, {
        method,
        headers: {
          authorization: server.authorization,
          ...(isJson ? { "content-type": "application/json" } : {}),
          ...headers,
        },
        ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : body as BodyInit }),
      });
      answer = answerOf(response, new Uint8Array(await response.arrayBuffer()));
    } catch (error) {
      if (server.kills !== kills) throw new Unanswered();
      throw new Lost(`${method} ${path}: no answer, and nobody killed the server: ${error}`);
    }
    if (answer.status >= 500) throw new Lost(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer;
  }

  /** Asks until there is an answer, which must have the status: for what changes nothing. */
  async look(path: string, status: number | readonly number[] = 200, sent: Sent = {}): Promise<Answer> {
    while (true) {
      try {
        const answer = await this.ask("GET", path, sent);
        if ([status].flat().includes(answer.status)) return answer;
        throw new Lost(`GET ${path}: ${answer.status} instead of ${status}: ${answer.text.slice(0, 300)}`);
      } catch (error) {
        if (!(error instanceof Unanswered)) throw error;
      }
    }
  }

  async write({ method, path, status, done, doubt, refused, ...sent }: Write): Promise<Outcome> {
    let answer: Answer;
    try {
      answer = await this.ask(method, path, sent);
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error;
      await doubt();
      return "unanswered";
    }
    if (answer.status === status) {
      await done(answer);
      return "done";
    }
    if (!refused) throw new Lost(`${method} ${path}: ${answer.status} ${answer.text}`);
    await refused(answer);
    return "refused";
  }

  /** Returns the results of all pages of a listing; `query` begins with "?". */
  // deno-lint-ignore no-explicit-any
  async all(path: string, amount = 1000): Promise<any[]> {
    const results = [];
    for (let after = "", hasMore = true; hasMore;) {
      const { json } = await this.look(`${path}&amount=${amount}&after=${encodeURIComponent(after)}`);
      results.push(...json.results);
      if (json.results.length > amount) throw new Lost(`${path}: a page of ${json.results.length}`);
      ({ has_more: hasMore, next_offset: after } = json.pagination);
    }
    return results;
  }

  /** Returns the MD5 sums of the objects that a ref shows under a prefix, by path. */
  async list(ref: string, prefix: string, amount?: number): Promise<Map<string, string>> {
    const objects = await this.all(`${objectsOf(ref)}/ls?prefix=${encodeURIComponent(prefix)}`, amount);
    const sums = new Map<string, string>(objects.map(({ path, checksum }) => [path, checksum]));
    if (sums.size !== objects.length) throw new Lost(`${ref} lists an object twice`);
    return sums;
  }

  /** Reads every one of these objects, and compares its bytes. */
  async readAll(ref: string, versions: Versions): Promise<void> {
    for (const [path, sum] of versions) {
      const { bytes } = await this.look(`${objectsOf(ref)}?path=${encodeURIComponent(path)}`);
      if (md5(bytes) !== sum) throw new Lost(`${ref}: "${path}" has other bytes than were put`);
    }
  }
}

/** The path below a repository of a ref's objects. */
export function objectsOf(ref: string): string {
  return `/refs/${encodeURIComponent(ref)}/objects`;
}

export function md5(content: string | Uint8Array): string {
  return createHash("md5").update(content).digest("hex");
}

function answerOf({ status, headers }: Response, bytes: Uint8Array): Answer {
  return {
    status,
    headers,
    bytes,
    get text() {
      return new TextDecoder().decode(bytes);
    },
    get json() {
      return JSON.parse(this.text);
    },
  };
}
