/** The options and arguments that are one of a few words: which these are is said here alone. */

import type { Durability, MergeStrategy } from "../../drivers/store.ts";
import type { TableFormat } from "../tables/fields.ts";

export const TABLE_FORMATS = ["csv", "parquet"] as const satisfies readonly TableFormat[];
export const MERGE_STRATEGIES = ["source-wins", "dest-wins"] as const satisfies readonly MergeStrategy[];
export const DURABILITIES = ["strict", "relaxed"] as const satisfies readonly Durability[];
export const LOG_LEVELS = ["error", "warn", "info"] as const;
export const FOUND_TYPES = ["object", "folder"] as const;
export const SHELLS = ["bash", "zsh", "fish"] as const;
