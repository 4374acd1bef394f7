/** A server of a test's own: the executable, serving a home. */

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { type ChildProcess, spawn } from "node:child_process";
import { binaryPath } from "./binary.ts";
import { type Home, openHome } from "./home.ts";
import type { Ending } from "./temporary.ts";

export interface ServedHome extends Home {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly process: ChildProcess;
  /** Settles with the exit code when the server has ended. */
  readonly ended: Promise<number | null>;
  /** What the server has written to standard error. */
  readonly log: () => string;
  /** Sends a request below `/api/v1` as the first user. */
  fetch(method: string, path: string, init?: RequestInit): Promise<Response>;
}

export interface ServeTestOptions {
  readonly user?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Makes a home with a first user and serves it until the test ends. */
export async function serveHome(t: Ending, options: ServeTestOptions = {}): Promise<ServedHome> {
  const home = openHome(t);
  const made = await home.json(["auth", "setup", options.user ?? "admin"], { env: options.env });
  return await serveAgain(t, home, { ...options, credential: made });
}

/** Serves a home that has a first user. */
export async function serveAgain(
  t: Ending,
  home: Home,
  { args = [], env = {}, credential }: ServeTestOptions & {
    readonly credential: { readonly access_key_id: string; readonly secret_access_key: string };
  },
): Promise<ServedHome> {
  const child = spawn(binaryPath(), ["serve", "--listen", "127.0.0.1:0", "--json", ...args], {
    cwd: home.folder,
    env: { TARN_HOME: home.path, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let log = "";
  child.stderr!.setEncoding("utf8").on("data", (text: string) => log += text);
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  t.after(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const { url } = await announcement(child, { ended, log: () => log });
  const { access_key_id: accessKeyId, secret_access_key: secretAccessKey } = credential;
  const authorization = `Basic ${Buffer.from(`${accessKeyId}:${secretAccessKey}`).toString("base64")}`;
  return {
    ...home,
    url,
    accessKeyId,
    secretAccessKey,
    process: child,
    ended,
    log: () => log,
    fetch: (method, path, init = {}) =>
      fetch(`${url}/api/v1${path}`, { ...init, method, headers: { authorization, ...init.headers } }),
  };
}

/** Returns what the server prints when it listens. */
async function announcement(
  child: ChildProcess,
  { ended, log }: { ended: Promise<unknown>; log: () => string },
): Promise<{ url: string }> {
  let text = "";
  const printed = new Promise<{ url: string }>((resolve) => {
    child.stdout!.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
      if (text.trimEnd().endsWith("}")) resolve(JSON.parse(text));
    });
  });
  const result = await Promise.race([printed, ended]);
  assert.ok(result !== null && typeof result === "object", `the server ended at once: ${log()}`);
  return result as { url: string };
}
