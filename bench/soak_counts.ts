/** Counts what the soak did. */

import type { Kill, Outcome } from "./soak_process.ts";

const COLUMNS = ["acknowledged", "killed", "unanswered", "refused"] as const;

export class Counts {
  kills = 0;
  readonly #bySignal = new Map<string, number>();
  readonly #byName = new Map<string, Record<Outcome, number>>();
  verifications = 0;
  objectsRead = 0;
  commitsWalked = 0;

  add(name: string, outcome: Outcome, kill: Kill | undefined): void {
    const counts = this.#byName.get(name) ?? { acknowledged: 0, killed: 0, unanswered: 0, refused: 0 };
    this.#byName.set(name, counts);
    counts[outcome]++;
    if (outcome !== "killed" || !kill) return;
    this.kills++;
    this.#bySignal.set(kill.signal, (this.#bySignal.get(kill.signal) ?? 0) + 1);
  }

  lines(): string[] {
    const rows = [...this.#byName].sort(([a], [b]) => a < b ? -1 : 1);
    const total = (column: Outcome) => rows.reduce((sum, [, counts]) => sum + counts[column], 0);
    const line = (name: string, cells: readonly (string | number)[]) =>
      name.padEnd(22) + cells.map((cell) => String(cell).padStart(14)).join("");
    return [
      line("", COLUMNS),
      ...rows.map(([name, counts]) => line(name, COLUMNS.map((column) => counts[column]))),
      line("in all", COLUMNS.map(total)),
      `${this.kills} kills (${[...this.#bySignal].map(([signal, n]) => `${n} ${signal}`).join(", ")})`,
      `${this.verifications} verifications: ${this.objectsRead} objects read back, ${this.commitsWalked} commits walked`,
    ];
  }
}
