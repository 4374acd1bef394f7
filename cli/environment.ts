/**
 * What the surroundings say: environment variables, the user, the places of files, whether a person is watching. The
 * only reader of environment variables.
 */

import { CodedError } from "../base/errors.ts";
import { fstatSync, readFileSync, statSync } from "node:fs";
import { homedir, tmpdir, userInfo } from "node:os";
import { isAbsolute, join } from "node:path";
import process from "node:process";
import type { ConfigPlaces } from "../catalog/config/discovery.ts";
import type { HomePlaces } from "../catalog/home.ts";

export interface Environment {
  /** Whether a person reads standard output. */
  readonly outputIsTerminal: () => boolean;
  /** Whether a person reads standard error. */
  readonly messagesAreTerminal: () => boolean;
  /** The cells of a terminal's line, where output or messages go to one. */
  readonly columns: () => number;
  /** Whether a person is there to be asked. */
  readonly inputIsTerminal: () => boolean;
  readonly wantsColor: () => boolean;
  /** Who commits. */
  readonly who: () => string;
  /** Where a home may be; `chosenHome` is the value of `--home`. */
  readonly homePlaces: (chosenHome: string | undefined) => HomePlaces;
  /** Where a configuration may be; `chosen` is the value of `--config`. */
  readonly configPlaces: (chosen: string | undefined) => ConfigPlaces;
  /** What `~` stands for. */
  readonly userFolder: () => string;
  /** Where what can be made again may be kept. */
  readonly cacheFolder: () => string;
  /** Where files may be that are gone when the command ends. */
  readonly temporaryFolder: () => string;
  /** Whether the user takes it on themselves that a database lies on a network file system. */
  readonly allowsNetworkFileSystems: () => boolean;
  /** Whether no socket may be opened. */
  readonly isOffline: () => boolean;
  /** The value of a variable that the user has named; an empty one counts as not set. */
  readonly variable: (name: string) => string | undefined;
  /** The value of a variable as it is, an empty one too; `undefined` only of one that is not set. */
  readonly exactVariable: (name: string) => string | undefined;
  /** The variables for a program that the user has us run: ours, with some more. */
  readonly withVariables: (more: Readonly<Record<string, string>>) => Record<string, string | undefined>;
}

/** The environment of this process. Each part is looked at when it is asked for. */
export const processEnvironment: Environment = {
  outputIsTerminal: () => isTerminal(1),
  messagesAreTerminal: () => isTerminal(2),
  columns: terminalColumns,
  inputIsTerminal: () => isTerminal(0),
  wantsColor: () => !variable("NO_COLOR") && variable("TERM") !== "dumb",
  who: () => variable("TARN_USER") ?? userName(),
  homePlaces: (chosenHome) => ({
    ...chosen(chosenHome),
    workingFolder: workingFolder(),
    userDataFolder: userDataFolder(),
    userId: process.getuid?.(),
    userName: nameOfUser,
  }),
  configPlaces: (chosen) => ({
    ...chosenConfig(chosen),
    workingFolder: workingFolder(),
    userConfigFolder: userConfigFolder(),
    userId: process.getuid?.(),
    userName: nameOfUser,
  }),
  userFolder: () => namedUserFolder() ?? userHomeFolder(),
  cacheFolder: userCacheFolder,
  temporaryFolder: tmpdir,
  allowsNetworkFileSystems: () => isOn("TARN_ALLOW_NETWORK_FILE_SYSTEM"),
  isOffline: () => isOn("TARN_OFFLINE"),
  variable,
  exactVariable,
  withVariables: (more) => ({ ...process.env, ...more }),
};

/** Loading `node:tty` takes longer than all else that a short command does: first whether it can be a terminal at all. */
function isTerminal(descriptor: number): boolean {
  try {
    const stat = fstatSync(descriptor);
    if (process.platform !== "win32") {
      if (!stat.isCharacterDevice() || stat.rdev === statSync("/dev/null").rdev) return false;
    }
    return process.getBuiltinModule("node:tty").isatty(descriptor);
  } catch {
    // It is closed.
    return false;
  }
}

/** Asked for on a terminal only: a stream of the runtime's is made for it. */
function terminalColumns(): number {
  const { columns } = isTerminal(1) ? process.stdout : process.stderr;
  return columns && columns > 0 ? columns : 80;
}

/**
 * Returns the files that may tell the local time zone, most telling first: `TZ` names one below the system's folder, or one
 * of its own. Empty where `TZ` is a rule (`EST5EDT`) and names none that is there.
 */
export function timeZoneFiles(): readonly string[] {
  const zone = process.env["TZ"]?.replace(/^:/, "");
  if (zone === undefined || zone === "") return ["/etc/localtime"];
  if (zone.startsWith("/")) return [zone];
  return zone.includes("..") ? [] : [join("/usr/share/zoneinfo", zone)];
}

/**
 * Returns a variable's value; an empty one counts as not set. One whose bytes are no UTF-8 is refused: the runtime decodes
 * them to U+FFFD, so several values would look like one.
 */
function variable(name: string): string | undefined {
  return exactVariable(name) || undefined;
}

/** Whoever writes "yes" must not be taken to mean no. */
function isOn(name: string): boolean {
  const value = variable(name) ?? "0";
  if (value === "1" || value === "0") return value === "1";
  throw new CodedError(
    "invalid",
    "invalid_argument",
    `Cannot use the variable ${name}: it is "${value}", not 1 or 0`,
  );
}

function exactVariable(name: string): string | undefined {
  const value = process.env[name];
  if (!value?.includes("\ufffd")) return value;
  throw new CodedError(
    "invalid",
    "invalid_argument",
    `Cannot use the variable ${name}: its value is not UTF-8`,
  );
}

function chosen(home: string | undefined): Pick<HomePlaces, "chosen"> {
  if (home !== undefined) return { chosen: { path: inUserFolder(home, "--home"), by: "--home" } };
  const path = variable("TARN_HOME");
  return path === undefined ? {} : { chosen: { path: inUserFolder(path, "TARN_HOME"), by: "TARN_HOME" } };
}

/** Most shells leave a `~` behind `=` as it is. */
function inUserFolder(path: string, by: string): string {
  if (/^~(?:[\\/]|$)/.test(path)) return join(namedUserFolder() ?? userHomeFolder(), path.slice(1));
  if (!path.startsWith("~")) return path;
  throw new CodedError(
    "invalid",
    "invalid_argument",
    `Cannot use ${by} "${path}": write the folder in full, or ./${path} for one of that name`,
  );
}

function chosenConfig(address: string | undefined): Pick<ConfigPlaces, "chosen"> {
  if (address !== undefined) return { chosen: { address, by: "--config" } };
  const named = variable("TARN_CONFIG");
  return named === undefined ? {} : { chosen: { address: named, by: "TARN_CONFIG" } };
}

/** A working folder that was deleted has no name; then only paths that need none work. */
function workingFolder(): string {
  try {
    return process.cwd();
  } catch {
    return "/";
  }
}

function userDataFolder(): string {
  return userFolder("XDG_DATA_HOME", [".local", "share"], ["Library", "Application Support"]);
}

function userCacheFolder(): string {
  return userFolder("XDG_CACHE_HOME", [".cache"], ["Library", "Caches"]);
}

function userConfigFolder(): string {
  return userFolder("XDG_CONFIG_HOME", [".config"], ["Library", "Application Support"]);
}

/** Returns our folder in one of the user's own, where each system has it. */
function userFolder(xdg: string, unix: readonly string[], mac: readonly string[]): string {
  const home = namedUserFolder() ?? userHomeFolder();
  if (process.platform === "win32") {
    return join(
      variable("LOCALAPPDATA") ?? join(variable("USERPROFILE") ?? home, "AppData", "Local"),
      "tarn",
    );
  }
  if (process.platform === "darwin") return join(home, ...mac, "tarn");
  // The XDG specification has relative paths ignored.
  const named = variable(xdg);
  return join(named?.startsWith("/") ? named : join(home, ...unix), "tarn");
}

/** A relative `HOME` would be another folder wherever a command runs. */
function namedUserFolder(): string | undefined {
  const home = variable("HOME");
  if (home === undefined || isAbsolute(home)) return home;
  throw new CodedError(
    "invalid",
    "invalid_argument",
    `Cannot use the variable HOME: "${home}" is not an absolute path`,
  );
}

function userHomeFolder(): string {
  const id = process.getuid?.();
  const fromList = id === undefined ? undefined : userList().find((user) => user.id === id)?.folder;
  return fromList || homedir();
}

function userName(): string {
  const id = process.getuid?.();
  const fromList = id === undefined ? undefined : userList().find((user) => user.id === id)?.name;
  return fromList ?? variable("USER") ?? variable("USERNAME") ?? systemUserName() ??
    `user-${id ?? "unknown"}`;
}

/** A user id without a record makes this call fail, or answer "unknown". */
function systemUserName(): string | undefined {
  try {
    const name = userInfo().username;
    return name === "unknown" ? undefined : name;
  } catch {
    return undefined;
  }
}

function nameOfUser(id: number): string {
  return userList().find((user) => user.id === id)?.name ?? `user ${id}`;
}

interface SystemUser {
  readonly name: string;
  readonly id: number;
  readonly folder: string;
}

/** The system's list of users: no call of the runtime names the owner of a file. Empty where there is no such list. */
function userList(): readonly SystemUser[] {
  let text: string;
  try {
    text = readFileSync("/etc/passwd", "utf8");
  } catch {
    return [];
  }
  return text.split("\n").map((line) => line.split(":")).filter((fields) => fields.length >= 6).map((
    fields,
  ) => ({
    name: fields[0]!,
    id: Number(fields[2]),
    folder: fields[5]!,
  }));
}
