/** What is wrong with a configuration: each problem with its key, gathered so that a check can list them all. */

import { CodedError } from "../../base/errors.ts";
import { closest } from "../../base/suggestions.ts";
import { type Path, pathText, type Position, type RawConfig } from "./tree.ts";

export interface Problem {
  readonly path: Path;
  readonly why: string;
  /** The known name that was most likely meant. */
  readonly suggestion?: string;
  /** The variable that is not set: no fault of the configuration, but of the reader's environment. */
  readonly variable?: string;
}

/** A problem with the place that a person can go to. */
export interface PlacedProblem extends Partial<Position> {
  /** As messages show it; empty for the whole. */
  readonly key: string;
  readonly why: string;
  readonly suggestion?: string;
  readonly variable?: string;
}

/** Problems in the order in which they were found; of several with one key the first tells most. */
export class Problems {
  readonly #raw: RawConfig;
  readonly #found: Problem[] = [];
  readonly #keys = new Set<string>();

  constructor(raw: RawConfig) {
    this.#raw = raw;
  }

  add(
    path: Path,
    why: string,
    { suggestion, variable }: Pick<Problem, "suggestion" | "variable"> = {},
  ): void {
    const key = path.join("\0");
    if (this.#keys.has(key)) return;
    this.#keys.add(key);
    this.#found.push({
      path,
      why,
      ...(suggestion === undefined ? {} : { suggestion }),
      ...(variable === undefined ? {} : { variable }),
    });
  }

  /** Adds that a name is none of the known ones. */
  addUnknown(path: Path, known: readonly string[]): void {
    const name = String(path.at(-1));
    this.add(path, `there is no such key; known are ${known.join(", ")}`, {
      suggestion: closest(name, known),
    });
  }

  get count(): number {
    return this.#found.length;
  }

  /** Whether something is wrong with a key, or within it. */
  has(path: Path): boolean {
    return this.#found.some((problem) => path.every((step, index) => problem.path[index] === step));
  }

  placed(): readonly PlacedProblem[] {
    return this.#found.map((problem) => placed(this.#raw, problem));
  }

  /** Fails with `invalid_configuration`, telling the first problem and how many there are. */
  throwIfAny(): void {
    const [first] = this.#found;
    if (first) throw configurationError(this.#raw, first, { count: this.#found.length });
  }
}

function placed(raw: RawConfig, { path, ...what }: Problem): PlacedProblem {
  return { ...raw.positionOf(path), key: pathText(path), ...what };
}

/** Returns a problem as the error `invalid_configuration`. */
export function configurationError(
  raw: RawConfig,
  problem: Problem,
  { count = 1 }: { count?: number } = {},
): CodedError {
  const found = placed(raw, problem);
  const more = count > 1 ? ` (and ${count - 1} more)` : "";
  const { key, line, column, suggestion } = found;
  return new CodedError(
    "invalid",
    "invalid_configuration",
    `Cannot use ${shownOrigin(raw)}: ${problemText(found)}${more}`,
    { details: { file: raw.origin, key, line, column, suggestion, isCatalog: true } },
  );
}

/** Returns what is wrong and where, in one line. */
export function problemText({ line, column, key, why }: PlacedProblem): string {
  const where = line === undefined ? "" : `line ${line}, column ${column}: `;
  return `${where}${key === "" ? "" : `"${key}": `}${why}`;
}

/** Returns how messages name a configuration. */
export function shownOrigin({ origin }: Pick<RawConfig, "origin">): string {
  return origin === undefined ? "the configuration" : `"${origin}"`;
}
