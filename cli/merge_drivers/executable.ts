/**
 * The driver `exec:PROGRAM`: a program of the user's own.
 *
 * It gets four file names: base, source, destination, and the one to write the result to. A missing side is an empty file,
 * named in `TARN_MERGE_MISSING`. Exit code 0 says merged, 1 that the conflict stays, anything else is a failure. It runs
 * without a shell, in a private folder that is removed after it, with a bare environment, and not for ever.
 */

import { spawn } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { finished } from "node:stream";
import { EMPTY_BYTES, lossyText } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import { whyNotStarted } from "../programs.ts";
import type { DriverResult, DriverSides, MergeDriver } from "./driver.ts";

const TIME_LIMIT_MS = 10 * 60 * 1000;
const MAX_MESSAGE_BYTES = 4096;
/** What a program started and left running may hold its standard error open: after its end so much longer is listened. */
const LAST_WORDS_MS = 200;
const SIDES = ["base", "source", "destination"] as const;

export interface ProgramPlace {
  /** Where private folders are made. */
  readonly temporaryFolder: string;
  /** No result may be larger. */
  readonly maxResultBytes: number;
  readonly timeLimitMs?: number;
}

/** Returns the driver that runs a program. */
export function executableDriver(program: string, place: ProgramPlace): MergeDriver {
  const name = `exec:${program}`;
  return { name, merge: (sides, path) => runProgram({ name, program, path }, sides, place) };
}

interface Run {
  readonly name: string;
  readonly program: string;
  readonly path: string;
}

async function runProgram(run: Run, sides: DriverSides, place: ProgramPlace): Promise<DriverResult> {
  const folder = fs.mkdtempSync(join(place.temporaryFolder, "tarn-merge-"));
  const remove = () => fs.rmSync(folder, { recursive: true, force: true });
  // An interrupt ends us without coming back here.
  process.on("exit", remove);
  try {
    const files = SIDES.map((side) => join(folder, side));
    for (const [i, side] of SIDES.entries()) {
      fs.writeFileSync(files[i]!, sides[side] ?? EMPTY_BYTES, { mode: 0o600 });
    }
    const result = join(folder, "result");
    const { code, said } = await exitOf(run, [...files, result], {
      folder,
      missing: SIDES.filter((side) => !sides[side]),
      timeLimitMs: place.timeLimitMs ?? TIME_LIMIT_MS,
    });
    if (code === 1) return { conflict: "the program left it a conflict" };
    if (code !== 0) throw failed(run, `it ended with ${code}${said === "" ? "" : `: ${said}`}`);
    return readResult(run, result, place.maxResultBytes);
  } finally {
    process.off("exit", remove);
    remove();
  }
}

function readResult(run: Run, file: string, maxBytes: number): Uint8Array {
  const stat = fs.lstatSync(file, { throwIfNoEntry: false });
  if (!stat?.isFile()) throw failed(run, "it wrote no result");
  if (stat.size > maxBytes) {
    throw failed(run, `its result has ${stat.size} bytes, and at most ${maxBytes} are allowed`);
  }
  return fs.readFileSync(file);
}

interface Ended {
  /** The exit code, or the name of the signal. */
  readonly code: number | string;
  /** The last line of what it said on standard error. */
  readonly said: string;
}

function exitOf(
  run: Run,
  files: readonly string[],
  { folder, missing, timeLimitMs }: {
    readonly folder: string;
    readonly missing: readonly string[];
    readonly timeLimitMs: number;
  },
): Promise<Ended> {
  const env = {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: folder,
    TMPDIR: folder,
    LANG: "C.UTF-8",
    TARN_MERGE_PATH: run.path,
    TARN_MERGE_MISSING: missing.join(" "),
  };
  return new Promise((resolve, reject) => {
    let child: ReturnType<typeof start>;
    try {
      child = start(run.program, files, { cwd: folder, env });
    } catch (error) {
      return reject(failed(run, whyNotStarted(error), error));
    }
    let said = "";
    child.stderr.on(
      "data",
      (piece: Uint8Array) => said = (said + lossyText(piece)).slice(-MAX_MESSAGE_BYTES),
    );
    const kill = () => void child.kill("SIGKILL");
    // First: what is still running must not write where we clean up.
    process.prependListener("exit", kill);
    const timer = setTimeout(kill, timeLimitMs);
    const ended = () => {
      clearTimeout(timer);
      process.off("exit", kill);
    };
    child.on("error", (error) => {
      ended();
      reject(failed(run, whyNotStarted(error), error));
    });
    child.on("exit", (code, signal) => {
      ended();
      const deaf = setTimeout(() => child.stderr.destroy(), LAST_WORDS_MS);
      finished(child.stderr, { writable: false }, () => {
        clearTimeout(deaf);
        resolve({ code: code ?? signal ?? "nothing", said: said.trim().split("\n").at(-1)! });
      });
    });
  });
}

function start(
  program: string,
  files: readonly string[],
  place: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
) {
  return spawn(program, files, { ...place, stdio: ["ignore", "ignore", "pipe"] });
}

function failed({ name, path }: Run, why: string, cause?: unknown): CodedError {
  return new CodedError(
    "invalid",
    "merge_driver_failed",
    `Cannot merge "${path}" with "${name}": ${why}`,
    { details: { path, driver: name }, ...(cause === undefined ? {} : { cause }) },
  );
}
