/** Runs what stands in the grey boxes of a page, in order, in an empty folder, as a reader would. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import process from "node:process";
import { binaryPath } from "./binary.ts";
import { type Ending, temporaryFolder } from "./temporary.ts";

/**
 * `sh` is run; `sh exit=N` is to end with N; `sh background` is a server that the boxes after it speak to; `python` is run
 * where there is an interpreter for it. All else is read only.
 */
interface Box {
  readonly language: "sh" | "python";
  readonly text: string;
  /** What the box's last command exits with. */
  readonly exitCode: number;
  readonly isServer: boolean;
}

/** Where a page says that servers listen; a test uses no other port than its own. */
const ADDRESS = "127.0.0.1:8000";

export interface PageOptions {
  /** The interpreter for what stands there in Python. */
  readonly python?: string;
  /** Folders of programs, beside those of the environment. */
  readonly programs?: readonly string[];
}

/** Runs a page, whose path is from the project's folder; returns how many boxes were run. */
export async function runPage(t: Ending, page: string, options: PageOptions = {}): Promise<number> {
  const folder = temporaryFolder(t);
  const bin = join(folder, "bin"), work = join(folder, "work");
  for (const path of [bin, work]) mkdirSync(path);
  symlinkSync(binaryPath(), join(bin, "tarn"));
  const path = [bin, ...options.programs ?? [], process.env["PATH"]].join(delimiter);
  const place = { cwd: work, env: { PATH: path, HOME: folder, TARN_USER: "reader" } };
  const own = `127.0.0.1:${await freePort()}`;
  let run = 0;
  for (const box of boxesOf(readFileSync(new URL(`../../${page}`, import.meta.url), "utf8"))) {
    const text = box.text.replaceAll(ADDRESS, own).replaceAll("tarn serve", `tarn serve --listen ${own}`);
    if (box.language === "python" && options.python === undefined) continue;
    run++;
    const [program, args] = box.language === "sh"
      ? ["bash", ["-euo", "pipefail", "-c", box.isServer ? `exec ${text}` : text]] as const
      : [options.python!, ["-c", text]] as const;
    const child = spawn(program, args, { ...place, stdio: ["ignore", "pipe", "pipe"] });
    const output = gathered(child);
    const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
    if (box.isServer) {
      t.after(async () => {
        child.kill("SIGKILL");
        await ended;
      });
      await Promise.race([saysSo(child), ended.then(() => assert.fail(`${text}\nended\n${output()}`))]);
    } else assert.equal(await ended, box.exitCode, `${box.text}\n${output()}`);
  }
  return run;
}

function boxesOf(markdown: string): Box[] {
  const boxes = markdown.matchAll(/^```(sh|python)(?: exit=(\d+)| (background))?\n([\s\S]*?)^```$/gm);
  return [...boxes].map(([, language, exit, background, text]) => ({
    language: language as Box["language"],
    text: text!,
    exitCode: Number(exit ?? 0),
    isServer: background !== undefined,
  }));
}

function gathered(child: ChildProcess): () => string {
  let output = "";
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.setEncoding("utf8").on("data", (text: string) => output += text);
  }
  return () => output;
}

/** A server says where it listens once it does. */
function saysSo(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => child.stdout!.once("data", () => resolve()));
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
