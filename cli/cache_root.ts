/** Where the cache of the catalog lies. */

import { basename, join } from "node:path";
import { hex, utf8 } from "../base/bytes.ts";
import { sha256 } from "../base/hashes.ts";
import type { Config } from "../catalog/config/mod.ts";
import type { Environment } from "./environment.ts";

/**
 * Returns the folder that the configuration names, or one of the user's own. That is another one for each configuration, tenant
 * and home: a store's name may stand for something else in each, and offline nothing but the cache would tell.
 */
export function cacheRoot(
  { cache, tenant, raw }: Pick<Config, "cache" | "tenant" | "raw">,
  { environment, home }: { readonly environment: Environment; readonly home: string | undefined },
): string {
  if (cache.root !== undefined) return cache.root;
  const { folder, origin = "" } = raw;
  const source = folder === undefined ? origin : join(folder, basename(origin));
  const parts = [source, tenant, home, environment.variable("TARN_KV")].map((part) => part ?? null);
  const name = hex(sha256(utf8(JSON.stringify(parts))).subarray(0, 6));
  return join(environment.cacheFolder(), "catalog", name);
}
