/** Stores: a driver and its options, of the types that the driver says. */

import {
  CATALOG_DRIVERS,
  type CatalogDriverName,
  DRIVERS_OF_THIS_VERSION,
} from "../../drivers/catalog_store.ts";
import { closest } from "../../base/suggestions.ts";
import { CodedError } from "../../base/errors.ts";
import { parseKvAddress } from "../kv_address.ts";
import { BUILT_IN_STORES, type StoreConfig } from "./config.ts";
import { isLocalUrl, type OptionValue, type Places, type Read, readOption } from "./options.ts";
import type { Reading } from "./reading.ts";
import type { Path, Plain } from "./tree.ts";
import type { Item, Items } from "./view.ts";

/** Returns the stores by name, the built-in ones included. */
export function loadStores(reading: Reading, items: Items): ReadonlyMap<string, StoreConfig> {
  const stores = new Map<string, StoreConfig>();
  for (const [name, driver] of Object.entries(BUILT_IN_STORES)) {
    stores.set(name, { name, driver, options: {} });
  }
  for (const [name, item] of items) {
    const store = loadStore(reading, name, item);
    if (store) stores.set(name, store);
  }
  return stores;
}

function loadStore(reading: Reading, name: string, item: Item): StoreConfig | undefined {
  const { path } = item;
  reading.checkSchemeName(name, path);
  const value = reading.map(item, "it must be a driver with its options");
  const driver = value && loadDriver(reading, value["driver"] ?? null, [...path, "driver"]);
  if (!value || !driver) return undefined;
  const types = CATALOG_DRIVERS[driver].options;
  reading.refuseUnknown(value, path, ["driver", ...Object.keys(types)]);
  const options: Record<string, OptionValue> = {};
  for (const [key, type] of Object.entries(types)) {
    const option = reading.optional(value, key, path, (given) => {
      const read = readOption(type, given, reading.places);
      return "value" in read ? checkedOption(driver, key, read.value, reading.places) : read;
    });
    if (option !== undefined) options[key] = option;
  }
  return { name, driver, options, path };
}

function loadDriver(reading: Reading, value: Plain, path: Path): CatalogDriverName | undefined {
  const known = DRIVERS_OF_THIS_VERSION;
  if (typeof value === "string" && Object.hasOwn(CATALOG_DRIVERS, value)) return value as CatalogDriverName;
  const why = value === null ? "it is missing" : "there is no such driver";
  const near = typeof value === "string" ? closest(value, known) : undefined;
  reading.problems.add(path, `${why}; this version has ${known.join(" and ")}`, { suggestion: near });
  return undefined;
}

/** Checks what an option's type does not say. */
function checkedOption(
  driver: CatalogDriverName,
  key: string,
  value: OptionValue,
  places: Places,
): Read<OptionValue> {
  const text = String(value);
  if (driver === "hf" && key === "endpoint" && text.startsWith("http:") && !isLocalUrl(text)) {
    return { why: "it must begin with https://: the token goes there" };
  }
  return driver === "graveler" && key === "kv" ? checkedKv(text, places) : { value };
}

function checkedKv(text: string, { folder }: Places): Read<string> {
  if (folder === undefined && /^lmdb:(?!\/)/.test(text)) {
    return { why: "its folder must be absolute: the configuration lies in no folder" };
  }
  try {
    const address = parseKvAddress(text, folder ?? "/");
    if (address.driver === "postgres" && address.password !== undefined) {
      return { why: "a password may not stand in it; name ?password_file=FILE or ?password_env=NAME" };
    }
    return { value: address.driver === "lmdb" ? `lmdb:${address.folder}` : text };
  } catch (error) {
    if (error instanceof CodedError) return { why: error.message };
    throw error;
  }
}
