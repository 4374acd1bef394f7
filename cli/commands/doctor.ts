/** `doctor`: whether the home and where it lies are as they should be. Whatever is wrong, it runs and says so. */

import process from "node:process";
import {
  examineFolder,
  examineStores,
  type Finding,
  type FindingState,
  problemOf,
} from "../../catalog/examine.ts";
import type { FoundHome } from "../../catalog/home.ts";
import { runtimeName } from "../../base/platform.ts";
import description from "../../package.json" with { type: "json" };
import type { Context } from "../context.ts";
import { EXIT_NO, EXIT_OK } from "../exit_codes.ts";
import { hintFor } from "../hints.ts";
import { counted } from "../render/sizes.ts";

const MARKS: Readonly<Record<FindingState, string>> = { ok: "ok", warning: "note", problem: "BAD" };

export async function run(context: Context): Promise<number> {
  const { output } = context;
  const { version } = description;
  const runtime = runtimeName();
  const platform = `${process.platform}-${process.arch}`;
  const isText = output.json === "none";
  if (isText) output.line(`tarn ${version} (${runtime}, ${platform})`);
  const findings = [];
  for await (const { error, ...finding } of findingsOf(context)) {
    const hint = error && hintFor(error);
    findings.push({ ...finding, ...(hint === undefined ? {} : { hint }) });
    if (!isText) continue;
    output.line(`${MARKS[finding.state].padEnd(5)}${finding.name}: ${output.shown(finding.text)}`);
    if (hint !== undefined) output.line(`     ${hint}`);
  }
  const states = findings.map(({ state }) => state);
  const state = states.includes("problem") ? "problem" : states.includes("warning") ? "warning" : "ok";
  if (!isText) output.document({ version, runtime, platform, state, findings });
  return state === "problem" ? EXIT_NO : EXIT_OK;
}

async function* findingsOf({ arguments: given, messages, session }: Context): AsyncGenerator<Finding> {
  let home: FoundHome;
  try {
    home = await session.found();
  } catch (error) {
    yield problemOf("home", error);
    return;
  }
  yield* examineFolder(home);
  try {
    yield* examineStores(home, await session.options(home), {
      allCommits: given.flag("all"),
      onProgress: (repository, { objects }) =>
        messages.progress(() => `Checking "${repository}": ${counted(objects, "object")}`),
    });
  } catch (error) {
    yield problemOf("key-value store", error);
  }
}
