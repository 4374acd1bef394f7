/** Tables: writing, walking and looking up beside Pebble, each on the other's file too. */

import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { type Bench, interleaved, run, same } from "./measuring.ts";
import type { Row, Skipped } from "./table.ts";

const PROGRAM = fileURLToPath(new URL("./table_program.ts", import.meta.url));
const PEER = fileURLToPath(new URL("./peers/table", import.meta.url));

export function measureTables(bench: Bench): (Row | Skipped)[] {
  const figures = {
    write: `table: write ${bench.records.toLocaleString("en")} records`,
    scan: "table: walk over all",
    get: "table: look up 100,000 keys, scattered",
  };
  const folder = bench.fresh("tables");
  const peer = buildPeer(folder);
  if ("why" in peer) return Object.values(figures).map((figure) => ({ figure, why: peer.why }));
  const programs = { tarn: [process.execPath, PROGRAM], pebble: [peer.program] };
  const files = { tarn: join(folder, "tarn.sst"), pebble: join(folder, "pebble.sst") };
  const rows = (["write", "scan", "get"] as const).map((command): Row => {
    const answers = { tarn: "", pebble: "" };
    const ask = (who: "tarn" | "pebble") => {
      const words = run([...programs[who], command, files[who], String(bench.records)]).output.trim().split(
        " ",
      );
      answers[who] = words.slice(1).join(" ");
      return Number(words[0]);
    };
    const seconds = interleaved(bench.rounds, { tarn: () => ask("tarn"), pebble: () => ask("pebble") });
    same(figures[command], answers.tarn, answers.pebble);
    return { figure: figures[command], seconds: seconds.tarn, peer: "Pebble", peerSeconds: seconds.pebble };
  });
  const digests = Object.values(programs).flatMap((program) =>
    Object.values(files).map((file) => run([...program, "digest", file]).output.trim().split(" ")[1])
  );
  same("the tables' contents", digests, digests.map(() => digests[0]));
  return rows;
}

/** Builds a program, the Pebble one if no other is named, if Go is there. */
export function buildPeer(folder: string, source = PEER): { program: string } | { why: string } {
  const program = join(folder, "peer");
  const environment = { HOME: process.env["HOME"] ?? folder, CGO_ENABLED: "0" };
  try {
    run(["go", "version"], { environment });
  } catch {
    return { why: "go is not installed" };
  }
  try {
    run(["go", "build", "-o", program, "."], { folder: source, environment });
    return { program };
  } catch (error) {
    return { why: `the peer does not build (${String(error).split("\n")[1] ?? error})` };
  }
}
