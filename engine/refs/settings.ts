/**
 * What is set for a repository as a whole: one record each in its partition, `settings/<name>`. They go with the repository.
 *
 * ```
 * branch_protection   BranchProtection { repeated string pattern = 1; }
 * gc_rules            GcRules { int32 default_retention_days = 1; map<string, Days> branches = 2; }   Days in decimal text
 * ```
 */

import { hex, utf8 } from "../../base/bytes.ts";
import { CodedError, isCoded } from "../../base/errors.ts";
import { sha256 } from "../../base/hashes.ts";
import {
  ProtobufError,
  type ProtobufField,
  protobufFields,
  protobufPair,
  protobufString,
  ProtobufWriter,
} from "../../base/protobuf.ts";
import type { BranchProtection, GcRules } from "../../drivers/settings.ts";
import type { KvStore, KvValue } from "../../kv/store.ts";

const PROTECTION_KEY = utf8("settings/branch_protection");
const GC_KEY = utf8("settings/gc_rules");

export class RepositorySettings {
  readonly #kv: KvStore;
  readonly #partition: Uint8Array;

  constructor(kv: KvStore, partition: Uint8Array) {
    this.#kv = kv;
    this.#partition = partition;
  }

  async branchProtection(): Promise<BranchProtection> {
    return protectionOf(await this.#kv.get(this.#partition, PROTECTION_KEY));
  }

  /** Replaces the patterns, with `etag` only if they still are those that it came with. Fails with `settings_changed`. */
  async setBranchProtection(patterns: readonly string[], etag?: string): Promise<void> {
    const value = new ProtobufWriter().strings(1, patterns).finish();
    if (etag === undefined) return await this.#kv.set(this.#partition, PROTECTION_KEY, value);
    const found = await this.#kv.get(this.#partition, PROTECTION_KEY);
    if (protectionOf(found).etag !== etag) throw changed();
    try {
      await this.#kv.setIf(this.#partition, PROTECTION_KEY, value, found?.predicate);
    } catch (error) {
      if (isCoded(error, "predicate_failed")) throw changed();
      throw error;
    }
  }

  async gcRules(): Promise<GcRules | undefined> {
    const found = await this.#kv.get(this.#partition, GC_KEY);
    return found && gcRulesOf(found.value);
  }

  async setGcRules(rules: GcRules | undefined): Promise<void> {
    if (!rules) return await this.#kv.delete(this.#partition, GC_KEY);
    const branches = Object.entries(rules.branches).map(([name, days]) => [name, String(days)] as const);
    const value = new ProtobufWriter().uint(1, rules.defaultDays).map(2, branches).finish();
    await this.#kv.set(this.#partition, GC_KEY, value);
  }
}

function protectionOf(found: KvValue | undefined): BranchProtection {
  const patterns = fieldsOf(found?.value ?? new Uint8Array(0)).filter(({ number }) => number === 1)
    .map(protobufString);
  const content = new ProtobufWriter().strings(1, patterns).finish();
  return { patterns, etag: hex(sha256(content)).slice(0, 32) };
}

function gcRulesOf(value: Uint8Array): GcRules {
  let defaultDays = 0;
  const branches: [string, number][] = [];
  for (const field of fieldsOf(value)) {
    if (field.number === 1) defaultDays = field.uint;
    else if (field.number === 2) {
      const [name, days] = protobufPair(field);
      branches.push([name, Number(days)]);
    }
  }
  return { defaultDays, branches: Object.fromEntries(branches) };
}

function fieldsOf(value: Uint8Array): ProtobufField[] {
  try {
    return [...protobufFields(value)];
  } catch (error) {
    if (!(error instanceof ProtobufError)) throw error;
    throw new CodedError(
      "corrupt",
      "corrupt_record",
      "Cannot read a record of settings: it does not decode",
      {
        cause: error,
      },
    );
  }
}

function changed(): CodedError {
  return new CodedError(
    "precondition",
    "settings_changed",
    "Cannot change the settings: others have changed them since they were read",
  );
}
