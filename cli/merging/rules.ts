/** What a merge command says about conflicts: its choices, and the merge drivers that hold. */

import * as fs from "node:fs";
import { join, resolve } from "node:path";
import { tryUtf8Text } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import type { Context } from "../context.ts";
import { localError } from "../folders/local_files.ts";
import type { DriverRule } from "../merge_drivers/mod.ts";
import { type ChoiceRule, choiceRule, choiceRulesOf } from "./choices.ts";

/** In a home: a line `GLOB=DRIVER` a rule. */
const DRIVERS_FILE = "merge_drivers";

/** Returns the choices of the command line, those of `--resolve` before those of files. */
export async function choicesOf({ arguments: given }: Context): Promise<ChoiceRule[]> {
  const rules = given.values("resolve").map((text) => choiceRule(text, `"--resolve ${text}"`));
  for (const file of given.values("resolve-from")) rules.push(...await choiceRulesOf(file));
  return rules;
}

/**
 * Returns the merge drivers: those of the command line, then those of the user's own home. A home that was found on the way
 * up from the working folder may have come with somebody's data, so it names no programs.
 */
export async function driversOf(context: Context): Promise<DriverRule[]> {
  const { arguments: given, environment, messages, session } = context;
  const { chosen, workingFolder, userDataFolder, userId } = environment.homePlaces(given.value("home"));
  const flags = given.values("driver");
  const home = chosen ? resolve(workingFolder, chosen.path) : userDataFolder;
  const used = session.home;
  if (used !== undefined && used !== home && fs.existsSync(join(used, DRIVERS_FILE))) {
    messages.note(`Not using "${join(used, DRIVERS_FILE)}": merge drivers stand in your own home, "${home}"`);
  }
  const text = readOwn(join(home, DRIVERS_FILE), userId);
  if (flags.length === 0 && text === undefined) return [];
  const { driverRule } = await import("../merge_drivers/mod.ts");
  const place = { temporaryFolder: environment.temporaryFolder(), markers: given.flag("driver-markers") };
  const rules = flags.map((flag) =>
    driverRule(flag, `"--driver ${flag}"`, { ...place, folder: workingFolder })
  );
  for (const [i, whole] of (text ?? "").split("\n").entries()) {
    const line = whole.trim();
    if (line === "" || line.startsWith("#")) continue;
    rules.push(driverRule(line, `line ${i + 1} of "${join(home, DRIVERS_FILE)}"`, place));
  }
  return rules;
}

/** Reads a file that must belong to the user; `undefined` when it is not there. */
function readOwn(path: string, userId: number | undefined): string | undefined {
  try {
    const stat = fs.statSync(path, { throwIfNoEntry: false });
    if (!stat) return undefined;
    if (userId !== undefined && stat.uid !== userId) {
      throw new CodedError("forbidden", "file_forbidden", `Cannot use "${path}": it belongs to another user`);
    }
    const text = tryUtf8Text(fs.readFileSync(path));
    if (text !== undefined) return text;
    throw new CodedError("invalid", "invalid_argument", `Cannot use "${path}": it is not UTF-8`);
  } catch (error) {
    throw localError(error, `Cannot read "${path}"`);
  }
}
