/** `version`: which program this is, and where its home is. */

import process from "node:process";
import { CodedError } from "../../base/errors.ts";
import { runtimeName } from "../../base/platform.ts";
import description from "../../package.json" with { type: "json" };
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";

export async function run(context: Context): Promise<number> {
  const { arguments: given, output } = context;
  if (given.flag("licenses")) return await showLicenses(context);
  const { version } = description;
  const runtime = runtimeName();
  const platform = `${process.platform}-${process.arch}`;
  const home = await homeOf(context);
  output.result(
    { version, runtime, platform, home: home.folder ?? null, home_state: home.state },
    `tarn ${version} (${runtime}, ${platform})\nhome: ${home.folder ? `${output.shown(home.folder)} ` : ""}(${
      output.shown(home.text)
    })`,
  );
  return EXIT_OK;
}

interface HomeState {
  readonly folder?: string;
  readonly state: "ready" | "not made yet" | "unusable";
  readonly text: string;
}

/** Whatever is wrong with the home, this verb says so and works. */
async function homeOf({ arguments: given, environment }: Context): Promise<HomeState> {
  const { findHome } = await import("../../catalog/home.ts");
  try {
    const { folder, ready } = findHome(environment.homePlaces(given.value("home")));
    return ready
      ? { folder, state: "ready", text: "ready" }
      : { folder, state: "not made yet", text: "not made yet: the first command that writes makes it" };
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    return { state: "unusable", text: `unusable: ${error.message}` };
  }
}

async function showLicenses({ output }: Context): Promise<number> {
  const { licenseTexts } = await import("../licenses.ts");
  const texts = licenseTexts();
  output.result(
    texts,
    texts.map(({ name, license, text }) => `==== ${name} (${license})\n\n${text.trimEnd()}\n`).join("\n"),
  );
  return EXIT_OK;
}
