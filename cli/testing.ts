/** The command line over an engine in memory, for tests: what it prints, and the code it exits with. */

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { concatBytes, lossyText } from "../base/bytes.ts";
import type { Store } from "../drivers/store.ts";
import { type Ending, temporaryFolder } from "../tests/support/temporary.ts";
import { type TestEngine, testEngine } from "../tests/support/test_engine.ts";
import type { Environment } from "./environment.ts";
import { runToExitCode } from "./main.ts";
import type { Sink } from "./streams.ts";

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface TestCli {
  /** An empty folder of the test's own. */
  readonly folder: string;
  readonly engine: TestEngine;
  run(...argv: string[]): Promise<Ran>;
  /** Runs with another end of the results; `out` then is empty. */
  runTo(sink: Sink, argv: readonly string[]): Promise<Ran>;
  /** Runs with `--json` and returns the document; fails unless the exit code is `code`. */
  json(argv: readonly string[], code?: number): Promise<unknown>;
}

export interface TestCliOptions {
  readonly terminal?: boolean;
  /** The width of the terminal. */
  readonly columns?: number;
  /** Told of each message as it is written, as to a terminal. */
  readonly onMessage?: (text: string) => void;
  /** Stands between the commands and the engine. */
  readonly around?: (store: Store) => Store;
}

/** Opens a command line whose store lives as long as the test. */
export function testCli(t: Ending, options: TestCliOptions = {}): TestCli {
  const folder = temporaryFolder(t);
  const engine = testEngine();
  const store = options.around?.(engine.store) ?? engine.store;
  const environment = testEnvironment(folder, options);
  async function run(...argv: string[]): Promise<Ran> {
    const pieces: Uint8Array[] = [];
    const ran = await runTo({ write: async (bytes) => void pieces.push(bytes.slice()) }, argv);
    return { ...ran, out: lossyText(concatBytes(...pieces)) };
  }
  async function runTo(sink: Sink, argv: readonly string[]): Promise<Ran> {
    let err = "";
    const code = await runToExitCode(argv, {
      environment,
      sink,
      writeMessage(text) {
        err += text;
        options.onMessage?.(text);
      },
      // Each command closes its store; the engine's memory must outlive that.
      openStore: async () => keptOpen(store),
    });
    return { code, out: "", err };
  }
  async function json(argv: readonly string[], code = 0): Promise<unknown> {
    const ran = await run(...argv, "--json");
    if (ran.code !== code) throw new Error(`${argv.join(" ")}: exit code ${ran.code}: ${ran.err}`);
    return JSON.parse(ran.out);
  }
  return { folder, engine, run, runTo, json };
}

/** Writes a file whose name is no UTF-8; `name` is in the shell's octal form. A runtime may not be able to name it. */
export function writeBadlyNamed(folder: string, name: string): void {
  execFileSync("sh", ["-c", `printf x > "$1/$(printf '${name}')"`, "sh", folder]);
}

function keptOpen(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name === "close") return async () => {};
      const value = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

function testEnvironment(
  folder: string,
  { terminal = false, columns = 80, onMessage }: TestCliOptions,
): Environment {
  return {
    columns: () => columns,
    outputIsTerminal: () => terminal,
    messagesAreTerminal: () => onMessage !== undefined,
    inputIsTerminal: () => false,
    wantsColor: () => false,
    who: () => "tester",
    homePlaces: () => ({
      chosen: { path: join(folder, "home"), by: "--home" },
      workingFolder: folder,
      userDataFolder: join(folder, "data"),
      userName: String,
    }),
    configPlaces: (chosen) => ({
      ...(chosen === undefined ? {} : { chosen: { address: chosen, by: "--config" } }),
      workingFolder: folder,
      userConfigFolder: join(folder, "config"),
      userName: String,
    }),
    userFolder: () => folder,
    cacheFolder: () => join(folder, "cache"),
    temporaryFolder: () => folder,
    allowsNetworkFileSystems: () => false,
    isOffline: () => false,
    variable: () => undefined,
    exactVariable: () => undefined,
    withVariables: (more) => ({ PATH: process.env["PATH"], ...more }),
  };
}
