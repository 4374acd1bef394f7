/** A client's tags, and branches that nobody writes: each stays what it was made from until it is deleted. */

import { checkVersions, type Versions } from "../soak_model.ts";
import type { Outcome } from "./api.ts";
import type { OwnBranch } from "./branch.ts";
import type { Hands } from "./hands.ts";
import type { Shown } from "./reads.ts";

type Kind = "tag" | "branch";

interface Ref {
  readonly kind: Kind;
  readonly name: string;
  readonly snapshot: Versions;
}

/** More would make the verifications slow. */
const MOST = 5;
const PLURALS = { tag: "tags", branch: "branches" } as const;

export class RefWork {
  readonly #hands: Hands;
  readonly #refs = new Map<string, Ref>();

  constructor(hands: Hands) {
    this.#hands = hands;
  }

  names(kind: Kind): string[] {
    return this.#of(kind).map(({ name }) => name);
  }

  /** One of them, to be read. */
  one(): Shown | undefined {
    const refs = [...this.#refs.values()];
    return refs.length === 0 ? undefined : this.#shown(this.#hands.chance.oneOf(refs));
  }

  create(kind: Kind, { branch, state }: OwnBranch): Promise<Outcome> | undefined {
    if (this.#of(kind).length >= MOST) return undefined;
    const name = `${this.#hands.label()}-${kind}`;
    const ref: Ref = { kind, name, snapshot: state.committed };
    return this.#hands.api.write({
      method: "POST",
      path: `/${PLURALS[kind]}`,
      body: kind === "tag" ? { id: name, ref: branch } : { name, source: branch },
      status: 201,
      done: () => void this.#refs.set(name, ref),
      doubt: async () => {
        if (await this.#isThere(ref)) await this.#checkOne(ref);
      },
    });
  }

  remove(kind: Kind): Promise<Outcome> | undefined {
    const refs = this.#of(kind);
    if (refs.length === 0) return undefined;
    const ref = this.#hands.chance.oneOf(refs);
    return this.#hands.api.write({
      method: "DELETE",
      path: `/${PLURALS[kind]}/${ref.name}`,
      status: 204,
      done: () => void this.#refs.delete(ref.name),
      doubt: async () => {
        if (await this.#isThere(ref)) await this.#checkOne(ref);
      },
    });
  }

  async check(): Promise<void> {
    for (const ref of this.#refs.values()) await this.#checkOne(ref);
  }

  #of(kind: Kind): Ref[] {
    return [...this.#refs.values()].filter((ref) => ref.kind === kind);
  }

  #shown({ name, snapshot }: Ref): Shown {
    return { ref: name, folder: `${this.#hands.name}/`, versions: snapshot };
  }

  /** Looks whether a ref is there, and remembers it. */
  async #isThere(ref: Ref): Promise<boolean> {
    const { status } = await this.#hands.api.look(`/${PLURALS[ref.kind]}/${ref.name}`, [200, 404]);
    if (status === 200) this.#refs.set(ref.name, ref);
    else this.#refs.delete(ref.name);
    return status === 200;
  }

  async #checkOne({ kind, name, snapshot }: Ref): Promise<void> {
    checkVersions(`${kind} ${name}`, await this.#hands.api.list(name, `${this.#hands.name}/`), snapshot);
  }
}
