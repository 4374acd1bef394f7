/**
 * From the names in a configuration to hooks: built-in ones, `exec:PROGRAM`, `module:FILE`, or plain names, which stand for a
 * program or a module in `hooks/` of the user's own configuration folder.
 *
 * A program or module is never given by what anybody else may write: a configuration that does not lie in a file names plain
 * names only, and one that was met and is not trusted names none at all (`config/untrusted.ts`).
 */

import { accessSync, constants, statSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { CodedError } from "../../base/errors.ts";
import { loadModule } from "../../base/platform.ts";
import { closest } from "../../base/suggestions.ts";
import { logHook, logicalOnlyHook, type LogRecord } from "./built_in.ts";
import { executableHook, spotsOf } from "./executable.ts";
import { hookFailed } from "./failures.ts";
import type { Hook, HookFunction } from "./spots.ts";

export interface HookPlaces {
  /** Where the configuration lies, if in a folder. */
  readonly configFolder?: string;
  /** The user's own configuration folder. */
  readonly userConfigFolder: string;
  /** What `~` stands for. */
  readonly userFolder: string;
  /** Takes what `provcat.log` tells. */
  readonly log: (record: LogRecord) => void;
  readonly clock: Pick<Clock, "now">;
}

export const BUILT_IN_HOOKS: readonly string[] = ["provcat.log", "provcat.logical_only"];
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]*$/;
const MODULE_ENDINGS = [".js", ".mjs", ".ts"];

/** Returns the hooks of these names. Fails with `invalid_configuration`, `hook_failed`. */
export async function loadHooks(names: readonly string[], places: HookPlaces): Promise<readonly Hook[]> {
  const hooks: Hook[] = [];
  for (const name of names) hooks.push(await loadHook(name, places));
  return hooks;
}

async function loadHook(name: string, places: HookPlaces): Promise<Hook> {
  const why = whyNoHook(name, places.configFolder !== undefined);
  if (why !== undefined) throw refused(name, why);
  if (name === "provcat.log") return logHook(places.log, places.clock);
  if (name === "provcat.logical_only") return logicalOnlyHook;
  const [, form, path] = /^(exec|module):(.+)$/s.exec(name) ?? [];
  if (form === "exec") return executableHook(name, pathOf(path!, places));
  if (form === "module") return await moduleHook(name, pathOf(path!, places));
  return await namedHook(name, places);
}

/** Returns why a name can stand for no hook, wherever it is looked for; `isInFile` is of the configuration that names it. */
export function whyNoHook(name: string, isInFile: boolean): string | undefined {
  if (BUILT_IN_HOOKS.includes(name)) return undefined;
  if (name.startsWith("provcat.")) return noSuchHook();
  if (/^(exec|module):./s.test(name)) {
    return isInFile
      ? undefined
      : "only a configuration in a file may say where a hook lies; others name hooks of yours";
  }
  return NAME.test(name) ? undefined : "a hook is exec:PROGRAM, module:FILE or a name";
}

function noSuchHook(): string {
  return `there is no such hook; known are ${BUILT_IN_HOOKS.join(" and ")}`;
}

async function namedHook(name: string, { userConfigFolder }: HookPlaces): Promise<Hook> {
  const base = join(userConfigFolder, "hooks", name);
  for (const ending of MODULE_ENDINGS) {
    if (isFile(base + ending)) return await moduleHook(name, base + ending);
  }
  if (isFile(base) && isExecutable(base)) return executableHook(name, base);
  throw refused(name, noSuchHook());
}

/** A path starts where the configuration lies. */
function pathOf(path: string, { configFolder, userFolder }: HookPlaces): string {
  const own = /^~\/(.+)$/s.exec(path);
  if (own) return resolve(userFolder, own[1]!);
  return isAbsolute(path) ? resolve(path) : resolve(configFolder!, path);
}

/** A module's default export is the function; `spots` says where it runs, `close` ends it. */
async function moduleHook(name: string, path: string): Promise<Hook> {
  let module: Readonly<Record<string, unknown>>;
  try {
    module = await loadModule(path);
  } catch (error) {
    throw hookFailed(name, `cannot be loaded: ${(error as Error)?.message?.split("\n")[0] ?? error}`, error);
  }
  const { default: run, spots, close } = module;
  if (typeof run !== "function") throw hookFailed(name, "has no function as its default export");
  return {
    name,
    run: run as HookFunction,
    ...(spots === undefined ? {} : { spots: spotsOf(name, spots) }),
    ...(typeof close === "function" ? { close: async () => void await close() } : {}),
  };
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function refused(name: string, why: string): CodedError {
  const suggestion = closest(name, BUILT_IN_HOOKS);
  return new CodedError("invalid", "invalid_configuration", `Cannot use the hook "${name}": ${why}`, {
    details: { hook: name, isCatalog: true, ...(suggestion === undefined ? {} : { suggestion }) },
  });
}
