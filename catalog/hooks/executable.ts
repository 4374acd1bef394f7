/**
 * Hooks that are programs. Each is asked before a call, and after it:
 *
 * ```
 * {"when":"hello","protocol":1}                           {} or {"spots":["fetch"],"after":false}
 * {"when":"before","call":1,"request":{"spot":"fetch",…}} {} or {"next":{…}}, {"answer":…}, {"error":"why not"}
 * {"when":"after","call":1,"answer":…} or "error":{…}     {} or {"answer":…}, {"error":"why not"}
 * ```
 */

import { CodedError } from "../../base/errors.ts";
import type { Entry } from "../../drivers/catalog_store.ts";
import { isAnswer, isEntry } from "./answers.ts";
import { Coprocess, type CoprocessOptions } from "./coprocess.ts";
import { hookFailed, hookRefused } from "./failures.ts";
import { answerFromJson, answerToJson, changedRequest, isPlainObject, requestJson } from "./json.ts";
import { type Hook, type HookRequest, type Next, type Spot, SPOTS } from "./spots.ts";

const PROTOCOL = 1;

type Reply = Readonly<Record<string, unknown>>;

/** A program as it runs, and what it wants to be asked. */
interface Running {
  readonly coprocess: Coprocess;
  readonly spots: ReadonlySet<Spot>;
  readonly asksAfter: boolean;
}

/** Returns the hook that a program is; it is started by the first call, and runs until the hook is closed. */
export function executableHook(name: string, program: string, options: CoprocessOptions = {}): Hook {
  let running: Promise<Running> | undefined;
  let calls = 0;
  return {
    name,
    run: async (request, next) => {
      running ??= start(name, program, options);
      const { spots, ...how } = await running;
      if (!spots.has(request.spot)) return await next();
      return await new Call(name, { call: ++calls, request, next, ...how }).run();
    },
    close: async () => {
      // One that could not be started has nothing to end.
      await (await running?.catch(() => undefined))?.coprocess.close();
    },
  };
}

async function start(name: string, program: string, options: CoprocessOptions): Promise<Running> {
  const coprocess = new Coprocess(name, program, options);
  try {
    const reply = asReply(name, await coprocess.ask({ when: "hello", protocol: PROTOCOL }));
    return { coprocess, spots: spotsOf(name, reply["spots"]), asksAfter: reply["after"] !== false };
  } catch (error) {
    await coprocess.close();
    throw error;
  }
}

/** Returns the spots of a list; all of them where there is none. Fails with `hook_failed`. */
export function spotsOf(name: string, given: unknown): ReadonlySet<Spot> {
  if (given === undefined || given === null) return new Set(SPOTS);
  const known: readonly unknown[] = SPOTS;
  if (Array.isArray(given) && given.every((spot) => known.includes(spot))) return new Set(given as Spot[]);
  throw hookFailed(name, `asks for spots that there are not; known are ${SPOTS.join(", ")}`);
}

interface CallParts {
  readonly coprocess: Coprocess;
  readonly asksAfter: boolean;
  readonly call: number;
  readonly request: HookRequest;
  readonly next: Next;
}

class Call {
  readonly #name: string;
  readonly #parts: CallParts;

  constructor(name: string, parts: CallParts) {
    this.#name = name;
    this.#parts = parts;
  }

  async run(): Promise<unknown> {
    const { request, next } = this.#parts;
    const reply = await this.#ask("before", { request: requestJson(request) });
    if ("answer" in reply) return this.#answered(reply);
    const given = reply["next"];
    const passedOn = isPlainObject(given) ? changedRequest(request, given) : request;
    let answer: unknown;
    try {
      answer = await next(passedOn);
    } catch (error) {
      await this.#ask("after", { error: errorJson(error) });
      throw error;
    }
    if (request.spot === "list") return this.#pages(answer as AsyncIterable<readonly Entry[]>);
    const after = await this.#ask("after", { answer: answerToJson(request.spot, answer) });
    return "answer" in after ? this.#answered(after) : answer;
  }

  /** A list is asked about page by page. */
  async *#pages(pages: AsyncIterable<readonly Entry[]>): AsyncGenerator<readonly Entry[]> {
    for await (const page of pages) {
      const after = await this.#ask("after", { answer: answerToJson("list", page) });
      yield "answer" in after ? this.#entries(after["answer"]) : page;
    }
  }

  /** Asks the program. Fails with `hook_refused`, `hook_failed`. */
  async #ask(when: "before" | "after", what: Readonly<Record<string, unknown>>): Promise<Reply> {
    const { coprocess, asksAfter, call, request } = this.#parts;
    if (when === "after" && !asksAfter) return {};
    const reply = asReply(this.#name, await coprocess.ask({ when, call, ...what }));
    const { error } = reply;
    if (error === undefined || error === null) return reply;
    throw hookRefused(this.#name, request, whyOf(error));
  }

  #answered(reply: Reply): unknown {
    const { spot } = this.#parts.request;
    if (spot === "list") return onePage(this.#entries(reply["answer"]));
    const answer = answerFromJson(spot, reply["answer"]);
    if (isAnswer(spot, answer)) return answer;
    throw hookFailed(this.#name, `gave no answer of the spot "${spot}"`);
  }

  #entries(value: unknown): readonly Entry[] {
    const entries = answerFromJson("list", value);
    if (Array.isArray(entries) && entries.every(isEntry)) return entries;
    throw hookFailed(this.#name, 'gave no answer of the spot "list"');
  }
}

async function* onePage(entries: readonly Entry[]): AsyncGenerator<readonly Entry[]> {
  yield entries;
}

function asReply(name: string, value: unknown): Reply {
  if (isPlainObject(value)) return value;
  throw hookFailed(name, "answered with JSON that is no object");
}

/** Control characters in what a program says are shown escaped by whoever shows messages. */
function whyOf(error: unknown): string {
  const text = isPlainObject(error) ? error["message"] : error;
  return typeof text === "string" && text.trim() !== "" ? text.trim().split("\n")[0]! : "its hook refuses it";
}

function errorJson(error: unknown): Record<string, unknown> {
  if (!(error instanceof CodedError)) {
    return { kind: "internal", code: "internal", message: "Unexpected failure" };
  }
  const { kind, code, message } = error;
  return { kind, code, message };
}
