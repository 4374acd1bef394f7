/** An engine over memory, with time and chance held by the test. */

import type { Clock } from "../../base/clock.ts";
import { utf8 } from "../../base/bytes.ts";
import { type Randomness, seededRandomness } from "../../base/randomness.ts";
import { openMemoryObjectStore } from "../../drivers/memory/mod.ts";
import type { ObjectStore } from "../../drivers/object_store.ts";
import type { DiffItem, ListItem, Store } from "../../drivers/store.ts";
import { type EngineContext, openEngineStore } from "../../engine/mod.ts";
import { openMemoryKv } from "../../kv/memory/mod.ts";
import type { KvStore } from "../../kv/store.ts";

export interface TestClock extends Clock {
  advance(milliseconds: number): void;
}

/** A clock that moves a little with each look, and when told to; sleeping takes no time but moves it. */
export function testClock(startMs = Date.UTC(2026, 0, 1)): TestClock {
  let now = startMs;
  return {
    now: () => now += 0.25,
    sleep(milliseconds) {
      now += milliseconds;
      return Promise.resolve();
    },
    advance(milliseconds) {
      now += milliseconds;
    },
  };
}

export interface TestEngine {
  readonly store: Store;
  readonly context: EngineContext;
  readonly kv: KvStore;
  readonly clock: TestClock;
  readonly objects: ObjectStore;
}

export interface TestEngineOptions {
  readonly kv?: KvStore;
  readonly objects?: ObjectStore;
  readonly randomness?: Randomness;
  readonly clock?: TestClock;
}

let engines = 0;

/** Opens an engine; all its repositories but those with a namespace of their own share nothing but the KV. */
export function testEngine(options: TestEngineOptions = {}): TestEngine {
  const kv = options.kv ?? openMemoryKv();
  const clock = options.clock ?? testClock();
  const stores = new Map<string, ObjectStore>();
  const objects = options.objects ?? openMemoryObjectStore();
  const context: EngineContext = {
    kv,
    clock,
    randomness: options.randomness ?? seededRandomness(++engines),
    canonicalNamespace: (namespace) => namespace,
    defaultNamespace: (repository, uid) => `mem://${repository}-${uid}`,
    openObjects(namespace) {
      // The first namespace gets the store that the test holds.
      if (!stores.has(namespace)) {
        stores.set(namespace, stores.size === 0 ? objects : openMemoryObjectStore());
      }
      return Promise.resolve(stores.get(namespace)!);
    },
  };
  return { store: openEngineStore(context), context, kv, clock, objects };
}

export const WHO = "tester";

/** Writes objects (text) and deletes paths (`undefined`), staged when it returns. */
export async function write(
  store: Store,
  branch: string,
  contents: Readonly<Record<string, string | undefined>>,
  repository = "repo",
): Promise<void> {
  const writer = await store.writer(repository, branch);
  for (const [path, text] of Object.entries(contents)) {
    if (text === undefined) await writer.delete(path);
    else await writer.put(path, utf8(text));
  }
  await writer.close();
}

/** Writes and commits; returns the commit ID. */
export async function commit(
  store: Store,
  branch: string,
  contents: Readonly<Record<string, string | undefined>>,
  message = "change",
): Promise<string> {
  await write(store, branch, contents);
  return (await store.commit("repo", branch, { message, committer: WHO })).id;
}

/** Reads an object as text; `undefined` when it is not there. */
export async function readText(store: Store, ref: string, path: string): Promise<string | undefined> {
  try {
    const { body } = await store.read("repo", ref, path);
    const decoder = new TextDecoder();
    let text = "";
    for await (const piece of body) text += decoder.decode(piece, { stream: true });
    return text;
  } catch (error) {
    if ((error as { code?: string }).code === "object_not_found") return undefined;
    throw error;
  }
}

/** Returns all contents that a ref shows. */
export async function contents(store: Store, ref: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const page of store.list("repo", ref)) {
    for (const item of page) {
      if (item.kind === "object") found[item.stats.path] = (await readText(store, ref, item.stats.path))!;
    }
  }
  return found;
}

/** Collects pages into one list. */
export async function collect<T>(pages: AsyncIterable<readonly T[]>): Promise<T[]> {
  const items: T[] = [];
  for await (const page of pages) items.push(...page);
  return items;
}

/** Shows differences as `+path`, `-path`, `~path`. */
export function signs(items: readonly DiffItem[]): string[] {
  return items.map(({ type, path }) => `${type === "added" ? "+" : type === "removed" ? "-" : "~"}${path}`);
}

/** Shows list items as their paths. */
export function paths(items: readonly ListItem[]): string[] {
  return items.map((item) => item.kind === "object" ? item.stats.path : item.path);
}

/** Makes the repository `repo` with branch `main`. */
export async function withRepository(engine: TestEngine = testEngine()): Promise<TestEngine> {
  await engine.store.createRepository("repo", { committer: WHO });
  return engine;
}
