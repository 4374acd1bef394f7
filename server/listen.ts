/**
 * The runtime's own HTTP server behind one function: Bun's, or Deno's. Beside `base/platform.ts` the only file that knows
 * either.
 */

import { isIP } from "node:net";
import { CodedError } from "../base/errors.ts";
import { hostOfHeader } from "./addresses.ts";
import { type PathShape, pathShapes, rawTarget } from "./raw_target.ts";

/** Who sent a request. */
export interface Peer {
  /** The address that the connection comes from, if it is known. */
  address(): string | undefined;
  /** The target of the request line, where the request's URL is no longer it. */
  target?(): string | undefined;
  /** Lets the connection be without traffic while we work: an idle one is otherwise closed. */
  keepOpen(): void;
  /** Takes that back, for the connection outlives the request. */
  closeWhenIdle(): void;
}

export type RequestHandler = (request: Request, peer: Peer) => Response | Promise<Response>;

export interface ListenOptions {
  readonly host: string;
  /** 0 for a free one. */
  readonly port: number;
  readonly handler: RequestHandler;
  /** Closes a connection on which nothing has moved for so long. */
  readonly idleSeconds: number;
  /** Told what escaped the handler, which answers all that it knows of. */
  readonly onError: (error: unknown) => void;
}

export interface Listening {
  readonly port: number;
  /** How many requests have not been answered to the end, if the runtime tells. */
  pending(): number;
  /** Takes no more connections. */
  stopAccepting(): void;
  /** Ends all connections. */
  close(): Promise<void>;
}

/** Listens for HTTP. Fails with `cannot_listen` (kind `unavailable`). */
export function listen(options: ListenOptions): Listening {
  const { Bun: bun, Deno: deno } = globalThis as { Bun?: BunServing; Deno?: DenoServing };
  try {
    if (bun) return listenOnBun(bun, options);
    if (deno) return listenOnDeno(deno, options);
  } catch (error) {
    throw cannotListen(options, error);
  }
  throw new CodedError("unsupported", "runtime_unsupported", "Cannot serve: this runtime has no HTTP server");
}

interface BunServer {
  readonly port: number;
  readonly pendingRequests: number;
  requestIP(request: Request): { address: string } | null;
  timeout(request: Request, seconds: number): void;
  stop(closeConnections?: boolean): Promise<void>;
}

type BunRoute = (request: Request, server: BunServer) => Response | Promise<Response>;

interface BunServing {
  serve(options: {
    hostname: string;
    port: number;
    development: boolean;
    reusePort: boolean;
    idleTimeout: number;
    maxRequestBodySize: number;
    routes: Record<string, BunRoute>;
    fetch: BunRoute;
    error(error: unknown): Response;
  }): BunServer;
}

interface BunPeerOptions {
  readonly server: BunServer;
  readonly idleSeconds: number;
  /** Of the route that the request took. */
  readonly shape: PathShape | undefined;
}

class BunPeer implements Peer {
  readonly #request: Request;
  readonly #server: BunServer;
  readonly #idleSeconds: number;
  readonly #shape: PathShape | undefined;
  #isKept = false;

  constructor(request: Request, { server, idleSeconds, shape }: BunPeerOptions) {
    this.#request = request;
    this.#server = server;
    this.#idleSeconds = idleSeconds;
    this.#shape = shape;
  }

  target(): string | undefined {
    const { url } = this.#request;
    return this.#shape &&
      rawTarget(url, {
        shape: this.#shape,
        params: () => (this.#request as Request & { params: Record<string, string> }).params,
      });
  }

  address(): string | undefined {
    return this.#server.requestIP(this.#request)?.address;
  }

  keepOpen(): void {
    this.#isKept = true;
    this.#server.timeout(this.#request, 0);
  }

  closeWhenIdle(): void {
    if (this.#isKept) this.#server.timeout(this.#request, this.#idleSeconds);
    this.#isKept = false;
  }
}

function listenOnBun(
  bun: BunServing,
  { host, port, handler, idleSeconds, onError }: ListenOptions,
): Listening {
  const route = (shape?: PathShape): BunRoute => (request, server) =>
    handler(request, new BunPeer(request, { server, idleSeconds, shape }));
  const server = bun.serve({
    hostname: host,
    port,
    development: false,
    // Outside of development it would share a port that another process listens on.
    reusePort: false,
    idleTimeout: idleSeconds,
    // Bodies are counted as they come: what is stored may be of any size, all else is bounded.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    routes: Object.fromEntries(pathShapes().map(({ pattern, shape }) => [pattern, route(shape)])),
    fetch: route(),
    error(error) {
      onError(error);
      return new Response(null, { status: 500 });
    },
  });
  return {
    port: server.port,
    pending: () => server.pendingRequests,
    stopAccepting: () => void server.stop(false),
    close: () => server.stop(true),
  };
}

interface DenoServing {
  serve(
    options: {
      hostname: string;
      port: number;
      onListen(): void;
      onError(error: unknown): Response;
    },
    handler: (request: Request, info: { remoteAddr: { hostname?: string } }) => Response | Promise<Response>,
  ): { readonly addr: { port: number }; shutdown(): Promise<void> };
}

/** Deno closes idle connections by a rule of its own, and all of them once it was told to stop and has answered. */
function listenOnDeno(deno: DenoServing, { host, port, handler, onError }: ListenOptions): Listening {
  const server = deno.serve(
    {
      hostname: host,
      port,
      onListen() {},
      onError(error) {
        onError(error);
        return new Response(null, { status: 500 });
      },
    },
    (request, { remoteAddr }) =>
      handler(request, { address: () => remoteAddr.hostname, keepOpen() {}, closeWhenIdle() {} }),
  );
  let stopped: Promise<void> | undefined;
  const stop = () => stopped ??= server.shutdown();
  return { port: server.addr.port, pending: () => 0, stopAccepting: () => void stop(), close: stop };
}

/** A host and port as people write them: `127.0.0.1:8000`, `[::1]:8000`, `localhost:0`. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Parses the address to listen on. Fails with `invalid_argument`. */
export function parseListenAddress(text: string): ListenAddress {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9.-]+)):([0-9]{1,5})$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  if (host !== undefined && port <= 65_535 && (match![1] === undefined || isIP(host) === 6)) {
    return { host, port };
  }
  throw new CodedError(
    "invalid",
    "invalid_argument",
    `Cannot listen on "${text}": it must be HOST:PORT, such as 127.0.0.1:8000`,
  );
}

/** Parses a name, or an address, that the server is known by: as a `Host` header has it. Fails with `invalid_argument`. */
export function parseHostName(text: string): string {
  const host = hostOfHeader(text);
  if (host !== undefined && [host, `[${host}]`].includes(text.toLowerCase())) return host;
  throw new CodedError(
    "invalid",
    "invalid_argument",
    `Cannot use the host name "${text}": it must be a name alone, such as data.example, without scheme, port or path`,
  );
}

/** Returns the address as it stands in a URL. */
export function shownAddress({ host, port }: ListenAddress): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function cannotListen(options: ListenOptions, error: unknown): CodedError {
  const code = (error as { code?: string }).code;
  const why = code === "EADDRINUSE"
    ? "another program listens there"
    : code === "EACCES"
    ? "no permission"
    : code === "EADDRNOTAVAIL"
    ? "this machine has no such address"
    : "the system refuses it";
  return new CodedError("unavailable", "cannot_listen", `Cannot listen on ${shownAddress(options)}: ${why}`, {
    cause: error,
  });
}
