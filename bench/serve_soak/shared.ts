/**
 * Work on the branches that all clients of a repository share: in its folder of `shared` a client stages objects, which anybody
 * may commit; in its folder of `main` stands what it has merged from its own branch.
 */

import {
  checkEither,
  checkVersions,
  sameVersions,
  SharedFolder,
  type Versions,
  withChanges,
} from "../soak_model.ts";
import type { Change } from "../soak_operation.ts";
import { Lost } from "../soak_process.ts";
import type { Answer, Outcome } from "./api.ts";
import { checkStats, same } from "./checks.ts";
import { type Asked, askRemoval, askUpload, drawPath, type Hands } from "./hands.ts";
import type { OwnBranch } from "./branch.ts";
import type { Shown } from "./reads.ts";

export const SHARED = "shared";
export const MAIN = "main";
const COMMITS = `/branches/${SHARED}/commits`;
const MOST_TRIES = 100;

export class SharedWork {
  /** The commits and merges that were acknowledged: all stand in the branches' logs for ever. */
  readonly commits: string[] = [];
  readonly merges: string[] = [];
  readonly #hands: Hands;
  readonly #folder: string;
  readonly #shared = new SharedFolder();
  #merged: Versions = new Map();

  constructor(hands: Hands) {
    this.#hands = hands;
    this.#folder = `${hands.name}/`;
  }

  get shown(): Shown {
    return { ref: SHARED, folder: this.#folder, versions: this.#shared.visible };
  }

  get merged(): Shown {
    return { ref: MAIN, folder: this.#folder, versions: this.#merged };
  }

  upload(): Promise<Outcome> {
    const { chance, contents } = this.#hands;
    const content = contents.make(this.#hands.label()), path = drawPath(chance, this.#folder);
    return this.#stage({
      ...askUpload(SHARED, { path, content, isForm: chance.happens(0.2) }),
      change: [path, content.sum],
      done: ({ json }) => checkStats(json, { path, content }),
    });
  }

  remove(): Promise<Outcome> | undefined {
    const paths = [...this.#shared.visible.keys()];
    if (paths.length === 0) return undefined;
    const path = this.#hands.chance.oneOf(paths);
    return this.#stage({ ...askRemoval(SHARED, path), change: [path, undefined] });
  }

  /** Whoever commits, and finds nothing to commit, knows that all it has put is committed. */
  commit(): Promise<Outcome> {
    const message = this.#hands.label();
    return this.#hands.api.write({
      method: "POST",
      path: COMMITS,
      body: { message },
      status: 201,
      done: ({ json }) => {
        same("a commit", json.message, message);
        this.#committed(json.id);
      },
      doubt: () => this.#checkShared(),
      refused: (answer) => this.#refusedCommit(answer),
    });
  }

  /** Merges the client's own branch, of which this is committed. */
  merge({ branch, state: { committed } }: OwnBranch): Promise<Outcome> {
    const before = this.#merged;
    return this.#hands.api.write({
      method: "POST",
      path: `/refs/${branch}/merge/${MAIN}`,
      body: { message: this.#hands.label() },
      status: 200,
      done: ({ json }) => {
        this.merges.push(json.reference);
        this.#merged = committed;
      },
      doubt: async () => {
        const found = await this.#hands.api.list(MAIN, this.#folder);
        const isWhole = [before, committed].some((versions) => sameVersions(found, versions));
        if (!isWhole) throw new Lost(`${MAIN}: what ${branch} has was merged in part`);
        this.#merged = found;
      },
      refused: ({ status, text }) => {
        // Others kept merging.
        if (isToldToTryAgain({ status, text })) return;
        if (status === 400 && sameVersions(before, committed)) return;
        throw new Lost(`a merge of ${branch} was refused: ${status} ${text}`);
      },
    });
  }

  async check(): Promise<void> {
    await this.#checkShared();
    checkVersions(MAIN, await this.#hands.api.list(MAIN, this.#folder), this.#merged);
  }

  #stage({ change, done, ...asked }: Asked & { readonly change: Change }): Promise<Outcome> {
    const before = this.#shared.visible;
    const after = withChanges(before, [change]);
    this.#shared.mayBecome(...change);
    // What was not acknowledged may be seen and go again: another's commit may have sealed its token and read past it.
    const doubt = async () => {
      await this.#settle();
      const { visible, committed } = await this.#look();
      checkEither(SHARED, visible, [before, after]);
      this.#shared.checkCommitted(`${SHARED}@`, committed);
      checkVersions(`${SHARED}@ after a commit`, committed, visible);
      this.#shared.visible = visible;
      this.#shared.isCommitted();
    };
    return this.#hands.api.write({
      ...asked,
      done: async (answer) => {
        await done?.(answer);
        this.#shared.visible = after;
      },
      doubt,
      refused: async ({ status, text }) => {
        if (!isToldToTryAgain({ status, text })) throw new Lost(`${asked.path}: ${status} ${text}`);
        await doubt();
      },
    });
  }

  /** Commits, so that all is committed which this client may have put. */
  async #settle(): Promise<void> {
    let isSettled = false;
    for (let i = 0; i < MOST_TRIES && !isSettled; i++) {
      await this.#hands.api.write({
        method: "POST",
        path: COMMITS,
        body: { message: `${this.#hands.label()} settled` },
        status: 201,
        done: ({ json }) => {
          this.commits.push(json.id);
          isSettled = true;
        },
        doubt: () => Promise.resolve(),
        refused: (answer) => void (isSettled = isNothingToCommit(answer)),
      });
    }
    if (!isSettled) throw new Lost(`a commit of ${SHARED} was told to try again ${MOST_TRIES} times`);
  }

  async #refusedCommit(answer: Answer): Promise<void> {
    if (isNothingToCommit(answer)) this.#shared.isCommitted();
    await this.#checkShared();
  }

  #committed(id: string): void {
    this.commits.push(id);
    this.#shared.isCommitted();
  }

  async #checkShared(): Promise<void> {
    const { visible, committed } = await this.#look();
    checkVersions(SHARED, visible, this.#shared.visible);
    this.#shared.checkCommitted(`${SHARED}@`, committed);
  }

  async #look(): Promise<{ visible: Versions; committed: Versions }> {
    const { api } = this.#hands;
    return {
      visible: await api.list(SHARED, this.#folder),
      committed: await api.list(`${SHARED}@`, this.#folder),
    };
  }
}

/** Fails unless a commit had nothing to do, or was told to try again. */
function isNothingToCommit({ status, text }: Answer): boolean {
  if (status === 400 && /nothing has changed/.test(text)) return true;
  if (isToldToTryAgain({ status, text })) return false;
  throw new Lost(`commit of ${SHARED}: ${status} ${text}`);
}

function isToldToTryAgain({ status, text }: Pick<Answer, "status" | "text">): boolean {
  return status === 409 && /try again/.test(text);
}
