/** What is set for a repository as a whole, and the files of its committed data. */

import type { ByteStream } from "./object_store.ts";

/**
 * Which branches may not be written, committed, reset or deleted: those that a pattern fits (`*` any text, `?` one character).
 * Merges, reverts and cherry-picks change them.
 */
export interface BranchProtection {
  readonly patterns: readonly string[];
  /** Stands for these very patterns. */
  readonly etag: string;
}

/** How long what nothing but history reaches is to be kept. */
export interface GcRules {
  readonly defaultDays: number;
  readonly branches: Readonly<Record<string, number>>;
}

/** The file of a range or metarange. */
export interface CommittedFile {
  /** Its physical address. */
  readonly location: string;
  readonly sizeBytes: number;
  open(signal?: AbortSignal): Promise<ByteStream>;
}

export interface Settings {
  branchProtection(repository: string): Promise<BranchProtection>;
  /**
   * Replaces the patterns, with an `etag` only if they still are those that it came with. Writers that are open already go on.
   * Fails with `invalid_pattern`, `settings_changed`.
   */
  setBranchProtection(repository: string, patterns: readonly string[], etag?: string): Promise<void>;
  /** Returns the rules of garbage collection, if there are any. */
  gcRules(repository: string): Promise<GcRules | undefined>;
  /** Sets or removes the rules; nothing is deleted by that. */
  setGcRules(repository: string, rules: GcRules | undefined): Promise<void>;
}
