/** Counts what the soak did. */

import { type Ended, errorCodeOf, type Kill, type Outcome } from "./soak_process.ts";

const COLUMNS = ["acknowledged", "killed", "unanswered", "refused"] as const;

export class Counts {
  kills = 0;
  readonly #bySignal = new Map<string, number>();
  readonly #byRefusal = new Map<string, number>();
  readonly #byName = new Map<string, Record<Outcome, number>>();
  verifications = 0;
  objectsRead = 0;
  commitsWalked = 0;

  add(name: string, outcome: Outcome, { kill, ended }: { kill: Kill | undefined; ended: Ended }): void {
    const counts = this.#byName.get(name) ?? { acknowledged: 0, killed: 0, unanswered: 0, refused: 0 };
    this.#byName.set(name, counts);
    counts[outcome]++;
    if (outcome === "refused") addOne(this.#byRefusal, errorCodeOf(ended));
    if (outcome !== "killed" || !kill) return;
    this.kills++;
    addOne(this.#bySignal, kill.signal);
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
      `${this.kills} kills (${listed(this.#bySignal)}); refused: ${listed(this.#byRefusal) || "none"}`,
      `${this.verifications} verifications: ${this.objectsRead} objects read back, ${this.commitsWalked} commits walked`,
    ];
  }
}

function addOne(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function listed(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([name, count]) => `${count} ${name}`).join(", ");
}
