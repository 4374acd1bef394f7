/** `init`: a home in a folder. */

import { homeToInit, initHome } from "../../catalog/home.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";

export async function run({ arguments: given, environment, output }: Context): Promise<number> {
  const places = environment.homePlaces(given.value("home"));
  const home = homeToInit(given.positionals[0], places);
  initHome(home, places);
  output.result({ home }, `Made a home in ${output.shown(home)}`);
  return EXIT_OK;
}
