/**
 * The graph of commits in characters, as `git log --graph` draws it.
 *
 * Commits come children before parents. A lane is a column in which a commit is awaited; a commit takes its lane and
 * hands it to its first parent, further parents get lanes to the right of it:
 *
 * ```
 *   *      a merge: the second parent gets a lane
 *   |\
 *   | *    its commit; the parent is awaited in the lane to the left too,
 *   |/     so the two lanes become one
 *   *
 * ```
 *
 * Each row of joints moves lanes by one place at most, but for a lane that runs under others to the one it joins (`|_|/`).
 */

export interface GraphCommit {
  readonly id: string;
  readonly parents: readonly string[];
}

/** What stands to the left of a commit's text. */
export interface GraphRows {
  /** The row of the commit itself, with its `*`. */
  readonly commit: string;
  /** Rows below it in which lanes part, move and join. */
  readonly joints: readonly string[];
  /** A row in which nothing happens, for more lines of text. */
  readonly padding: string;
}

export class CommitGraph {
  #lanes: string[] = [];

  /** Returns the rows of the next commit. */
  add({ id, parents }: GraphCommit): GraphRows {
    let at = this.#lanes.indexOf(id);
    if (at < 0) at = this.#lanes.push(id) - 1;
    const commit = this.#lanes.map((_, lane) => lane === at ? "*" : "|").join(" ");
    const joints = [...this.#partInto([...new Set(parents)], at), ...this.#join()];
    return { commit, joints, padding: this.#lanes.map(() => "|").join(" ") };
  }

  /** Gives a commit's lane to its parents. */
  #partInto(parents: readonly string[], at: number): string[] {
    const [first, ...others] = parents;
    if (first === undefined) return this.#end(at);
    this.#lanes[at] = first;
    const rows: string[] = [];
    let from = at;
    for (const parent of others) {
      if (from === at && this.#lanes[at - 1] === parent) {
        rows.push(this.#row((gap) => gap === at - 1 ? "/" : " "));
      } else if (from === at && this.#lanes[at + 1] === parent) {
        rows.push(this.#row((gap) => gap === at ? "\\" : " "));
      } else {
        this.#lanes.splice(from + 1, 0, parent);
        rows.push(this.#shifted(from, "\\"));
        from++;
      }
    }
    return rows;
  }

  /** A first commit has no parent: its lane ends, and those to the right move up. */
  #end(at: number): string[] {
    this.#lanes.splice(at, 1);
    if (at >= this.#lanes.length) return [];
    return [`${"| ".repeat(at)} ${this.#lanes.slice(at).map(() => "/").join(" ")}`];
  }

  /** Joins lanes that await the same commit, the right one into the left one. */
  #join(): string[] {
    const rows: string[] = [];
    for (let right = 1; right < this.#lanes.length; right++) {
      const left = this.#lanes.indexOf(this.#lanes[right]!);
      if (left === right) continue;
      this.#lanes.splice(right, 1);
      rows.push(this.#shifted(right - 1, "/", left + 1));
      if (right > left + 1) rows.push(this.#row((gap) => gap === left ? "/" : " "));
      right--;
    }
    return rows;
  }

  /** A row in which all lanes behind `at` move by one place; with `under`, the first of them runs on to that gap. */
  #shifted(at: number, joint: "/" | "\\", under = at): string {
    const lanes = joint === "/" ? this.#lanes.length + 1 : this.#lanes.length;
    let row = "|";
    for (let lane = 1; lane < lanes; lane++) {
      if (lane <= at) row += lane - 1 >= under && lane - 1 < at ? "_|" : " |";
      else row += lane === at + 1 ? joint : ` ${joint}`;
    }
    return row;
  }

  #row(gap: (index: number) => string): string {
    return this.#lanes.map((_, lane) => lane === 0 ? "|" : `${gap(lane - 1)}|`).join("");
  }
}
