/**
 * The scheduler: of all calls that wait at a store's gate, one at a time goes on, chosen by chance.
 *
 * Between two calls a client computes by itself and touches nothing that others see, so the order of calls is all there is to
 * concurrency. When one call has been let through, everything that can run on without another call does, until all clients
 * wait again: then the same seed always makes the same choices, and the same trace.
 */

import { CodedError } from "../../base/errors.ts";
import type { Chance } from "./chance.ts";
import { fail, type Operation } from "./operation.ts";

/** A process: its clients share what it remembers, and die with it. */
export interface Process {
  readonly name: string;
  isDead: boolean;
}

export interface Call {
  readonly process: Process;
  readonly operation: Operation | undefined;
  /** What is called, with its first key. */
  readonly what: string;
  readonly isWrite: boolean;
  /** Whether doing it twice in a row does the same. */
  readonly isRepeatable: boolean;
  readonly perform: () => Promise<unknown>;
}

interface Waiting extends Call {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  frozenUntil: number;
}

/** A `freeze` stops any client for a while, a `sleep` one that reads, for long, while the clock goes on by more than that. */
export type Fault =
  | "crash"
  | "power loss"
  | "lost answer"
  | "refusal"
  | "repeat"
  | "freeze"
  | "sleep"
  | "clock jump";

/** A fault and the step from which on it happens, at the next call that it can happen to. */
export interface PlannedFault {
  readonly fault: Fault;
  readonly due: number;
}

export interface SchedulerOptions {
  readonly chance: Chance;
  readonly faults: readonly PlannedFault[];
  /** How likely the client that went on last goes on. */
  readonly persistence: number;
  readonly note: (line: string) => void;
  readonly onStep: (step: number) => void;
  readonly onCrash: (process: Process) => void;
  readonly onPowerLoss: () => Promise<void>;
  readonly onJump: () => void;
  /** Starts an operation of one of the clients that are idle. */
  readonly idle: () => readonly (() => void)[];
}

/** A simulation that goes on for longer than this hangs. */
const MAX_STEPS = 60_000;

export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #faults: PlannedFault[];
  #waiting: Waiting[] = [];
  #last: Process | undefined;
  #step = 0;
  #isRunning = false;
  readonly happened = new Map<Fault, number>();

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#faults = [...options.faults].sort((a, b) => a.due - b.due);
  }

  /** Takes a call; it settles when its turn has come and it has been done, or never if its process dies. */
  async pass<T>(call: Omit<Call, "perform">, perform: () => Promise<T>): Promise<T> {
    if (!this.#isRunning) return await perform();
    return await new Promise<T>((resolve, reject) => {
      if (call.process.isDead) return;
      this.#waiting.push({
        ...call,
        perform,
        resolve: resolve as Waiting["resolve"],
        reject,
        frozenUntil: 0,
      });
    });
  }

  /** Runs until every client has done all it was to do. `check` throws what a client found wrong. */
  async run(check: () => void): Promise<void> {
    this.#isRunning = true;
    while (true) {
      await allSettled();
      check();
      const starts = this.#options.idle();
      const ready = this.#ready();
      if (starts.length + ready.length === 0) break;
      if (++this.#step > MAX_STEPS) fail("it does not end");
      this.#options.onStep(this.#step);
      const chosen = this.#choose(ready, starts.length);
      if (chosen === undefined) this.#options.chance.oneOf(starts)();
      else await this.#serve(chosen);
    }
    this.#isRunning = false;
  }

  /** Ends a process where it stands: no call of its, made or to come, ever returns. */
  kill(process: Process): void {
    process.isDead = true;
    this.#waiting = this.#waiting.filter((call) => call.process !== process);
    this.#options.onCrash(process);
  }

  #ready(): readonly Waiting[] {
    const awake = this.#waiting.filter(({ frozenUntil }) => frozenUntil <= this.#step);
    return awake.length > 0 ? awake : this.#waiting;
  }

  #choose(ready: readonly Waiting[], starts: number): Waiting | undefined {
    const { chance, persistence } = this.#options;
    const same = ready.filter(({ process }) => process === this.#last);
    if (same.length > 0 && chance.happens(persistence)) return chance.oneOf(same);
    return ready[chance.below(ready.length + starts)];
  }

  async #serve(call: Waiting): Promise<void> {
    const fault = this.#faultFor(call);
    if (fault === "freeze" || fault === "sleep") return this.#freeze(call, fault);
    this.#waiting.splice(this.#waiting.indexOf(call), 1);
    this.#last = call.process;
    const { chance, note, onJump, onPowerLoss } = this.#options;
    const who = `${call.operation?.id ?? "?"}@${call.process.name}`;
    if (fault === "clock jump") onJump();
    const isBefore = (fault === "crash" || fault === "power loss") && chance.happens(0.5);
    if (fault === "refusal" || isBefore) note(`${this.#step} ${who} ${call.what} [${fault} before]`);
    if (fault === "refusal") return call.reject(unavailable());
    if (!isBefore) {
      const outcome = await settle(call.perform);
      note(`${this.#step} ${who} ${call.what} ${outcome.told}${fault ? ` [${fault}]` : ""}`);
      if (fault === "lost answer") return call.reject(unavailable());
      if (fault === "repeat") return this.#repeat(call);
      if (!fault || fault === "clock jump") return outcome.deliver(call);
    }
    if (fault === "crash") this.kill(call.process);
    else await onPowerLoss();
  }

  /** What was done is done once more, as by a client library that did not get its answer; others may come in between. */
  #repeat(call: Waiting): void {
    this.#waiting.push({ ...call, what: `${call.what} again` });
  }

  #freeze(call: Waiting, fault: "freeze" | "sleep"): void {
    const { chance, note } = this.#options;
    const steps = fault === "sleep" ? chance.between(150, 400) : chance.between(20, 300);
    call.frozenUntil = this.#step + steps;
    if (fault === "sleep") this.#faults.push({ fault: "clock jump", due: this.#step + chance.below(steps) });
    note(`${this.#step} ${call.operation?.id} ${call.what} [frozen until ${call.frozenUntil}]`);
  }

  #faultFor(call: Waiting): Fault | undefined {
    const at = this.#faults.findIndex(({ fault, due }) => due <= this.#step && canHappen(fault, call));
    if (at < 0) return undefined;
    const [{ fault }] = this.#faults.splice(at, 1) as [PlannedFault];
    this.happened.set(fault, (this.happened.get(fault) ?? 0) + 1);
    return fault;
  }
}

function canHappen(fault: Fault, call: Call): boolean {
  if (!call.operation) return false;
  if (fault === "lost answer") return call.isWrite;
  if (fault === "repeat") return call.isWrite && call.isRepeatable;
  if (fault === "sleep") return /^(read|stat|list|status)$/.test(call.operation.task.kind);
  return true;
}

function unavailable(): CodedError {
  return new CodedError(
    "unavailable",
    "kv_unavailable",
    "Cannot reach the store: the simulation has cut it off",
  );
}

interface Settled {
  readonly told: string;
  deliver(call: Waiting): void;
}

async function settle(perform: () => Promise<unknown>): Promise<Settled> {
  try {
    const value = await perform();
    return { told: "ok", deliver: ({ resolve }) => resolve(value) };
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    return { told: error.code, deliver: ({ reject }) => reject(error) };
  }
}

/** Returns when nothing is left that could go on by itself: promises settle before the next turn of the event loop. */
function allSettled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
