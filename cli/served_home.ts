/** The home as the server has it: the engine's store and who may use it. */

import { join } from "node:path";
import { findHome, makeHome } from "../catalog/home.ts";
import { type S3Config, s3OfHome } from "../catalog/home_config.ts";
import { openHome } from "../catalog/registry.ts";
import { systemClock } from "../base/clock.ts";
import { systemRandomness } from "../base/randomness.ts";
import type { Store } from "../drivers/store.ts";
import { Auth } from "../server/mod.ts";
import type { Context } from "./context.ts";
import { homeOptions } from "./session.ts";

export interface ServedHome {
  readonly folder: string;
  readonly store: Store;
  readonly auth: Auth;
  readonly s3: S3Config;
}

/** Opens the home, made if there is none, and closes it after `use`. */
export async function withServedHome<T>(
  { environment, arguments: given }: Context,
  use: (home: ServedHome) => Promise<T>,
): Promise<T> {
  const places = environment.homePlaces(given.value("home"));
  if (!findHome(places).ready) makeHome(findHome(places).folder);
  const found = findHome(places);
  const s3 = await s3OfHome(found.folder);
  const { store, kv } = await openHome(found.folder, await homeOptions(found, environment));
  try {
    const secretKeyFile = environment.variable("TARN_SECRET_KEY_FILE") ?? join(found.folder, "secret.key");
    const auth = new Auth({ kv, clock: systemClock, randomness: systemRandomness, secretKeyFile });
    return await use({ folder: found.folder, store, auth, s3 });
  } finally {
    await store.close();
  }
}
