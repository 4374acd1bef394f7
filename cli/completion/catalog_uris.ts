/** URIs of the catalog that a half-typed one may become: the schemes of the configuration, and what lies in a local folder. */

import { isLocalDriver } from "../../catalog/offline.ts";
import type { Catalogs } from "../catalogs.ts";
import { SCHEME } from "../locations.ts";
import { encodedRest } from "./uris.ts";

const MOST = 200;

/** Returns the URIs that begin with what was typed. Nobody is asked over a network, and no hook is run. */
export async function completeCatalogUri(typed: string, catalogs: Catalogs): Promise<readonly string[]> {
  const config = await catalogs.configuration();
  if (!config) return [];
  if (!typed.includes("://")) {
    const stores = [...config.stores.values()].filter(({ path }) => path).map(({ name }) => name);
    return [...config.schemes.keys(), ...stores].filter((name) => name !== SCHEME)
      .map((name) => `${name}://`).filter((start) => start.startsWith(typed)).sort();
  }
  if (typed.startsWith(`${SCHEME}://`) || config.hooks.length > 0) return [];
  const folder = typed.slice(0, typed.lastIndexOf("/") + 1);
  const begun = decodeURIComponent(typed.slice(folder.length));
  const catalog = await catalogs.open();
  const { uri } = await catalog.resolve(folder);
  const driver = config.stores.get(uri.scheme)?.driver;
  if (driver === undefined || !isLocalDriver(driver)) return [];
  const candidates: string[] = [];
  for await (const page of catalog.list(folder)) {
    for (const { name, kind } of page) {
      if (!name.startsWith(begun)) continue;
      candidates.push(`${typed}${encodedRest(name.slice(begun.length))}${kind === "folder" ? "/" : ""}`);
      if (candidates.length === MOST) return candidates;
    }
  }
  return candidates;
}
