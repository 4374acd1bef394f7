/**
 * Lifecycle spots: where hooks run. Every call of a catalog passes the spot of its kind, and what it does on the way passes
 * theirs: `resolve` before all, `pin` and `fetch` within `snapshot` and `open`.
 */

import type { Entry, PutSource } from "../../drivers/catalog_store.ts";

export const SPOTS = [
  "session",
  "resolve",
  "pin",
  "stat",
  "list",
  "fetch",
  "put",
  "delete",
  "commit",
  "branch",
  "merge",
  "snapshot",
  "open",
  "read_block",
  "close",
] as const;

export type Spot = typeof SPOTS[number];

/** What a hook is told of a call. All fields but those of {@link CHANGEABLE} stay as they are, whatever a hook passes on. */
export interface HookRequest {
  readonly spot: Spot;
  /** Tells the sessions of a program apart. */
  readonly session: string;
  /** Who asks. */
  readonly principal: string;
  /** As it was asked for; absent at `session` alone. */
  readonly uri?: string;
  /** The logical URI that leads to `physical`; absent where a physical one was asked for, or a hook put another in its place. */
  readonly logical?: string;
  /** Where it leads. Absent at `session` and `resolve`. */
  readonly physical?: string;
  /** At `session`. */
  readonly phase?: "start" | "end";
  /** At `put`: what is written; of a folder, `path` is the file's path in it. */
  readonly source?: PutSource;
  readonly path?: string;
  /** At `commit` and `merge`. */
  readonly message?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /** At `branch` and `merge`: the branch, tag or commit that it comes from. */
  readonly from?: string;
  /** At `merge`. */
  readonly strategy?: string;
  /** At `snapshot`: the folder that it is placed in. */
  readonly folder?: string;
  /** At `read_block`, in bytes. */
  readonly offset?: number;
  readonly length?: number;
}

/** What a file that is open is, as a hook at `open` sees it. */
export interface OpenedFile {
  /** The local copy. */
  readonly path: string;
  readonly sizeBytes: number;
}

/** What each spot answers with. */
export interface SpotAnswers {
  session: undefined;
  /** A physical URI. */
  resolve: string;
  /** A physical URI with a fixed version. */
  pin: string;
  stat: Entry;
  list: AsyncIterable<readonly Entry[]>;
  /** A local path. */
  fetch: string;
  put: Entry;
  delete: undefined;
  /** The physical URI of what was committed. */
  commit: string;
  branch: undefined;
  merge: string;
  /** The local path of the copy. */
  snapshot: string;
  open: OpenedFile;
  read_block: Uint8Array;
  close: undefined;
}

/** What a hook may change in a request that it passes on. */
export const CHANGEABLE: Readonly<Record<Spot, readonly (keyof HookRequest)[]>> = {
  session: [],
  resolve: [],
  pin: ["physical"],
  stat: ["physical"],
  list: ["physical"],
  fetch: ["physical"],
  put: ["physical", "source"],
  delete: ["physical"],
  commit: ["physical", "message", "metadata"],
  branch: ["physical", "from"],
  merge: ["physical", "from", "message", "metadata", "strategy"],
  snapshot: ["physical"],
  open: ["physical"],
  read_block: ["offset", "length"],
  close: [],
};

/** Runs what stands behind a hook: further hooks, then the call itself. With a request it runs that one instead. */
export type Next = (changed?: HookRequest) => Promise<unknown>;

/**
 * A hook: may look at a request, change it, answer it without calling `next`, change the answer, or throw to refuse. What it
 * answers must be what its spot answers with.
 */
export type HookFunction = (request: HookRequest, next: Next) => unknown;

export interface Hook {
  /** As messages name it. */
  readonly name: string;
  /** Where it runs; everywhere when absent. */
  readonly spots?: ReadonlySet<Spot>;
  readonly run: HookFunction;
  /** Ends what it keeps running, after the session has ended. */
  close?(): Promise<void>;
}
