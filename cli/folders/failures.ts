/** The pieces of a batch that failed: each named at once on standard error, counted, and the first ones kept. */

import { isCoded } from "../../base/errors.ts";
import type { Messages } from "../messages.ts";

const MOST_KEPT = 1000;

export interface Failure {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

/** Failures that are about one file or object, so that the rest can go on. */
const ABOUT_ONE = [
  "checksum_mismatch",
  "file_forbidden",
  "file_in_the_way",
  "file_not_found",
  "file_unavailable",
  "file_unusable",
  "folder_in_the_way",
  "invalid_path",
  "object_not_found",
  "outside_folder",
  "short_object",
  "source_changed",
  "special_file",
  "unplaceable_key",
];

export class Failures {
  readonly #messages: Messages;
  readonly #verb: string;
  readonly #kept: Failure[] = [];
  #count = 0;

  /** `verb` is such as "put". */
  constructor(messages: Messages, verb: string) {
    this.#messages = messages;
    this.#verb = verb;
  }

  get count(): number {
    return this.#count;
  }

  /** The first failures. */
  get kept(): readonly Failure[] {
    return this.#kept;
  }

  /** Records that something was left out. */
  leaveOut(path: string, code: string, why: string): void {
    this.#add({ path, code, message: why });
    this.#messages.warn(`tarn: Did not ${this.#verb} "${path}": ${why}`);
  }

  /** Records a failure that is about one file only; any other is thrown. */
  take(path: string, error: unknown): void {
    if (!isCoded(error, ...ABOUT_ONE)) throw error;
    this.#add({ path, code: error.code, message: error.message });
    this.#messages.warn(`tarn: ${error.message}`);
  }

  #add(failure: Failure): void {
    this.#count++;
    if (this.#kept.length < MOST_KEPT) this.#kept.push(failure);
  }
}
