/** The home as the server has it: the engine's store and who may use it. */

import { join } from "node:path";
import { makeHome } from "../catalog/home.ts";
import { type S3Config, s3OfHome } from "../catalog/home_config.ts";
import { type HomeStoreOptions, type OpenHome, openHome } from "../catalog/registry.ts";
import { systemClock } from "../base/clock.ts";
import { isCoded } from "../base/errors.ts";
import { systemRandomness } from "../base/randomness.ts";
import type { Store } from "../drivers/store.ts";
import { Auth } from "../server/mod.ts";
import type { Context } from "./context.ts";

export interface ServedHome {
  readonly folder: string;
  readonly store: Store;
  readonly auth: Auth;
  readonly s3: S3Config;
}

/**
 * Opens the home, made if there is none, and closes it after `use`. Nothing is made if `check` fails, which is given who may
 * use the home as it is before.
 */
export async function withServedHome<T>(
  context: Context,
  { check, use }: {
    readonly check: (auth: Auth) => Promise<void>;
    readonly use: (home: ServedHome) => Promise<T>;
  },
): Promise<T> {
  const { session } = context;
  const { ready, folder } = await session.found();
  if (!ready) {
    await withStore(context, { makes: false, use: ({ auth }) => check(auth) });
    makeHome(folder);
  }
  return await withStore(context, { makes: true, use });
}

/** Opens the home as it is; where there is none, what `TARN_KV` names, or nothing. */
export async function withStore<T>(
  { environment, session }: Context,
  { makes, use }: { readonly makes: boolean; readonly use: (home: ServedHome) => Promise<T> },
): Promise<T> {
  const found = await session.found();
  const { folder } = found;
  const s3 = await s3OfHome(folder);
  const { store, kv } = await openAsItIs(found.ready ? folder : undefined, {
    ...await session.options(found),
    isForLong: true,
    makesKv: makes,
  });
  try {
    const secretKeyFile = environment.variable("TARN_SECRET_KEY_FILE") ?? join(folder, "secret.key");
    const auth = new Auth({ kv, clock: systemClock, randomness: systemRandomness, secretKeyFile });
    return await use({ folder, store, auth, s3 });
  } finally {
    await store.close();
  }
}

/** A key-value store that is named and not there, where no home is either, holds nothing. */
async function openAsItIs(home: string | undefined, options: HomeStoreOptions): Promise<OpenHome> {
  try {
    return await openHome(home, options);
  } catch (error) {
    if (home !== undefined || !isCoded(error, "kv_missing")) throw error;
    return await openHome(undefined, { ...options, kv: undefined });
  }
}
