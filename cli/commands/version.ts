/** `version`: which program this is. */

import process from "node:process";
import { runtimeName } from "../../base/platform.ts";
import description from "../../package.json" with { type: "json" };
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";

export async function run({ output }: Context): Promise<number> {
  const { version } = description;
  const runtime = runtimeName();
  const platform = `${process.platform}-${process.arch}`;
  output.result({ version, runtime, platform }, `tarn ${version} (${runtime}, ${platform})`);
  return EXIT_OK;
}
