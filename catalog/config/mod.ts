/** The configuration's face: where it comes from, and what it says. */

export {
  BUILT_IN_STORES,
  type CacheConfig,
  type Config,
  type EntryConfig,
  type SchemeConfig,
  type StageConfig,
  type StoreConfig,
  usableStores,
} from "./config.ts";
export { CONFIG_FILE, type ConfigPlaces, findConfig, isEtcdAddress } from "./discovery.ts";
export { loadConfig } from "./load.ts";
export type { OptionValue } from "./options.ts";
export { type PlacedProblem, Problems, problemText } from "./problems.ts";
export type { Reader } from "./reading.ts";
export { type ConfigSource, EmptyConfig, openConfig, type SourceOptions, YamlConfig } from "./sources.ts";
export type { Plain, PlainMap, RawConfig } from "./tree.ts";
export { cutView, tenantNames, type View } from "./view.ts";
