/**
 * A worker's operations on the branch that all workers write: in `NAME/m/` it stages objects, which anybody may commit; in
 * `NAME/b/` stands what it has merged from its own branch.
 */

import type { Chance } from "../tests/simulation/chance.ts";
import {
  checkEither,
  checkVersions,
  checkWhole,
  sameVersions,
  SharedFolder,
  type Versions,
  withChanges,
} from "./soak_model.ts";
import { type Change, type Hands, madeCommit, type Operation } from "./soak_operation.ts";
import { type Ended, endOf, errorCodeOf, Lost } from "./soak_process.ts";

const MAIN = "lakefs://soak/main";
const MOST_TRIES = 50;

export class MainOperations {
  /** The commits and merges that were acknowledged: all stand in the branch's log for ever. */
  readonly commits: string[] = [];
  readonly #hands: Hands;
  readonly #folder: string;
  readonly #mergedFolder: string;
  readonly #shared = new SharedFolder();
  #merged: Versions = new Map();

  constructor(hands: Hands) {
    this.#hands = hands;
    this.#folder = `${hands.name}/m/`;
    this.#mergedFolder = `${hands.name}/b/`;
  }

  put(): Operation {
    const { change, content } = this.#hands.object(this.#folder);
    return this.#stage("put on main", {
      args: ["put", `${MAIN}/${change[0]}`, "-"],
      stdin: content,
      changes: [change],
    });
  }

  putFolder(): Operation {
    const { changes, local } = this.#hands.files(this.#folder);
    return this.#stage("put folder on main", {
      args: ["put", `${MAIN}/${this.#folder}`, local, "-r"],
      changes,
    });
  }

  remove(chance: Chance): Operation | undefined {
    const paths = [...this.#shared.visible.keys()];
    if (paths.length === 0) return undefined;
    const path = chance.oneOf(paths);
    return this.#stage("rm on main", { args: ["rm", `${MAIN}/${path}`], changes: [[path, undefined]] });
  }

  /** Whoever commits, and finds nothing to commit, knows that all it has put is committed. */
  commit(): Operation {
    return {
      name: "commit main",
      args: ["commit", MAIN, "-m", this.#hands.label()],
      done: (ended) => {
        this.commits.push(madeCommit(ended));
        this.#shared.isCommitted();
      },
      doubt: () => this.#checkShared(),
      refused: async (ended) => {
        if (errorCodeOf(ended) === "no_changes") this.#shared.isCommitted();
        await this.#checkShared();
      },
    };
  }

  reset(): Operation {
    const done = async () => {
      const { visible, committed } = await this.#look(this.#folder);
      this.#shared.checkCommitted("main@", committed);
      checkVersions("main after its reset", visible, committed);
      this.#shared.visible = visible;
      this.#shared.isCommitted();
    };
    return {
      name: "reset folder on main",
      args: ["reset", `${MAIN}/${this.#folder}`, "--yes"],
      done,
      doubt: async () => {
        const { visible, committed } = await this.#look(this.#folder);
        this.#shared.checkCommitted("main@", committed);
        if (!sameVersions(visible, committed)) {
          checkVersions("main, not reset or in part", visible, this.#shared.visible);
        }
        this.#shared.visible = visible;
      },
      refused: (ended) => errorCodeOf(ended) === "nothing_staged" ? done() : this.#checkShared(),
    };
  }

  /** Merges the worker's own branch, of which this is committed. */
  merge(source: Versions): Operation {
    const before = this.#merged;
    return {
      name: "merge into main",
      args: ["merge", `lakefs://soak/${this.#hands.name}`, MAIN, "--keep-staged", "-m", this.#hands.label()],
      done: (ended) => {
        this.commits.push(madeCommit(ended));
        this.#merged = source;
      },
      doubt: async () => {
        const found = await this.#look(this.#mergedFolder);
        const states = [before, source].map((versions) => ({ visible: versions, committed: versions }));
        checkWhole("main after a merge", found, states);
        this.#merged = found.committed;
      },
      refused: (ended: Ended) => {
        if (errorCodeOf(ended) !== "nothing_to_merge" || sameVersions(before, source)) return;
        throw new Lost("main: nothing to merge, though the source has other objects");
      },
    };
  }

  async check(): Promise<void> {
    await this.#checkShared();
    const { visible, committed } = await this.#look(this.#mergedFolder);
    checkVersions("main, merged", visible, this.#merged);
    checkVersions("main@, merged", committed, this.#merged);
  }

  #stage(
    name: string,
    { args, stdin, changes }: { args: string[]; stdin?: string; changes: readonly Change[] },
  ): Operation {
    const before = this.#shared.visible;
    const after = withChanges(before, changes);
    for (const change of changes) this.#shared.mayBecome(...change);
    // What was not acknowledged may be seen and go again: another's commit may have sealed its token and read past it.
    const doubt = async () => {
      await this.#settle();
      const { visible, committed } = await this.#look(this.#folder);
      checkEither("main", visible, [before, after]);
      this.#shared.checkCommitted("main@", committed);
      checkVersions("main@ after a commit", committed, visible);
      this.#shared.visible = visible;
      this.#shared.isCommitted();
    };
    const done = () => {
      this.#shared.visible = after;
    };
    return { name, args, stdin, done, doubt, refused: doubt };
  }

  /** Commits until there is nothing more to commit that this worker may have put. */
  async #settle(): Promise<void> {
    for (let i = 0; i < MOST_TRIES; i++) {
      const ended = await this.#hands.commands.run([
        "commit",
        MAIN,
        "-m",
        `${this.#hands.label()}-settled`,
        "--json",
      ]);
      if (ended.code === 0) this.commits.push(madeCommit(ended));
      if (ended.code === 0 || errorCodeOf(ended) === "no_changes") return;
      if (errorCodeOf(ended) !== "try_again") throw new Lost(`commit of main: ${endOf(ended)}`);
    }
    throw new Lost(`a commit of main was told to try again ${MOST_TRIES} times`);
  }

  async #checkShared(): Promise<void> {
    const { visible, committed } = await this.#look(this.#folder);
    checkVersions("main", visible, this.#shared.visible);
    this.#shared.checkCommitted("main@", committed);
  }

  async #look(folder: string): Promise<{ visible: Versions; committed: Versions }> {
    const { commands } = this.#hands;
    return {
      visible: await commands.list(`${MAIN}/${folder}`),
      committed: await commands.list(`${MAIN}@/${folder}`),
    };
  }
}
