/** `init`: a home in a folder. */

import { type FileSystemKind, fileSystemOf } from "../../base/file_system.ts";
import { homeToInit, initHome } from "../../catalog/home.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";

const WARNINGS: Readonly<Record<FileSystemKind, string | undefined>> = {
  local: undefined,
  network:
    "its own key-value store is refused there; name another home, or a store by TARN_KV or config.yaml",
  layered: "use it from one container alone",
  memory: "all of it is gone when the machine starts again",
};

export async function run({ arguments: given, environment, messages, output }: Context): Promise<number> {
  const places = environment.homePlaces(given.value("home"));
  const home = homeToInit(given.positionals[0], places);
  initHome(home, places);
  const fileSystem = fileSystemOf(home);
  const warning = fileSystem && WARNINGS[fileSystem.kind];
  if (warning) messages.note(`The home lies on ${fileSystem.name}: ${warning}`);
  output.result({ home }, `Made a home in ${output.shown(home)}`);
  return EXIT_OK;
}
