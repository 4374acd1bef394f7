/** One worker of the soak: it runs one command at a time, drawn by chance, and knows what must be there after each. */

import { createHash } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Chance } from "../tests/simulation/chance.ts";
import type { Counts } from "./soak_counts.ts";
import { BranchOperations } from "./soak_branch.ts";
import { MainOperations } from "./soak_main.ts";
import { type Commands, endOf, type Kill, Lost, outcomeOf, type Signal } from "./soak_process.ts";
import { RefOperations } from "./soak_refs.ts";
import type { Change, Operation } from "./soak_operation.ts";

/** Where an operation takes as long as it did before; a kill comes at any moment of that, or just too late. */
const LATEST = 1.15;
const SIGNALS: Readonly<Record<Signal, number>> = { SIGKILL: 8, SIGINT: 1, SIGTERM: 1 };
const KILLED = 0.65;
const TRACED = 40;

const WEIGHTS = {
  "put": 4,
  "put folder": 3,
  "rm": 1,
  "commit": 4,
  "reset": 1,
  "reset folder": 1,
  "hard reset": 1,
  "put on main": 4,
  "put folder on main": 2,
  "rm on main": 1,
  "commit main": 5,
  "reset folder on main": 1,
  "merge into main": 4,
  "merge main": 1,
  "tag": 2,
  "tag delete": 1,
  "branch": 2,
  "branch delete": 1,
};

export type OperationName = keyof typeof WEIGHTS;

export class Worker {
  readonly name: string;
  readonly commands: Commands;
  readonly own: BranchOperations;
  readonly scratch: BranchOperations;
  readonly main: MainOperations;
  readonly refs: RefOperations;
  /** The last operations, for whoever looks for what went wrong. */
  readonly trace: string[] = [];
  readonly #chance: Chance;
  readonly #counts: Counts;
  readonly #folder: string;
  readonly #isVictim: boolean;
  readonly #lateMs: number;
  readonly #typicalMs = new Map<string, number>();
  #serial = 0;

  constructor(
    name: string,
    { commands, chance, counts, folder, isVictim, lateMs }: {
      commands: Commands;
      chance: Chance;
      counts: Counts;
      folder: string;
      isVictim: boolean;
      /** So long after its client's end a server may still do what it was asked for. */
      lateMs: number;
    },
  ) {
    this.name = name;
    this.commands = commands;
    this.#chance = chance;
    this.#counts = counts;
    this.#folder = join(folder, `${name}-put`);
    this.#isVictim = isVictim;
    this.#lateMs = lateMs;
    this.own = new BranchOperations(this, name);
    this.scratch = new BranchOperations(this, `${name}-scratch`);
    this.main = new MainOperations(this);
    this.refs = new RefOperations(this);
  }

  /** Makes the worker's branches. */
  async prepare(): Promise<void> {
    for (const { branch } of [this.own, this.scratch]) {
      await this.commands.text(["branch", `lakefs://soak/${branch}`, "--from", "main"]);
    }
  }

  /** Draws an operation, runs it, and checks what came of it. */
  async step(): Promise<void> {
    const operation = this.#draw(this.#chance.weighted(WEIGHTS));
    if (!operation) return;
    this.#serial++;
    const { name, args, stdin } = operation;
    const kill = this.#isVictim && this.#chance.happens(KILLED) ? this.#drawKill(name) : undefined;
    const ended = await this.commands.run([...args, "--json"], { stdin, kill });
    const shot = kill ? ` (${kill.signal} after ${kill.afterMs.toFixed(1)} ms)` : "";
    this.#remember(`${args.join(" ")}${shot}: ${ended.signal ?? ended.code}`);
    const outcome = outcomeOf(ended, kill);
    this.#counts.add(name, outcome, { kill, ended });
    if (outcome === "acknowledged") {
      if (!kill) this.#learn(name, ended.milliseconds);
      await operation.done(ended);
    } else if (outcome === "refused") {
      if (!operation.refused) throw new Lost(`must not be refused: ${endOf(ended)}`);
      await operation.refused(ended);
    } else {
      await sleep(this.#lateMs);
      await operation.doubt();
    }
  }

  /** Fails unless everything that this worker knows of is there. */
  async check(): Promise<void> {
    await this.own.check();
    await this.scratch.check();
    await this.main.check();
    await this.refs.check();
  }

  /** A message, and part of a name, that no other operation has. */
  label(): string {
    return `${this.name}-${this.#serial}`;
  }

  /** Draws an object that no other operation has written, and where it goes. */
  object(folder: string): { change: Change; content: string } {
    const path = `${folder}${this.#chance.oneOf(["a", "b", "c"])}/k${this.#chance.below(12)}`;
    const content = this.#content(path);
    return { change: [path, md5(content)], content };
  }

  /** Writes a folder of such objects; returns where it lies. */
  files(folder: string): { changes: Change[]; local: string } {
    const local = this.#folder;
    rmSync(local, { recursive: true, force: true });
    const count = this.#chance.between(2, 30);
    const changes = Array.from({ length: count }, (_, i): Change => {
      const path = `${this.#chance.oneOf(["a", "b", "c"])}/f${i}`;
      const content = this.#content(path);
      mkdirSync(dirname(join(local, path)), { recursive: true });
      writeFileSync(join(local, path), content);
      return [folder + path, md5(content)];
    });
    return { changes, local };
  }

  #content(path: string): string {
    const line = `${this.label()} ${path} ${this.#chance.below(2 ** 31)}\n`;
    return line.repeat(this.#chance.happens(0.1) ? this.#chance.between(100, 3000) : 1);
  }

  #draw(name: OperationName): Operation | undefined {
    const { own, scratch, main, refs } = this;
    const chance = this.#chance;
    const branch = chance.happens(0.75) ? own : scratch;
    const draws: Record<OperationName, () => Operation | undefined> = {
      "put": () => branch.put(),
      "put folder": () => branch.putFolder(),
      "rm": () => branch.remove(chance),
      "commit": () => branch.commit(),
      "reset": () => branch.reset(),
      "reset folder": () => branch.resetFolder(chance.oneOf(["a", "b", "c"])),
      "hard reset": () => scratch.hardReset(refs.oneTag(chance)),
      "put on main": () => main.put(),
      "put folder on main": () => main.putFolder(),
      "rm on main": () => main.remove(chance),
      "commit main": () => main.commit(),
      "reset folder on main": () => main.reset(),
      "merge into main": () => main.merge(own.state.committed),
      "merge main": () => own.mergeMain(),
      "tag": () => refs.create("tag", own),
      "tag delete": () => refs.remove("tag", chance),
      "branch": () => refs.create("branch", own),
      "branch delete": () => refs.remove("branch", chance),
    };
    return draws[name]();
  }

  #drawKill(name: string): Kill {
    const afterMs = this.#chance.randomness.fraction() * LATEST * (this.#typicalMs.get(name) ?? 200);
    return { signal: this.#chance.weighted(SIGNALS), afterMs };
  }

  #learn(name: string, milliseconds: number): void {
    const known = this.#typicalMs.get(name) ?? milliseconds;
    this.#typicalMs.set(name, known * 0.7 + milliseconds * 0.3);
  }

  #remember(line: string): void {
    this.trace.push(line);
    if (this.trace.length > TRACED) this.trace.shift();
  }
}

function md5(content: string): string {
  return createHash("md5").update(content).digest("hex");
}
