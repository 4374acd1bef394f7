/** A running server: it listens, answers, and stops when it has finished what it began. */

import { systemClock } from "../base/clock.ts";
import { hex } from "../base/bytes.ts";
import { CodedError } from "../base/errors.ts";
import { type Randomness, systemRandomness } from "../base/randomness.ts";
import type { Durability, Store } from "../drivers/store.ts";
import { isLoopbackHost } from "./addresses.ts";
import { createApp } from "./app.ts";
import { type Auth, randomText } from "./auth/mod.ts";
import { DEFAULT_LIMITS, type ServerContext } from "./context.ts";
import { errorResponse } from "./errors.ts";
import { AutoCommit } from "./gateway/auto_commit.ts";
import { gatewayHandler, isS3Request } from "./gateway/mod.ts";
import { DEFAULT_S3, type S3Settings } from "./gateway/settings.ts";
import { keepHeapSmall, runtimeHeap } from "./heap.ts";
import { listen, type ListenAddress, type Listening, type RequestHandler } from "./listen.ts";
import type { Log } from "./log.ts";
import { Metrics } from "./metrics.ts";

const BEAT_MS = 1000;

export interface ServeOptions {
  readonly store: Store;
  readonly auth: Auth;
  readonly log: Log;
  readonly address: ListenAddress;
  /** More names of this machine that requests may be for. */
  readonly hostNames?: readonly string[];
  /** Of uploads; strict by default. */
  readonly durability?: Durability;
  readonly metricsArePublic?: boolean;
  readonly s3?: S3Settings;
  readonly randomness?: Randomness;
}

export interface RunningServer {
  readonly address: ListenAddress;
  /** What sets up the first user from elsewhere; good once. */
  readonly setupToken: string;
  readonly isSetUp: boolean;
  /** Takes nothing new, finishes what has begun, and ends. */
  stop(): Promise<void>;
}

/** Makes the context of a server. */
export function serverContext(options: ServeOptions): ServerContext {
  const randomness = options.randomness ?? systemRandomness;
  const { store, log, s3 = DEFAULT_S3 } = options;
  const server = hex(randomness.bytes(8));
  return {
    store: options.store,
    auth: options.auth,
    clock: systemClock,
    randomness,
    log: options.log,
    metrics: new Metrics(),
    limits: DEFAULT_LIMITS,
    hosts: new Set([options.address.host, ...(options.hostNames ?? [])].map((host) => host.toLowerCase())),
    setupToken: randomText(randomness, "abcdefghijkmnpqrstuvwxyz23456789", 32),
    durability: options.durability ?? "strict",
    metricsArePublic: options.metricsArePublic ?? false,
    s3,
    ...(s3.autoCommit
      ? { autoCommit: new AutoCommit({ store, log, clock: systemClock, settings: s3.autoCommit, server }) }
      : {}),
  };
}

/** Returns what answers requests. */
export function requestHandler(context: ServerContext): RequestHandler {
  const app = createApp(), gateway = gatewayHandler(context);
  return (request, peer) =>
    isS3Request(request, context.hosts) ? gateway(request, peer) : app.fetch(request, { context, peer });
}

/** Fails as {@link startServer} would, and listens no longer than that takes. */
export async function checkServing({ auth, address }: Pick<ServeOptions, "auth" | "address">): Promise<void> {
  await checkUsers({ auth, address });
  const handler = () => stopping();
  await listen({ ...address, idleSeconds: DEFAULT_LIMITS.idleSeconds, handler, onError: () => {} }).close();
}

/** Returns whether there has been a first user; only this machine may come before. */
async function checkUsers(
  { auth, address: { host } }: Pick<ServeOptions, "auth" | "address">,
): Promise<boolean> {
  const isSetUp = await auth.users.isSetUp();
  await auth.checkKey();
  if (isSetUp || isLoopbackHost(host)) return isSetUp;
  throw new CodedError(
    "forbidden",
    "setup_needed",
    `Cannot listen on "${host}", where others may come from: there are no credentials yet`,
  );
}

/** Serves until it is stopped. Fails with `setup_needed`, `cannot_listen`, or what keeps sealed secrets from being opened. */
export async function startServer(options: ServeOptions): Promise<RunningServer> {
  const isSetUp = await checkUsers(options);
  const context = serverContext(options);
  const answer = requestHandler(context);
  let isStopping = false;
  const listening = listen({
    ...options.address,
    idleSeconds: context.limits.idleSeconds,
    handler: (request, peer) => isStopping ? stopping() : answer(request, peer),
    onError: (error) => context.log.error("a connection failed", { error: String(error) }),
  });
  // Only now, for it keeps the process up.
  const beating = new AbortController();
  void keepTasks(context, beating.signal);
  if (runtimeHeap) void keepHeapSmall(runtimeHeap, context.clock, beating.signal);
  const committing = keepCommitting(context, beating.signal);
  return {
    address: { host: options.address.host, port: listening.port },
    setupToken: context.setupToken,
    isSetUp,
    async stop() {
      isStopping = true;
      await drain(listening, context);
      beating.abort();
      await committing;
      await context.autoCommit?.finish();
      context.log.flush();
    },
  };
}

/** Tells other servers that what was begun here still runs. */
async function keepTasks({ store, clock }: ServerContext, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(BEAT_MS, signal).catch(() => {});
    if (!signal.aborted && (store.tasks?.running ?? 0) > 0) await store.tasks?.beat();
  }
}

/** Commits what servers left that are gone, and then what is written through S3. */
async function keepCommitting({ autoCommit, clock }: ServerContext, signal: AbortSignal): Promise<void> {
  if (!autoCommit) return;
  await autoCommit.takeOver();
  while (!signal.aborted) {
    await clock.sleep(BEAT_MS, signal).catch(() => {});
    if (!signal.aborted) await autoCommit.tick();
  }
}

/** Connections that are kept alive would keep the server up: they end once nothing is being answered. */
async function drain(listening: Listening, { store, clock, metrics, limits }: ServerContext): Promise<void> {
  listening.stopAccepting();
  const untilMs = clock.now() + limits.stopMs;
  const hasWork = () => metrics.inFlight > 0 || listening.pending() > 0 || (store.tasks?.running ?? 0) > 0;
  while (hasWork() && clock.now() < untilMs) await clock.sleep(5);
  // The last answers are on their way out.
  await clock.sleep(20);
  await listening.close();
}

function stopping(): Response {
  const response = errorResponse(
    new CodedError("unavailable", "server_stopping", "The server is stopping"),
  );
  response.headers.set("connection", "close");
  return response;
}
