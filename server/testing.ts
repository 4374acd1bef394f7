/** The server in a test: its app over an engine in memory, and clients of it. */

import type { Store } from "../drivers/store.ts";
import { seededRandomness } from "../base/randomness.ts";
import { type Ending, temporaryFolder } from "../tests/support/temporary.ts";
import { type TestEngine, testEngine } from "../tests/support/test_engine.ts";
import { join } from "node:path";
import { Buffer } from "node:buffer";
import { Auth, type NewCredential } from "./auth/mod.ts";
import type { ServerContext } from "./context.ts";
import { Log } from "./log.ts";
import { requestHandler, serverContext } from "./server.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON. */
  // deno-lint-ignore no-explicit-any
  readonly json: any;
}

export interface SendOptions {
  /** Sent as JSON, unless it is text, bytes or a stream. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Where the request comes from. */
  readonly address?: string;
}

/** Sends a request: `send("GET", "/repositories")`; the path is below `/api/v1` unless it begins with `//`. */
export type Send = (method: string, path: string, options?: SendOptions) => Promise<Answer>;

export interface TestServer {
  readonly engine: TestEngine;
  readonly store: Store;
  readonly auth: Auth;
  readonly context: ServerContext;
  /** The credential of the user `admin`. */
  readonly admin: NewCredential;
  /** Sends as `admin`. */
  readonly send: Send;
  /** Sends without credentials. */
  readonly sendAsNobody: Send;
  /** The lines of the log so far. */
  readonly logged: () => string;
}

export interface TestServerOptions {
  /** Stands between the server and the engine. */
  readonly around?: (store: Store) => Store;
  /** Leave out the first user. */
  readonly isBare?: boolean;
}

/** Opens a server whose user `admin` may do everything, and which has no repositories. */
export async function testServer(t: Ending, options: TestServerOptions = {}): Promise<TestServer> {
  const engine = testEngine();
  const store = options.around?.(engine.store) ?? engine.store;
  const seams = { clock: engine.clock, randomness: seededRandomness(7) };
  const auth = new Auth({ kv: engine.kv, secretKeyFile: join(temporaryFolder(t), "secret.key"), ...seams });
  let logged = "";
  const log = new Log({ clock: engine.clock, level: "info", write: (text) => void (logged += text) });
  const address = { host: "127.0.0.1", port: 8000 };
  const context = { ...serverContext({ store, auth, log, address }), clock: engine.clock };
  const admin = options.isBare
    ? { accessKeyId: "", secretAccessKey: "", created: 0 }
    : await auth.users.setUp("admin");
  return {
    engine,
    store,
    auth,
    context,
    admin,
    send: sender(context, { authorization: basic(admin.accessKeyId, admin.secretAccessKey) }),
    sendAsNobody: sender(context, {}),
    logged() {
      log.flush();
      return logged;
    },
  };
}

/** Returns a header that logs in with an access key and its secret. */
export function basic(accessKeyId: string, secretAccessKey: string): string {
  return `Basic ${Buffer.from(`${accessKeyId}:${secretAccessKey}`).toString("base64")}`;
}

function sender(context: ServerContext, own: Readonly<Record<string, string>>): Send {
  const handle = requestHandler(context);
  return async (method, path, { body, headers = {}, address = "127.0.0.1" } = {}) => {
    const isJson = body !== undefined && typeof body !== "string" && !(body instanceof Uint8Array) &&
      !(body instanceof ReadableStream);
    const url = path.startsWith("//") ? path.slice(1) : `/api/v1${path}`;
    const request = new Request(`http://localhost${url}`, {
      method,
      headers: {
        host: "localhost:8000",
        ...own,
        ...(isJson ? { "content-type": "application/json" } : {}),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { body: (isJson ? JSON.stringify(body) : body) as BodyInit, duplex: "half" }),
    });
    const response = await handle(request, {
      address: () => address,
      keepOpen() {},
      closeWhenIdle() {},
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      get json() {
        return JSON.parse(text);
      },
    };
  };
}
