/** Writing to a branch that only one client writes: what it shows, and what of that is committed, is known exactly. */

import {
  checkEither,
  checkVersions,
  checkWhole,
  EMPTY,
  sameVersions,
  type State,
  type Versions,
  withChanges,
} from "../soak_model.ts";
import type { Change } from "../soak_operation.ts";
import { Lost } from "../soak_process.ts";
import type { Outcome } from "./api.ts";
import { changesOf, checkStats, differences, same } from "./checks.ts";
import { type Asked, askRemoval, askUpload, drawPath, type Hands } from "./hands.ts";
import type { Shown } from "./reads.ts";

/** A commit that was acknowledged, and what the client's folder had in it. */
interface Committed {
  readonly id: string;
  readonly versions: Versions;
}

const MOST_COMMITS = 50;

export class OwnBranch {
  readonly branch: string;
  readonly folder: string;
  state: State = EMPTY;
  /** The client's commits, the oldest first; those before are forgotten. */
  #commits: Committed[] = [];
  readonly #hands: Hands;
  readonly #at: string;

  constructor(hands: Hands) {
    this.#hands = hands;
    this.branch = `own-${hands.name}`;
    this.folder = `${hands.name}/`;
    this.#at = `/branches/${this.branch}`;
  }

  get shown(): Shown {
    return { ref: this.branch, folder: this.folder, versions: this.state.visible };
  }

  get #isClean(): boolean {
    return sameVersions(this.state.visible, this.state.committed);
  }

  async prepare(): Promise<void> {
    const body = { name: this.branch, source: "main" };
    const { status, text } = await this.#hands.api.ask("POST", "/branches", { body });
    if (status !== 201) throw new Lost(`branch ${this.branch}: ${status} ${text}`);
  }

  upload(): Promise<Outcome> {
    const { chance, contents } = this.#hands;
    const content = contents.make(this.#hands.label()), path = drawPath(chance, this.folder);
    return this.#stage({
      ...askUpload(this.branch, { path, content, isForm: chance.happens(0.2) }),
      changes: [[path, content.sum]],
      done: ({ json }) => checkStats(json, { path, content }),
    });
  }

  remove(): Promise<Outcome> | undefined {
    const path = this.#drawn();
    if (path === undefined) return undefined;
    return this.#stage({ ...askRemoval(this.branch, path), changes: [[path, undefined]] });
  }

  removeMany(): Promise<Outcome> | undefined {
    const paths = [...this.state.visible.keys()].filter(() => this.#hands.chance.happens(0.3));
    if (paths.length === 0) return undefined;
    return this.#stage({
      method: "POST",
      path: `${this.#at}/objects/delete`,
      body: { paths },
      status: 200,
      changes: paths.map((path): Change => [path, undefined]),
      done: ({ json }) => same("errors of a deletion", json.errors, []),
    });
  }

  copy(): Promise<Outcome> | undefined {
    const from = this.#drawn();
    if (from === undefined) return undefined;
    const sum = this.state.visible.get(from)!, to = drawPath(this.#hands.chance, this.folder);
    return this.#stage({
      method: "POST",
      path: `${this.#at}/objects/copy?dest_path=${encodeURIComponent(to)}`,
      body: { src_path: from },
      status: 201,
      changes: [[to, sum]],
      done: ({ json }) => same("a copy", [json.path, json.checksum], [to, sum]),
    });
  }

  commit(): Promise<Outcome> {
    const message = this.#hands.label(), { visible } = this.state;
    return this.#land({
      method: "POST",
      path: `${this.#at}/commits`,
      body: { message },
      status: 201,
      after: { visible, committed: visible },
      refusal: this.#isClean ? "must" : "never",
      done: ({ json }) => {
        same("a commit", json.message, message);
        this.#remember({ id: json.id, versions: visible });
      },
    });
  }

  /** Takes the last commit back, if nothing is staged. */
  revert(): Promise<Outcome> | undefined {
    const [before, last] = this.#commits.slice(-2);
    if (!this.#isClean || !before || !last) return undefined;
    return this.#land({
      method: "POST",
      path: `${this.#at}/revert`,
      body: { ref: last.id, parent_number: 0 },
      status: 204,
      after: { visible: before.versions, committed: before.versions },
      refusal: "never",
      done: () => this.#rememberHead(before.versions),
    });
  }

  reset(): Promise<Outcome> {
    const { committed } = this.state;
    return this.#land({
      method: "PUT",
      path: this.#at,
      body: { type: "reset" },
      status: 204,
      after: { visible: committed, committed },
      refusal: "never",
    });
  }

  /** Compares what is staged. */
  async diff(): Promise<void> {
    const { visible, committed } = this.state;
    const path = `${this.#at}/diff?prefix=${encodeURIComponent(this.folder)}`;
    const found = await this.#hands.api.all(path, this.#hands.chance.between(3, 40));
    same(`what is staged on ${this.branch}`, changesOf(found), differences(committed, visible));
  }

  async diffCommits(): Promise<void> {
    const { api, chance } = this.#hands;
    if (this.#commits.length === 0) return;
    const [left, right] = [chance.oneOf(this.#commits), chance.oneOf(this.#commits)];
    const path = `/refs/${left.id}/diff/${right.id}?type=two_dot&prefix=${encodeURIComponent(this.folder)}`;
    const found = await api.all(path, chance.between(3, 40));
    same(`${left.id} to ${right.id}`, changesOf(found), differences(left.versions, right.versions));
  }

  async log(): Promise<void> {
    const path = `/refs/${this.branch}/commits?first_parent=true&amount=${MOST_COMMITS}`;
    const { json } = await this.#hands.api.look(path);
    const found = json.results.slice(0, this.#commits.length).map(({ id }: { id: string }) => id);
    same(`the log of ${this.branch}`, found, this.#commits.map(({ id }) => id).reverse());
  }

  /** Fails unless all that is known of the branch is so. */
  async check(): Promise<void> {
    const found = await this.#look();
    checkVersions(this.branch, found.visible, this.state.visible);
    checkVersions(`${this.branch}@`, found.committed, this.state.committed);
    await this.log();
  }

  #drawn(): string | undefined {
    const paths = [...this.state.visible.keys()];
    return paths.length === 0 ? undefined : this.#hands.chance.oneOf(paths);
  }

  /** Of several objects a part may be written; what else there is may not have changed. */
  #stage({ changes, done, ...asked }: Asked & { readonly changes: readonly Change[] }): Promise<Outcome> {
    const { visible, committed } = this.state;
    const after = withChanges(visible, changes);
    return this.#hands.api.write({
      ...asked,
      done: async (answer) => {
        await done?.(answer);
        this.state = { visible: after, committed };
      },
      doubt: async () => {
        const found = await this.#look();
        checkEither(this.branch, found.visible, [visible, after]);
        checkVersions(`${this.branch}@`, found.committed, committed);
        this.state = found;
      },
    });
  }

  /** What changes the branch as a whole is done or not. */
  #land(
    { after, done, refusal, ...asked }: Asked & { readonly after: State; readonly refusal: "must" | "never" },
  ): Promise<Outcome> {
    const before = this.state;
    return this.#hands.api.write({
      ...asked,
      done: async (answer) => {
        if (refusal === "must") throw new Lost(`${asked.path} was done, though there was nothing to do`);
        await done?.(answer);
        this.state = after;
      },
      doubt: async () => {
        const found = await this.#look();
        checkWhole(`${this.branch} after ${asked.path}`, found, [before, after]);
        this.state = found;
        await this.#rememberHead(found.committed);
      },
      refused: ({ status, text }) => {
        if (refusal === "must" && status === 400) return;
        throw new Lost(`${asked.path} was refused: ${status} ${text}`);
      },
    });
  }

  async #look(): Promise<State> {
    const { api } = this.#hands;
    return {
      visible: await api.list(this.branch, this.folder),
      committed: await api.list(`${this.branch}@`, this.folder),
    };
  }

  /** Remembers the branch's commit, unless it may be one that was there before the client's first. */
  async #rememberHead(versions: Versions): Promise<void> {
    const { json: { commit_id: id } } = await this.#hands.api.look(this.#at);
    const last = this.#commits.at(-1);
    if (last && last.id !== id) this.#remember({ id, versions });
  }

  #remember(commit: Committed): void {
    this.#commits.push(commit);
    if (this.#commits.length > MOST_COMMITS) this.#commits.shift();
  }
}
