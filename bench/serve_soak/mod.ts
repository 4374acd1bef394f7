/**
 * Clients that do mixed work on a server for minutes: each answer is compared with what the client knows to be there, and none
 * may be a failure of the server. With kills the server ends at random moments and is started again; what it had answered must
 * be there then, and nothing half done.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { Chance } from "../../tests/simulation/chance.ts";
import { Lost } from "../soak_process.ts";
import { Api, type Outcome } from "./api.ts";
import { Client } from "./client.ts";
import { MemoryWatch } from "./memory.ts";
import { SoakServer } from "./server.ts";
import { SHARED } from "./shared.ts";
import { verifyRepository } from "./verify.ts";

export interface ServeSoak {
  readonly binary: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Of `tarn serve`. */
  readonly args: readonly string[];
  readonly seed: number;
  readonly clients: number;
  readonly repositories: number;
  readonly seconds: number;
  /** How long the server lives on average; it is not killed without. */
  readonly killEverySeconds?: number;
  readonly print: (line: string) => void;
}

export interface Soaked {
  readonly kills: number;
  /** What was answered, reads and writes. */
  readonly answered: number;
}

/** Runs it. Fails with what is lost, what was answered wrongly, or what the server failed at. */
export async function soakServer(soak: ServeSoak): Promise<Soaked> {
  const server = await SoakServer.start({
    ...soak,
    args: ["--log-level", "warn", ...soak.args],
  });
  try {
    const apis = await makeRepositories(server, soak.repositories);
    const clients = Array.from(
      { length: soak.clients },
      (_, i) => new Client(`c${i}`, apis[i % apis.length]!, new Chance((soak.seed + i * 7919) >>> 0)),
    );
    for (const client of clients) await client.own.prepare();
    const soaked = await new Run(soak, server).work(clients);
    for (const api of apis) {
      const own = clients.filter((client) => client.api === api);
      const { objects, commits } = await verifyRepository(api, own);
      soak.print(`${api.repository}: ${objects} objects read back, ${commits} commits walked`);
    }
    await server.stop();
    server.checkHome();
    if (server.log !== "") throw new Lost(`the server has logged failures:\n${server.log.slice(0, 5000)}`);
    return soaked;
  } finally {
    server.abandon();
  }
}

async function makeRepositories(server: SoakServer, count: number): Promise<Api[]> {
  const names = Array.from({ length: count }, (_, i) => `soak-${i}`);
  const apis = await Promise.all(names.map((name) => Api.create(server, name)));
  for (const api of apis) {
    await api.ask("POST", "/branches", { body: { name: SHARED, source: "main" } });
  }
  return apis;
}

class Run {
  readonly #soak: ServeSoak;
  readonly #server: SoakServer;
  readonly #until: number;
  readonly #counts = new Map<string, Record<Outcome, number>>();
  readonly #downMs: number[] = [];
  #hasFailed = false;

  constructor(soak: ServeSoak, server: SoakServer) {
    this.#soak = soak;
    this.#server = server;
    this.#until = performance.now() + soak.seconds * 1000;
  }

  async work(clients: readonly Client[]): Promise<Soaked> {
    const memory = new MemoryWatch(this.#server);
    try {
      const all = [...clients.map((client) => this.#clientWork(client)), this.#kill()];
      // All end before a failure is told.
      for (const ended of await Promise.allSettled(all)) if (ended.status === "rejected") throw ended.reason;
      const answered = [...this.#counts.values()].reduce((sum, { done, refused }) => sum + done + refused, 0);
      return { kills: this.#downMs.length, answered };
    } finally {
      memory.stop();
      for (const line of [...this.#lines(), ...memory.lines()]) this.#soak.print(line);
    }
  }

  get #goesOn(): boolean {
    return !this.#hasFailed && performance.now() < this.#until;
  }

  async #clientWork(client: Client): Promise<void> {
    try {
      while (this.#goesOn) {
        const done = await client.step();
        if (done) this.#count(done.name, done.outcome);
      }
    } catch (error) {
      this.#hasFailed = true;
      this.#soak.print(`\n${client.name} had done, last:\n  ${client.trace.join("\n  ")}`);
      throw error;
    }
  }

  async #kill(): Promise<void> {
    const { killEverySeconds, seed } = this.#soak;
    if (killEverySeconds === undefined) return;
    const chance = new Chance(seed ^ 0x5eed);
    while (true) {
      // Between a tenth of it and twice as much.
      const pauseMs = chance.between(100, 1900) * killEverySeconds;
      await sleep(Math.max(0, Math.min(pauseMs, this.#until - performance.now())));
      if (!this.#goesOn) return;
      this.#downMs.push(await this.#server.kill());
    }
  }

  #count(name: string, outcome: Outcome): void {
    const counts = this.#counts.get(name) ?? { done: 0, refused: 0, unanswered: 0 };
    this.#counts.set(name, counts);
    counts[outcome]++;
  }

  #lines(): string[] {
    const columns = ["done", "refused", "unanswered"] as const;
    const line = (name: string, cells: readonly (string | number)[]) =>
      name.padEnd(18) + cells.map((cell) => String(cell).padStart(12)).join("");
    const rows = [...this.#counts].sort(([a], [b]) => a < b ? -1 : 1);
    const total = columns.map((column) => rows.reduce((sum, [, counts]) => sum + counts[column], 0));
    const down = this.#downMs.map((ms) => Math.round(ms));
    return [
      line("", columns),
      ...rows.map(([name, counts]) => line(name, columns.map((column) => counts[column]))),
      line("in all", total),
      `${down.length} kills${down.length > 0 ? `; served again after ${Math.max(...down)} ms at most` : ""}`,
    ];
  }
}
