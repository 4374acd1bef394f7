/** The calls of a catalog, each through the hooks of its spot. What a hook puts in a call's place is looked at anew. */

import { formatUri, parseUri } from "../base/uri.ts";
import type { Cache, HeldCache } from "../cache/mod.ts";
import type {
  CallOptions,
  CatalogCapability,
  Entry,
  MergeStrategy,
  PutSource,
} from "../drivers/catalog_store.ts";
import type { HookRequest, Hooks, Spot } from "./hooks/mod.ts";
import type { Resolution, Resolver } from "./resolver/mod.ts";
import type { Place, Stores } from "./stores.ts";
import { namedAfter, type Target, targetOf } from "./targets.ts";
import { checkWritablePlace, commitMetadata } from "./writing.ts";

/** A cache that can keep what it hands out for as long as it is used. */
export interface CatalogCache extends Cache {
  hold(): HeldCache;
}

export interface CommitOptions extends CallOptions {
  readonly message: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Takes only what lies at and under the URI. */
  readonly isPartial?: boolean;
}

export interface MergeOptions extends CallOptions {
  readonly message?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly strategy?: MergeStrategy;
}

export interface CallsParts {
  readonly hooks: Hooks;
  readonly stores: Stores;
  readonly resolver: Resolver;
  readonly cache: CatalogCache;
  readonly principal: string;
  readonly session: string;
}

/** Places a copy of what was fetched. */
export type PlaceSnapshot = (
  fetched: { readonly path: string; readonly target: Target },
  folder: string,
) => Promise<void>;

export class Calls {
  readonly hooks: Hooks;
  readonly #parts: CallsParts;

  constructor(parts: CallsParts) {
    this.hooks = parts.hooks;
    this.#parts = parts;
  }

  async session(phase: "start" | "end"): Promise<void> {
    const { principal, session } = this.#parts;
    await this.hooks.run({ spot: "session", principal, session, phase }, async () => undefined);
  }

  /** Resolves a URI. Fails as `Resolver.resolve()` does. */
  async target(text: string): Promise<Target> {
    const { resolver, principal, session } = this.#parts;
    const uri = parseUri(text);
    const asked = formatUri(uri);
    const logical = resolver.isLogical(uri) ? { logical: asked } : {};
    let found: Resolution | undefined;
    const physical = await this.hooks.run(
      { spot: "resolve", principal, session, uri: asked, ...logical },
      async () => (found = resolver.resolve(uri)).text,
    );
    // What a hook answered in its place is a place, and no logical URI leads there.
    const resolution = found?.text === physical ? found : { text: physical, uri: parseUri(physical) };
    return { asked, resolution, physical };
  }

  /** Returns the target with a fixed version. */
  async pin(target: Target, options?: CallOptions): Promise<Target> {
    const { cache } = this.#parts;
    const pinned = await this.hooks.run(this.request("pin", target), async (request) => {
      const { uri, store } = await this.#readable(request);
      return formatUri(await store.pin(uri, cache, options));
    });
    const uri = parseUri(pinned);
    if (this.#parts.stores.isSameThing(uri, parseUri(target.physical))) {
      return { ...target, physical: pinned };
    }
    // A hook has put something else there, and no logical URI leads to that.
    return { ...target, resolution: { text: pinned, uri }, physical: pinned };
  }

  async stat(target: Target, options?: CallOptions): Promise<Entry> {
    const { cache } = this.#parts;
    return await this.hooks.run(this.request("stat", target), async (request) => {
      const { uri, store } = await this.#readable(request);
      return await store.stat(uri, cache, options);
    });
  }

  async list(target: Target, options?: CallOptions): Promise<AsyncIterable<readonly Entry[]>> {
    const { cache } = this.#parts;
    return await this.hooks.run(this.request("list", target), async (request) => {
      const { uri, store } = await this.#readable(request);
      return store.list(uri, cache, options);
    });
  }

  /** Stores whose `fetch` pins by itself have the pin come first, so that hooks see it. */
  async fetch(target: Target, cache: CatalogCache | HeldCache, options?: CallOptions): Promise<string> {
    const { stores } = this.#parts;
    const fetched = stores.driverOf(target.physical).fetchPins ? await this.pin(target, options) : target;
    return await this.hooks.run(this.request("fetch", fetched), async (request) => {
      const { uri, store } = await this.#readable(request);
      return await store.fetch(uri, cache, options);
    });
  }

  /** `path` is where in a folder that is put the file stands. */
  async put(
    target: Target,
    source: PutSource,
    { path, ...options }: CallOptions & { readonly path?: string } = {},
  ): Promise<Entry> {
    const { cache } = this.#parts;
    const request = this.request("put", namedAfter(target, source), { source, path });
    return await this.hooks.run(request, async (request) => {
      const { uri, store } = await this.#changeable(request, "write");
      return await store.put(uri, request.source!, cache, options);
    });
  }

  /** Fails as a change of a target would before anything is done: `not_a_branch`, `unsupported_by_store`, `offline`. */
  async checkChangeable({ physical }: Target, capability: CatalogCapability): Promise<void> {
    await this.#changeable({ physical }, capability);
  }

  async delete(target: Target, options?: CallOptions): Promise<void> {
    const { cache } = this.#parts;
    await this.hooks.run(this.request("delete", target), async (request) => {
      const { uri, store } = await this.#changeable(request, "write");
      await store.delete(uri, cache, options);
      return undefined;
    });
  }

  async commit(target: Target, { message, metadata, ...options }: CommitOptions): Promise<string> {
    const request = this.request("commit", target, { message, metadata });
    return await this.hooks.run(request, async (request) => {
      const { uri, store } = await this.#changeable(request, "commit");
      const pinned = await store.commit(uri, {
        ...options,
        message: request.message!,
        committer: request.principal,
        metadata: commitMetadata(request.metadata, request.logical),
      });
      return formatUri(pinned);
    });
  }

  async branch(target: Target, from: string, options?: CallOptions): Promise<void> {
    await this.hooks.run(this.request("branch", target, { from }), async (request) => {
      const { uri, store } = await this.#changeable(request, "branch");
      await store.branch(uri, request.from!, { committer: request.principal, ...options });
      return undefined;
    });
  }

  async merge(
    target: Target,
    from: string,
    { message, metadata, strategy, ...options }: MergeOptions,
  ): Promise<string> {
    const request = this.request("merge", target, { from, message, metadata, strategy });
    return await this.hooks.run(request, async (request) => {
      const { uri, store } = await this.#changeable(request, "merge");
      const pinned = await store.merge(uri, request.from!, {
        ...options,
        message: request.message,
        committer: request.principal,
        metadata: commitMetadata(request.metadata, request.logical),
        strategy: request.strategy as MergeStrategy | undefined,
      });
      return formatUri(pinned);
    });
  }

  /** The pin and the fetch run inside the spot, which sees the physical URI before the pin. */
  async snapshot(
    target: Target,
    { folder, place, ...options }: CallOptions & { readonly folder: string; readonly place: PlaceSnapshot },
  ): Promise<string> {
    const { cache } = this.#parts;
    return await this.hooks.run(this.request("snapshot", target, { folder }), async (request) => {
      const held = cache.hold();
      try {
        const pinned = await this.pin(targetOf(target, request), options);
        await place({ path: await this.fetch(pinned, held, options), target: pinned }, folder);
        return folder;
      } finally {
        await held.release();
      }
    });
  }

  /** Returns the request that a call of a target is to hooks. */
  request<S extends Spot>(
    spot: S,
    { asked, resolution: { logical }, physical }: Target,
    more: Partial<HookRequest> = {},
  ): HookRequest & { readonly spot: S } {
    const { principal, session } = this.#parts;
    const given = Object.entries(more).filter(([, value]) => value !== undefined);
    return {
      spot,
      principal,
      session,
      uri: asked,
      ...(logical ? { logical: logical.text } : {}),
      physical,
      ...Object.fromEntries(given),
    };
  }

  #readable({ physical }: HookRequest): Promise<Place> {
    const uri = parseUri(physical!);
    return this.#parts.stores.place(uri, uri.at?.kind === "ts" ? "time" : "read");
  }

  async #changeable(
    { physical }: Pick<HookRequest, "physical">,
    capability: CatalogCapability,
  ): Promise<Place> {
    const { stores, cache } = this.#parts;
    const uri = parseUri(physical!);
    checkWritablePlace(uri);
    stores.check(uri, capability);
    if (cache.isOffline) stores.checkLocal(uri);
    return await stores.place(uri, capability);
  }
}
