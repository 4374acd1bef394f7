/** The conditions that a write may be made under, and what is said when one does not hold. */

import { CodedError } from "../../base/errors.ts";
import type { PutObjectOptions } from "../../drivers/store.ts";
import type { ValueRecord } from "../committed/mod.ts";
import { decodeEntry } from "../objects/mod.ts";

interface NamedCondition {
  readonly holds: (shown: ValueRecord | undefined) => boolean;
  readonly refusal: CodedError;
}

/** What a write asks of the path that it is for. */
export class WriteConditions {
  readonly #conditions: readonly NamedCondition[];
  #refused: NamedCondition | undefined;

  /** Returns `undefined` for a write under no condition. */
  static of(
    path: string,
    { ifAbsent, ifMatch }: Pick<PutObjectOptions, "ifAbsent" | "ifMatch">,
  ): WriteConditions | undefined {
    const conditions: NamedCondition[] = [];
    const details = { path };
    if (ifAbsent) {
      const message = `Cannot write "${path}": it exists`;
      const refusal = new CodedError("exists", "object_exists", message, { details });
      conditions.push({ holds: (shown) => shown === undefined, refusal });
    }
    if (ifMatch !== undefined) {
      const refusalOf = (isMissing: boolean) =>
        new CodedError(
          "precondition",
          "object_changed",
          `Cannot write "${path}": it is not what it was to be`,
          {
            details: { ...details, is_missing: isMissing },
          },
        );
      conditions.push(
        { holds: (shown) => shown !== undefined, refusal: refusalOf(true) },
        { holds: (shown) => shown !== undefined && isOneOf(shown, ifMatch), refusal: refusalOf(false) },
      );
    }
    return conditions.length === 0 ? undefined : new WriteConditions(conditions);
  }

  private constructor(conditions: readonly NamedCondition[]) {
    this.#conditions = conditions;
  }

  /** Whether all hold of what the branch shows. */
  hold(shown: ValueRecord | undefined): boolean {
    this.#refused = this.#conditions.find(({ holds }) => !holds(shown));
    return this.#refused === undefined;
  }

  /** The failure of the write: of the condition that did not hold, or ceased to. */
  get refusal(): CodedError {
    return (this.#refused ?? this.#conditions[0]!).refusal;
  }
}

function isOneOf(shown: ValueRecord, checksums: "any" | readonly string[]): boolean {
  return checksums === "any" || checksums.includes(decodeEntry(shown.data).etag);
}
