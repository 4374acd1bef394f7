/** Turns by name among the callers of one process, first come, first served; those that share one have it together. */

import { CodedError, throwIfAborted } from "../../base/errors.ts";

export interface Turn {
  end(): void;
}

export interface TurnOptions {
  readonly shared?: boolean;
  readonly signal?: AbortSignal;
}

interface Waiting {
  readonly shared: boolean;
  readonly start: () => void;
}

interface Line {
  /** How many have their turn now. */
  active: number;
  isShared: boolean;
  readonly waiting: Waiting[];
}

export class Turns {
  readonly #lines = new Map<string, Line>();

  /** Takes a turn if nobody is before the caller. */
  tryTake(name: string, { shared = false }: TurnOptions = {}): Turn | undefined {
    const line = this.#lines.get(name);
    if (line && !mayJoin(line, shared)) return undefined;
    return this.#start(name, shared);
  }

  /** Waits for a turn. Fails with `canceled`. */
  async take(name: string, options: TurnOptions = {}): Promise<Turn> {
    const { shared = false, signal } = options;
    throwIfAborted(signal);
    const now = this.tryTake(name, options);
    if (now) return now;
    const line = this.#lines.get(name)!;
    await new Promise<void>((resolve, reject) => {
      const waiting = { shared, start: () => (signal?.removeEventListener("abort", leave), resolve()) };
      const leave = () => {
        line.waiting.splice(line.waiting.indexOf(waiting), 1);
        // Those behind may share what is held now.
        this.#advance(name, line);
        reject(new CodedError("canceled", "canceled", "Canceled"));
      };
      line.waiting.push(waiting);
      signal?.addEventListener("abort", leave, { once: true });
    });
    return this.#turn(name);
  }

  #start(name: string, shared: boolean): Turn {
    let line = this.#lines.get(name);
    if (!line) this.#lines.set(name, line = { active: 0, isShared: shared, waiting: [] });
    line.active++;
    line.isShared = shared;
    return this.#turn(name);
  }

  #turn(name: string): Turn {
    return {
      end: () => {
        const line = this.#lines.get(name)!;
        line.active--;
        this.#advance(name, line);
      },
    };
  }

  #advance(name: string, line: Line): void {
    for (let next = line.waiting[0]; next; next = line.waiting[0]) {
      if (line.active > 0 && !(line.isShared && next.shared)) return;
      line.waiting.shift();
      line.active++;
      line.isShared = next.shared;
      next.start();
    }
    if (line.active === 0) this.#lines.delete(name);
  }
}

function mayJoin(line: Line, shared: boolean): boolean {
  return line.active === 0 || (shared && line.isShared && line.waiting.length === 0);
}
