/** The store of one run: opened when first asked for, closed once at the end. */

import { join } from "node:path";
import type { Store, StoreCosts } from "../drivers/store.ts";
import type { Environment } from "./environment.ts";

/** Opens the store of a home; without one, an empty store that keeps nothing. */
export type OpenStore = (home: string | undefined) => Promise<Store>;

export class Session {
  readonly #environment: Environment;
  readonly #chosenHome: string | undefined;
  readonly #open: OpenStore;
  #store: Promise<Store> | undefined;
  #home: string | undefined;

  constructor(environment: Environment, options: { chosenHome?: string; open?: OpenStore } = {}) {
    this.#environment = environment;
    this.#chosenHome = options.chosenHome;
    this.#open = options.open ?? ((home) => openHome(home, environment));
  }

  /** Returns the store; where there is no home yet, one without repositories. */
  store(): Promise<Store> {
    this.#store ??= this.#openFound();
    return this.#store;
  }

  /** Returns the store, made with its home if there is none: for commands that can be a user's first. */
  async makeStore(): Promise<Store> {
    const { findHome, makeHome } = await import("../catalog/home.ts");
    const found = findHome(this.#environment.homePlaces(this.#chosenHome));
    if (!found.ready) {
      await this.close();
      makeHome(found.folder);
    }
    return await this.store();
  }

  /** Returns the folder of the home that the store was opened in, if any. */
  get home(): string | undefined {
    return this.#home;
  }

  /** Returns what the store of this run has cost, if it was opened and counts that. */
  async costs(): Promise<StoreCosts | undefined> {
    return await (await this.#store?.catch(() => undefined))?.costs?.();
  }

  async close(): Promise<void> {
    const store = this.#store;
    this.#store = undefined;
    await (await store?.catch(() => undefined))?.close();
  }

  async #openFound(): Promise<Store> {
    const { findHome } = await import("../catalog/home.ts");
    const found = findHome(this.#environment.homePlaces(this.#chosenHome));
    this.#home = found.ready ? found.folder : undefined;
    return await this.#open(this.#home);
  }
}

async function openHome(home: string | undefined, environment: Environment): Promise<Store> {
  const { openHomeStore } = await import("../catalog/registry.ts");
  return await openHomeStore(home, { nativeFolders: [join(environment.cacheFolder(), "native")] });
}
