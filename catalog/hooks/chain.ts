/**
 * Hooks as middleware: the caller's first, those of the process last, next to the store, so that these see the request that
 * runs. A caller can add hooks, and cannot skip one of the process: what a caller's hook answers by itself passes them, too.
 */

import { CodedError } from "../../base/errors.ts";
import { isAnswer } from "./answers.ts";
import { failedAfter, hookFailed, hookRefused } from "./failures.ts";
import { CHANGEABLE, type Hook, type HookRequest, type Next, type Spot, type SpotAnswers } from "./spots.ts";

/** What a call does in the end. */
export type Terminal<S extends Spot> = (request: HookRequest) => Promise<SpotAnswers[S]>;

const processHooks: Hook[] = [];

/** Adds hooks that all catalogs of this process run, from now on and for ever. */
export function addProcessHooks(...hooks: readonly Hook[]): void {
  processHooks.push(...hooks);
}

/** What goes on when an interrupt ends the program. */
const ENDING: ReadonlySet<Spot> = new Set(["session", "close"]);

export class Hooks {
  readonly #caller: readonly Hook[];
  readonly #own: readonly Hook[];
  #isInterrupted = false;

  /** `own` are the configuration's, which count as the process's. */
  constructor({ caller = [], own = [] }: { caller?: readonly Hook[]; own?: readonly Hook[] }) {
    this.#caller = caller;
    this.#own = own;
  }

  /** Runs a call through the hooks of its spot. */
  async run<S extends Spot>(
    request: HookRequest & { readonly spot: S },
    call: Terminal<S>,
  ): Promise<SpotAnswers[S]> {
    this.#refuseInterrupted(request);
    const terminal: Terminal<S> = (passedOn) => {
      this.#refuseInterrupted(request);
      return call(passedOn);
    };
    const runs = ({ spots }: Hook) => !spots || spots.has(request.spot);
    const caller = this.#caller.filter(runs);
    const process = [...this.#own, ...processHooks].filter(runs);
    if (caller.length === 0) return await through(process, request, terminal);
    let isReached = false;
    const answer = await through(caller, request, (passedOn) => {
      isReached = true;
      return through(process, passedOn, terminal);
    });
    return isReached ? answer : await through(process, request, async () => answer);
  }

  /** Has no call happen any more that has not begun, whatever hooks that are being asked about it answer. */
  interrupt(): void {
    this.#isInterrupted = true;
  }

  #refuseInterrupted({ spot }: HookRequest): void {
    if (!this.#isInterrupted || ENDING.has(spot)) return;
    throw new CodedError("canceled", "canceled", "Interrupted before it was done");
  }

  /** Ends what hooks keep running. All are ended; the first failure is thrown. */
  async close(): Promise<void> {
    const ends = await Promise.allSettled([...this.#caller, ...this.#own].map((hook) => hook.close?.()));
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  }
}

function through<S extends Spot>(
  hooks: readonly Hook[],
  request: HookRequest,
  terminal: Terminal<S>,
): Promise<SpotAnswers[S]> {
  const [hook, ...behind] = hooks;
  if (!hook) return terminal(request);
  const next: Next = async (changed) => await through(behind, merged(request, changed), terminal);
  return answerOf<S>(hook, request, next);
}

async function answerOf<S extends Spot>(
  hook: Hook,
  request: HookRequest,
  next: Next,
): Promise<SpotAnswers[S]> {
  const spot = request.spot as S;
  return await ran(hook, { request, next }, (answer) => {
    if (isAnswer(spot, answer)) return answer;
    throw hookFailed(hook.name, `gave no answer of the spot "${spot}"`);
  });
}

/**
 * Runs a hook. An error of its own is a refusal, of what was done or before that; what came from behind it stays what it is.
 */
async function ran<T>(
  hook: Hook,
  { request, next }: { readonly request: HookRequest; readonly next: Next },
  checked: (answer: unknown) => T,
): Promise<T> {
  const fromBehind = new Set<unknown>();
  let isDone = false;
  const run = async (changed?: HookRequest) => {
    try {
      const answer = await next(changed);
      isDone = true;
      return answer;
    } catch (error) {
      fromBehind.add(error);
      throw error;
    }
  };
  try {
    return checked(await hook.run(request, run));
  } catch (error) {
    if (fromBehind.has(error)) throw error;
    const own = ownError(hook, request, error);
    throw isDone || request.phase === "end" ? failedAfter(own, request) : own;
  }
}

function ownError(hook: Hook, request: HookRequest, error: unknown): CodedError {
  if (error instanceof CodedError) return error;
  const why = error instanceof Error && error.message !== ""
    ? error.message.split("\n")[0]!
    : "its hook refuses it";
  return hookRefused(hook.name, request, why, error);
}

/** Returns a request with what a hook may change as the hook has it. */
function merged(request: HookRequest, changed: HookRequest | undefined): HookRequest {
  if (!changed || changed === request) return request;
  const fields = CHANGEABLE[request.spot].flatMap((name) => {
    const value = changed[name];
    return value === undefined || value === request[name] ? [] : [[name, value] as const];
  });
  if (fields.length === 0) return request;
  const { logical, ...rest } = { ...request, ...Object.fromEntries(fields) };
  // What a hook put there is not what the logical URI leads to.
  return rest.physical !== request.physical || logical === undefined ? rest : { ...rest, logical };
}
