/** `init`: a home in a folder; or a home's marker, where only that is gone. */

import { type FileSystemKind, fileSystemOf } from "../../base/file_system.ts";
import type { OwnFolders } from "../../base/own_folders.ts";
import { hasLostMarker, homeToInit, initHome, makeHome } from "../../catalog/home.ts";
import { openHomeStore } from "../../catalog/registry.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { counted } from "../render/sizes.ts";
import { homeOptions, Session } from "../session.ts";

const WARNINGS: Readonly<Record<FileSystemKind, string | undefined>> = {
  local: undefined,
  network:
    "its own key-value store is refused there; name another home, or a store by TARN_KV or config.yaml",
  layered: "use it from one container alone",
  memory: "all of it is gone when the machine starts again",
};

export async function run(context: Context): Promise<number> {
  const { arguments: given, environment, messages, output } = context;
  const places = environment.homePlaces(given.value("home"));
  const home = homeToInit(given.positionals[0], places);
  if (hasLostMarker(home, places)) return await restore(context, home);
  initHome(home, places, await ownFolders(context));
  const fileSystem = fileSystemOf(home);
  const warning = fileSystem && WARNINGS[fileSystem.kind];
  if (warning) messages.note(`The home lies on ${fileSystem.name}: ${warning}`);
  output.result({ home }, `Made a home in ${output.shown(home)}`);
  return EXIT_OK;
}

/** Returns the folders of the home that counts without this command: the new one has none. */
async function ownFolders({ arguments: given, environment, session }: Context): Promise<OwnFolders> {
  const isNamed = given.value("home") !== undefined;
  const present = isNamed ? new Session(environment) : session;
  try {
    return await present.ownFolders();
  } finally {
    if (isNamed) await present.close();
  }
}

/** A store that this version cannot read whole is none that it may call its own. */
async function restore({ environment, output }: Context, home: string): Promise<number> {
  const { kv: _, ...options } = await homeOptions(
    { folder: home, ready: true, isTrusted: true },
    environment,
  );
  const store = await openHomeStore(home, options);
  let count = 0;
  try {
    for await (const page of store.listRepositories()) count += page.length;
  } finally {
    await store.close();
  }
  makeHome(home);
  output.result(
    { home, restored: true, repositories: count },
    `Made ${output.shown(home)} a home again, with ${counted(count, "repository", "repositories")}`,
  );
  return EXIT_OK;
}
