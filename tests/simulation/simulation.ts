/**
 * One simulation: several processes with clients in them, one KV store, one disk, and faults; all of it drawn from a seed.
 *
 * Whatever happens, in the end the power goes: then a new process must find every ref, every commit and every object that a
 * commit names, and each branch as the model has it.
 */

import { createHash } from "node:crypto";
import { hex, lossyText, utf8 } from "../../base/bytes.ts";
import { sha256 } from "../../base/hashes.ts";
import { seededRandomness } from "../../base/randomness.ts";
import { isCoded } from "../../base/errors.ts";
import type { ObjectStore } from "../../drivers/object_store.ts";
import { type EngineContext, openEngineStore } from "../../engine/mod.ts";
import { DEFAULT_CHUNKING } from "../../engine/committed/mod.ts";
import { decodeRef } from "../../engine/refs/records.ts";
import type { KvStore } from "../../kv/store.ts";
import { type TestClock, testClock } from "../support/test_engine.ts";
import { Chance } from "./chance.ts";
import { type Disk, openDisk } from "./disk.ts";
import { drawFlavour, drawTask, type Flavour } from "./drawing.ts";
import { checkEnd } from "./ending.ts";
import { Model } from "./model.ts";
import { newOperation, type Operation, SimulationFailure } from "./operation.ts";
import { type OpenedStore, perform, REPOSITORY } from "./performing.ts";
import { type Fault, type PlannedFault, type Process, Scheduler } from "./scheduler.ts";
import { loseRef } from "./rules.ts";
import { openSharedKv, type SharedKv } from "./shared_kv.ts";
import { currentOperation, type Gate, gatedClock, gatedKv, gatedObjects, isToken } from "./stores.ts";

/** Obvious ways that lose data, around the stores of each process. */
export interface Plant {
  readonly kv?: (kv: KvStore) => KvStore;
  readonly objects?: (objects: ObjectStore) => ObjectStore;
}

export interface SimulationResult {
  readonly seed: number;
  /** What went wrong; `undefined` when all is well. */
  readonly failure: string | undefined;
  /** Of the trace: equal for equal seeds. */
  readonly hash: string;
  /** The trace itself, when it was asked for. */
  readonly trace: readonly string[];
  readonly operations: readonly Operation[];
  readonly faults: ReadonlyMap<Fault, number>;
}

export interface SimulationOptions {
  readonly plant?: Plant;
  readonly isTraced?: boolean;
}

const RAGGEDNESS = 3;
/** At least so many, by all clients together. */
const OPERATIONS = 60;
/** Faults come while the clients are at it, and one that has to come does so before the shortest simulation is over. */
const FAULTS_UNTIL = 350;
const FIRST_FAULTS_UNTIL = 120;

interface Client {
  readonly name: string;
  readonly slot: ProcessSlot;
  left: number;
  running: Operation | undefined;
}

/** The place of a process; when one dies, another takes it. */
interface ProcessSlot {
  process: Process;
  opened: OpenedStore;
}

export async function simulate(seed: number, options: SimulationOptions = {}): Promise<SimulationResult> {
  const simulation = new Simulation(seed, options);
  return await simulation.run();
}

class Simulation {
  readonly #seed: number;
  readonly #plant: Plant;
  readonly #chance: Chance;
  readonly #clock: TestClock = testClock();
  readonly #kv: SharedKv = openSharedKv();
  readonly #disk: Disk = openDisk(this.#clock);
  readonly #model: Model = new Model(this.#disk, { ...DEFAULT_CHUNKING, raggedness: RAGGEDNESS });
  readonly #flavour: Flavour;
  readonly #slots: ProcessSlot[] = [];
  readonly #clients: Client[] = [];
  readonly #operations: Operation[] = [];
  readonly #trace: string[] | undefined;
  readonly #hash = createHash("sha256");
  readonly #scheduler: Scheduler;
  #failure: unknown;
  #processes = 0;

  constructor(seed: number, { plant = {}, isTraced = false }: SimulationOptions) {
    this.#seed = seed;
    this.#plant = plant;
    this.#chance = new Chance(seed);
    const faults = drawFaults(this.#chance);
    const hasPowerLoss = faults.some(({ fault }) => fault === "power loss");
    this.#flavour = drawFlavour(this.#chance, { hasPowerLoss });
    this.#trace = isTraced ? [] : undefined;
    this.#scheduler = new Scheduler({
      chance: this.#chance,
      faults,
      persistence: this.#chance.oneOf([0, 0.3, 0.7, 0.9]),
      note: (line) => this.#note(line),
      onStep: (step) => this.#model.step = step,
      onCrash: (process) => this.#restart(process),
      onPowerLoss: () => this.#losePower(),
      onJump: () => this.#clock.advance(this.#chance.between(5, 120) * 60_000),
      idle: () => this.#idle(),
    });
  }

  async run(): Promise<SimulationResult> {
    let failure: string | undefined;
    try {
      await this.#begin();
      await this.#scheduler.run(() => this.#throwFailure());
      for (const { process } of this.#slots) process.isDead = true;
      await this.#losePowerAtLast();
      await checkEnd(this.#open().opened.store, this.#model, this.#operations);
    } catch (error) {
      // Whatever the engine throws that nobody expects is a failure, too.
      failure = error instanceof SimulationFailure
        ? error.message
        : isCoded(error)
        ? `${error.code}: ${error.message}`
        : String((error as Error).stack ?? error);
    }
    return {
      seed: this.#seed,
      failure,
      hash: this.#hash.digest("hex"),
      trace: this.#trace ?? [],
      operations: this.#operations,
      faults: this.#scheduler.happened,
    };
  }

  /** Makes the repository, something in it, and a branch; then processes with clients. */
  async #begin(): Promise<void> {
    const { opened } = this.#open();
    await opened.store.createRepository(REPOSITORY, { committer: "setup", raggedness: RAGGEDNESS });
    await this.#setUp(opened, {
      kind: "write",
      branch: "main",
      files: { a: "first a", b: "first b", "d/x": "first x" },
    });
    await this.#setUp(opened, { kind: "commit", branch: "main", allowEmpty: false });
    await this.#setUp(opened, { kind: "createBranch", name: "side", source: "main" });
    const processes = this.#chance.between(2, 4);
    for (let i = 0; i < processes; i++) this.#slots.push(this.#open());
    const clients = this.#chance.between(4, 6);
    for (let i = 0; i < clients; i++) {
      const slot = this.#slots[i % processes]!;
      this.#clients.push({ name: `c${i}`, slot, left: Math.ceil(OPERATIONS / clients), running: undefined });
    }
  }

  async #setUp(opened: OpenedStore, task: Operation["task"]): Promise<void> {
    await this.#perform(opened, this.#newOperation(`setup${this.#operations.length}`, task));
    this.#throwFailure();
  }

  #newOperation(id: string, task: Operation["task"]): Operation {
    const operation = newOperation(id, task, this.#model.step);
    this.#operations.push(operation);
    const texts = task.kind === "write" ? Object.values(task.files) : "text" in task ? [task.text] : [];
    for (const text of texts) if (text !== undefined) this.#model.texts.set(hex(sha256(utf8(text))), text);
    this.#note(`${this.#model.step} ${id} begins ${JSON.stringify(task)}`);
    return operation;
  }

  async #perform(opened: OpenedStore, operation: Operation): Promise<void> {
    try {
      await currentOperation.run(operation, () => perform(opened, this.#model, operation));
      this.#note(`${this.#model.step} ${operation.id} ends: ${operation.outcome}`);
    } catch (error) {
      this.#failure ??= error;
    }
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  #idle(): readonly (() => void)[] {
    return this.#clients.filter(({ running, left }) => !running && left > 0).map((client) => () =>
      this.#start(client)
    );
  }

  #start(client: Client): void {
    const { slot, name } = client;
    const id = `${name}.${client.left--}`;
    const last = this.#operations.findLast((operation) => operation.id.startsWith(`${name}.`));
    // Whoever does not know what became of it often asks for the same once more.
    const isAgain = last?.outcome === "unknown" && this.#chance.happens(0.5);
    const task = isAgain ? last.task : drawTask(this.#chance, this.#model, { flavour: this.#flavour, id });
    const operation = this.#newOperation(id, task);
    client.running = operation;
    const { process } = slot;
    this.#perform(slot.opened, operation).then(() => {
      if (!process.isDead) client.running = undefined;
    });
  }

  #restart(process: Process): void {
    const slot = this.#slots.find((one) => one.process === process)!;
    for (const client of this.#clients) {
      if (client.slot !== slot || !client.running) continue;
      client.running.outcome = "unknown";
      client.running = undefined;
    }
    Object.assign(slot, this.#open());
  }

  async #losePower(): Promise<void> {
    for (const { process } of [...this.#slots]) this.#scheduler.kill(process);
    await this.#disk.losePower(this.#chance);
  }

  /** Relaxed writes may be gone then, too. */
  async #losePowerAtLast(): Promise<void> {
    await this.#disk.losePower(this.#chance);
    for (const { partition, key, before } of await this.#kv.losePower(this.#chance)) {
      if (isToken(partition)) this.#model.loseStaged(lossyText(partition), { key, value: before });
      else loseRef(this.#model, before && decodeRef(before));
    }
  }

  #open(): ProcessSlot {
    const process: Process = { name: `p${this.#processes++}`, isDead: false };
    const gate: Gate = { scheduler: this.#scheduler, process, model: this.#model };
    const { kv = (store: KvStore) => store, objects = (store: ObjectStore) => store } = this.#plant;
    const opened = objects(gatedObjects(this.#disk, gate));
    const context: EngineContext = {
      kv: kv(gatedKv(this.#kv, gate)),
      clock: gatedClock(this.#clock, gate),
      randomness: seededRandomness(this.#seed * 64 + this.#processes),
      canonicalNamespace: (namespace) => namespace,
      defaultNamespace: (repository, uid) => `mem://${repository}-${uid}`,
      openObjects: () => Promise.resolve(opened),
    };
    return { process, opened: { store: openEngineStore(context), context, objects: opened } };
  }

  #note(line: string): void {
    this.#hash.update(line);
    this.#trace?.push(line);
  }
}

function drawFaults(chance: Chance): readonly PlannedFault[] {
  const faults: PlannedFault[] = [];
  const add = (fault: Fault, most: number, least = 0) => {
    for (let left = chance.between(least, most); left > 0; left--) {
      faults.push({ fault, due: chance.below(left <= least ? FIRST_FAULTS_UNTIL : FAULTS_UNTIL) });
    }
  };
  add("crash", 3, 1);
  add("lost answer", 3, 1);
  add("refusal", 2);
  add("repeat", 3);
  add("freeze", 6);
  add("sleep", 3);
  add("clock jump", 4);
  if (chance.happens(0.3)) add("power loss", 1, 1);
  return faults;
}
