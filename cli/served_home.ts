/** The home as the server has it: the engine's store and who may use it. */

import { join } from "node:path";
import { makeHome } from "../catalog/home.ts";
import { type S3Config, s3OfHome } from "../catalog/home_config.ts";
import { openHome } from "../catalog/registry.ts";
import { systemClock } from "../base/clock.ts";
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

/** Opens the home, made if there is none, and closes it after `use`. */
export async function withServedHome<T>(
  { environment, session }: Context,
  use: (home: ServedHome) => Promise<T>,
): Promise<T> {
  const { ready, folder } = await session.found();
  if (!ready) makeHome(folder);
  const found = await session.found();
  const s3 = await s3OfHome(found.folder);
  const { store, kv } = await openHome(found.folder, {
    ...await session.options(found),
    isForLong: true,
  });
  try {
    const secretKeyFile = environment.variable("TARN_SECRET_KEY_FILE") ?? join(found.folder, "secret.key");
    const auth = new Auth({ kv, clock: systemClock, randomness: systemRandomness, secretKeyFile });
    return await use({ folder: found.folder, store, auth, s3 });
  } finally {
    await store.close();
  }
}
