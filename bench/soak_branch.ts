/** Operations on a branch that only one worker writes: what it shows and what of that is committed is known exactly. */

import type { Chance } from "../tests/simulation/chance.ts";
import {
  checkEither,
  checkVersions,
  checkWhole,
  EMPTY,
  sameVersions,
  type State,
  type Versions,
  withChanges,
} from "./soak_model.ts";
import { type Change, type Hands, madeCommit, type Operation } from "./soak_operation.ts";
import { type Ended, errorCodeOf, Lost } from "./soak_process.ts";

export class BranchOperations {
  readonly branch: string;
  state: State = EMPTY;
  /** The commits along the branch's first parents that were acknowledged, unless the branch was moved since. */
  commits: string[] = [];
  readonly #hands: Hands;
  readonly #uri: string;
  readonly #folder: string;

  constructor(hands: Hands, branch: string) {
    this.branch = branch;
    this.#hands = hands;
    this.#uri = `lakefs://soak/${branch}`;
    this.#folder = `${hands.name}/b/`;
  }

  put(): Operation {
    const { change, content } = this.#hands.object(this.#folder);
    return this.#stage("put", {
      args: ["put", `${this.#uri}/${change[0]}`, "-"],
      stdin: content,
      changes: [change],
    });
  }

  putFolder(): Operation {
    const { changes, local } = this.#hands.files(this.#folder);
    return this.#stage("put folder", { args: ["put", `${this.#uri}/${this.#folder}`, local, "-r"], changes });
  }

  remove(chance: Chance): Operation | undefined {
    const paths = [...this.state.visible.keys()];
    if (paths.length === 0) return undefined;
    const path = chance.oneOf(paths);
    return this.#stage("rm", { args: ["rm", `${this.#uri}/${path}`], changes: [[path, undefined]] });
  }

  commit(): Operation {
    const { visible } = this.state;
    return this.#whole("commit", {
      args: ["commit", this.#uri, "-m", this.#hands.label()],
      after: { visible, committed: visible },
      onDone: (ended) => this.commits.push(madeCommit(ended)),
      refused: (ended) => {
        if (errorCodeOf(ended) !== "no_changes" || sameVersions(visible, this.state.committed)) return;
        throw new Lost(`${this.branch}: nothing to commit, though changes were staged`);
      },
    });
  }

  reset(): Operation {
    const { committed } = this.state;
    return this.#whole("reset", {
      args: ["reset", this.#uri, "--yes"],
      after: { visible: committed, committed },
    });
  }

  resetFolder(name: string): Operation {
    const { visible, committed } = this.state;
    const prefix = `${this.#folder}${name}/`;
    const isKept = ([path]: readonly [string, string]) => !path.startsWith(prefix);
    const after = new Map([...visible].filter(isKept));
    for (const record of committed) if (!isKept(record)) after.set(...record);
    return this.#whole("reset folder", {
      args: ["reset", `${this.#uri}/${prefix}`, "--yes"],
      after: { visible: after, committed },
    });
  }

  hardReset(tag: { name: string; snapshot: Versions } | undefined): Operation | undefined {
    if (!tag) return undefined;
    return this.#whole("hard reset", {
      args: ["reset", this.#uri, "--to", tag.name, "--yes"],
      after: { visible: tag.snapshot, committed: tag.snapshot },
      onDone: () => this.commits = [],
      onDoubt: () => this.commits = [],
    });
  }

  /** Takes what others did; this worker's folder stays as it is. */
  mergeMain(): Operation {
    return this.#whole("merge main", {
      args: ["merge", "lakefs://soak/main", this.#uri, "--keep-staged", "-m", this.#hands.label()],
      after: this.state,
      onDone: (ended) => this.commits.push(madeCommit(ended)),
    });
  }

  async check(): Promise<void> {
    const found = await this.#look();
    checkVersions(this.branch, found.visible, this.state.visible);
    checkVersions(`${this.branch}@`, found.committed, this.state.committed);
  }

  /** A write of several objects may be done in part, and so may one that was told to try again. */
  #stage(
    name: string,
    { args, stdin, changes }: { args: string[]; stdin?: string; changes: readonly Change[] },
  ): Operation {
    const { visible, committed } = this.state;
    const after = withChanges(visible, changes);
    const doubt = async () => {
      const found = await this.#look();
      checkEither(this.branch, found.visible, [visible, after]);
      checkVersions(`${this.branch}@`, found.committed, committed);
      this.state = found;
    };
    const done = () => {
      this.state = { visible: after, committed };
    };
    return { name, args, stdin, done, doubt, refused: doubt };
  }

  #whole(
    name: string,
    { args, after, onDone, onDoubt, refused = () => {} }: {
      args: string[];
      after: State;
      onDone?: (ended: Ended) => void;
      onDoubt?: () => void;
      refused?: (ended: Ended) => void;
    },
  ): Operation {
    const before = this.state;
    return {
      name,
      args,
      refused,
      done: (ended) => {
        this.state = after;
        onDone?.(ended);
      },
      doubt: async () => {
        const found = await this.#look();
        checkWhole(`${this.branch} after ${name}`, found, [before, after]);
        this.state = found;
        onDoubt?.();
      },
    };
  }

  async #look(): Promise<State> {
    const { commands } = this.#hands;
    return {
      visible: await commands.list(`${this.#uri}/${this.#folder}`),
      committed: await commands.list(`${this.#uri}@/${this.#folder}`),
    };
  }
}
