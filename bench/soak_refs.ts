/** A worker's tags, and branches that nobody writes: each stays what it was made from until it is deleted. */

import type { Chance } from "../tests/simulation/chance.ts";
import type { BranchOperations } from "./soak_branch.ts";
import { checkVersions, type Versions } from "./soak_model.ts";
import type { Hands, Operation } from "./soak_operation.ts";

type Kind = "tag" | "branch";

interface Ref {
  readonly kind: Kind;
  readonly name: string;
  readonly snapshot: Versions;
}

/** More would make the verifications slow; at so many there is always one to delete. */
const MOST = 4;

export class RefOperations {
  readonly #hands: Hands;
  readonly #refs = new Map<string, Ref>();

  constructor(hands: Hands) {
    this.#hands = hands;
  }

  names(kind: Kind): string[] {
    return this.#of(kind).map(({ name }) => name);
  }

  oneTag(chance: Chance): Ref | undefined {
    const tags = this.#of("tag");
    return tags.length === 0 ? undefined : chance.oneOf(tags);
  }

  create(kind: Kind, source: BranchOperations): Operation | undefined {
    if (this.#of(kind).length >= MOST) return undefined;
    const name = `${this.#hands.label()}-${kind}`;
    const ref: Ref = { kind, name, snapshot: source.state.committed };
    return {
      name: kind,
      args: [kind, `lakefs://soak/${name}`, "--from", source.branch],
      done: () => {
        this.#refs.set(name, ref);
      },
      doubt: async () => {
        if (await this.#isThere(ref)) await this.#checkOne(ref);
      },
    };
  }

  remove(kind: Kind, chance: Chance): Operation | undefined {
    const refs = this.#of(kind);
    if (refs.length === 0) return undefined;
    const ref = chance.oneOf(refs);
    return {
      name: `${kind} delete`,
      args: [kind, "delete", `lakefs://soak/${ref.name}`],
      done: () => {
        this.#refs.delete(ref.name);
      },
      doubt: async () => {
        await this.#isThere(ref);
      },
    };
  }

  async check(): Promise<void> {
    for (const ref of this.#refs.values()) await this.#checkOne(ref);
  }

  #of(kind: Kind): Ref[] {
    return [...this.#refs.values()].filter((ref) => ref.kind === kind);
  }

  /** Looks whether a ref is there, and remembers it. */
  async #isThere(ref: Ref): Promise<boolean> {
    const isThere = await this.#hands.commands.has(ref.kind, `lakefs://soak/${ref.name}`);
    if (isThere) this.#refs.set(ref.name, ref);
    else this.#refs.delete(ref.name);
    return isThere;
  }

  async #checkOne({ kind, name, snapshot }: Ref): Promise<void> {
    const found = await this.#hands.commands.list(`lakefs://soak/${name}/${this.#hands.name}/b/`);
    checkVersions(`${kind} ${name}`, found, snapshot);
  }
}
