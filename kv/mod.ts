/** The face of the key-value stores. Drivers are opened by `catalog/registry.ts`, each by its own dynamic import. */

export type {
  Around,
  KvEntry,
  KvStore,
  KvValue,
  ListedKvStore,
  Predicate,
  ScanOptions,
  WriteOptions,
} from "./store.ts";
export { setIfAround } from "./around.ts";
export { withLimits } from "./limits.ts";
export { refuseUnfinished } from "./unfinished.ts";
