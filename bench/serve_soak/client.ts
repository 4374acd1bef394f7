/** One client of the soak: it asks for one thing at a time, drawn by chance, and knows what the answer must be. */

import type { Chance } from "../../tests/simulation/chance.ts";
import type { Api, Outcome } from "./api.ts";
import { OwnBranch } from "./branch.ts";
import { Contents } from "./contents.ts";
import type { Hands } from "./hands.ts";
import { getOne, getRange, listAll, listFolded, type Shown, statOne } from "./reads.ts";
import { RefWork } from "./refs.ts";
import { SharedWork } from "./shared.ts";

const WEIGHTS = {
  "upload": 10,
  "delete": 2,
  "delete many": 1,
  "copy": 2,
  "commit": 4,
  "revert": 2,
  "reset": 1,
  "upload, shared": 6,
  "delete, shared": 1,
  "commit, shared": 2,
  "merge": 2,
  "create branch": 2,
  "delete branch": 2,
  "tag": 1,
  "delete tag": 1,
  "get": 10,
  "get a range": 3,
  "stat": 10,
  "list": 3,
  "list folded": 2,
  "diff": 2,
  "diff of commits": 2,
  "log": 2,
};

export type WorkName = keyof typeof WEIGHTS;

const TRACED = 30;

export class Client {
  readonly name: string;
  readonly api: Api;
  readonly own: OwnBranch;
  readonly shared: SharedWork;
  readonly refs: RefWork;
  /** The last works, for whoever looks for what went wrong. */
  readonly trace: string[] = [];
  readonly #chance: Chance;
  readonly #hands: Hands;
  #serial = 0;

  constructor(name: string, api: Api, chance: Chance) {
    this.name = name;
    this.api = api;
    this.#chance = chance;
    this.#hands = {
      name,
      api,
      chance,
      contents: new Contents(chance),
      label: () => `${name}-${++this.#serial}`,
    };
    this.own = new OwnBranch(this.#hands);
    this.shared = new SharedWork(this.#hands);
    this.refs = new RefWork(this.#hands);
  }

  /** Draws a work and does it; returns what became of it, if there was anything to do. */
  async step(): Promise<{ name: WorkName; outcome: Outcome } | undefined> {
    const name = this.#chance.weighted(WEIGHTS);
    const work = this.#draw(name);
    if (!work) return undefined;
    this.trace.push(name);
    if (this.trace.length > TRACED) this.trace.shift();
    const outcome = await work ?? "done";
    this.trace.push(`${this.trace.pop()}: ${outcome}`);
    return { name, outcome };
  }

  /** Fails unless everything that this client knows of is there. */
  async check(): Promise<void> {
    await this.own.check();
    await this.shared.check();
    await this.refs.check();
  }

  #draw(name: WorkName): Promise<Outcome | void> | undefined {
    const { own, shared, refs } = this, hands = this.#hands;
    const draws: Record<WorkName, () => Promise<Outcome | void> | undefined> = {
      "upload": () => own.upload(),
      "delete": () => own.remove(),
      "delete many": () => own.removeMany(),
      "copy": () => own.copy(),
      "commit": () => own.commit(),
      "revert": () => own.revert(),
      "reset": () => own.reset(),
      "upload, shared": () => shared.upload(),
      "delete, shared": () => shared.remove(),
      "commit, shared": () => shared.commit(),
      "merge": () => shared.merge(own),
      "create branch": () => refs.create("branch", own),
      "delete branch": () => refs.remove("branch"),
      "tag": () => refs.create("tag", own),
      "delete tag": () => refs.remove("tag"),
      "get": () => getOne(hands, this.#shown()),
      "get a range": () => getRange(hands, this.#shown()),
      "stat": () => statOne(hands, this.#shown()),
      "list": () => listAll(hands, this.#shown()),
      "list folded": () => listFolded(hands, this.#shown()),
      "diff": () => own.diff(),
      "diff of commits": () => own.diffCommits(),
      "log": () => own.log(),
    };
    return draws[name]();
  }

  /** One of the refs of which this client knows what they show. */
  #shown(): Shown {
    const { own, shared, refs } = this;
    return this.#chance.oneOf([own.shown, own.shown, shared.shown, shared.merged, refs.one() ?? own.shown]);
  }
}
