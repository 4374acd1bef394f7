/** Kills commands of the executable at random moments and counts what is lost: `bench/soak.sh` says how it is called. */

import { accessSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { systemRandomness } from "../base/randomness.ts";
import { Chance } from "../tests/simulation/chance.ts";
import { soakServer } from "./serve_soak/mod.ts";
import { Counts } from "./soak_counts.ts";
import { startOwnPostgres } from "./soak_postgres.ts";
import { Commands } from "./soak_process.ts";
import { soakShortCommands } from "./soak_short.ts";
import { stageWhileCommitting } from "./soak_staging.ts";
import { verify } from "./soak_verify.ts";
import { Worker } from "./soak_worker.ts";

const { values: given } = parseArgs({
  options: {
    kills: { type: "string", default: "1000" },
    processes: { type: "string" },
    victims: { type: "string" },
    seed: { type: "string" },
    seconds: { type: "string" },
    each: { type: "string", default: "200" },
    kv: { type: "string" },
    postgres: { type: "boolean", default: false },
    short: { type: "string" },
    staging: { type: "string" },
    serve: { type: "boolean", default: false },
    clients: { type: "string", default: "24" },
    repositories: { type: "string", default: "3" },
    minutes: { type: "string", default: "10" },
    kill: { type: "boolean", default: false },
    "kill-every": { type: "string", default: "5" },
    durability: { type: "string", default: "strict" },
    folder: { type: "string", default: tmpdir() },
    tarn: { type: "string", default: fileURLToPath(new URL("../dist/tarn", import.meta.url)) },
  },
});

/** A server may still do what a client had asked for that was killed. */
const SERVER_LATE_MS = 300;

function numberOf(name: string, text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 0) return number;
  throw new Error(`--${name} must be a whole number`);
}

const seed = given.seed === undefined
  ? Math.floor(systemRandomness.fraction() * 2 ** 31)
  : numberOf("seed", given.seed);
const until = given.seconds === undefined
  ? Infinity
  : performance.now() + numberOf("seconds", given.seconds) * 1000;

async function main(): Promise<number> {
  accessSync(given.tarn);
  const folder = mkdtempSync(join(given.folder, "tarn-soak-"));
  const postgres = given.postgres ? await startOwnPostgres() : undefined;
  const environment = { ...environmentOf(postgres?.url ?? given.kv), ...postgres?.environment };
  try {
    if (given.short !== undefined) await short(folder, numberOf("short", given.short));
    else if (given.staging !== undefined) await staging({ folder, environment });
    else if (given.serve) await serve({ folder, environment });
    else await soak({ folder, environment });
  } catch (error) {
    console.log(`\nLOST with --seed ${seed}: ${error instanceof Error ? error.message : error}`);
    console.log(`What there is lies in ${folder}`);
    return 1;
  } finally {
    await postgres?.stop();
  }
  console.log("nothing is lost");
  rmSync(folder, { recursive: true });
  return 0;
}

/** Secrets that the URL of a store names come from the environment; nothing else of ours does. */
function environmentOf(kv: string | undefined): Record<string, string> {
  const inherited = Object.entries(process.env).filter((pair): pair is [string, string] =>
    pair[1] !== undefined && !pair[0].startsWith("TARN_")
  );
  return {
    ...Object.fromEntries(inherited),
    TARN_USER: "soak",
    ...(kv === undefined ? {} : { TARN_KV: kv }),
  };
}

interface Place {
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
}

async function soak(place: Place): Promise<void> {
  const processes = numberOf("processes", given.processes ?? "4");
  const victims = given.victims === undefined ? processes : numberOf("victims", given.victims);
  const kills = numberOf("kills", given.kills), each = numberOf("each", given.each);
  console.log(`seed ${seed}: ${processes} processes at once, ${victims} of them killed, ${kills} kills`);
  const counts = new Counts();
  const hands = Array.from({ length: processes }, (_, i) => commandsOf(place, i));
  const [first] = hands;
  await first!.text([
    "repo",
    "create",
    "lakefs://soak",
    "--storage-namespace",
    `local://${join(place.folder, "objects")}`,
  ]);
  const chance = (i: number) => new Chance((seed + i * 7919) >>> 0);
  const { folder } = place, lateMs = "TARN_KV" in place.environment ? SERVER_LATE_MS : 0;
  const workers = hands.map((commands, i) =>
    new Worker(`w${i}`, { commands, chance: chance(i), counts, folder, isVictim: i < victims, lateMs })
  );
  for (const worker of workers) await worker.prepare();
  try {
    while (counts.kills < kills && performance.now() < until) {
      const stop = Math.min(kills, counts.kills + each);
      await Promise.all(workers.map((worker) => stepUntil(worker, counts, stop)));
      const isWhole = counts.kills >= kills || performance.now() >= until;
      await verify({ workers, commands: first!, folder, counts, isWhole });
      console.log(`${counts.kills} kills, all is there`);
    }
  } finally {
    for (const line of counts.lines()) console.log(line);
  }
}

let hasFailed = false;

async function stepUntil(worker: Worker, counts: Counts, stop: number): Promise<void> {
  while (!hasFailed && counts.kills < stop && performance.now() < until) {
    try {
      await worker.step();
    } catch (error) {
      hasFailed = true;
      console.log(`\n${worker.name} had done, last:\n  ${worker.trace.join("\n  ")}`);
      throw error;
    }
  }
}

/** On a store in a home all share the home; on a server each process has one of its own, as on a machine of its own. */
function commandsOf({ folder, environment }: Place, number: number): Commands {
  const home = "TARN_KV" in environment ? `home-${number}` : "home";
  mkdirSync(join(folder, "work"), { recursive: true });
  return new Commands(given.tarn, {
    folder: join(folder, "work"),
    environment: { ...environment, TARN_HOME: join(folder, home) },
  });
}

async function short(folder: string, homes: number): Promise<void> {
  const writes = await soakShortCommands({ binary: given.tarn, folder, homes, until });
  console.log(`${writes} writes by short commands, 20 at once, were acknowledged`);
}

async function staging({ folder, environment }: Place): Promise<void> {
  const processes = numberOf("processes", given.processes ?? "8");
  const { commits, during } = await stageWhileCommitting({
    binary: given.tarn,
    folder,
    environment: { ...environment, TARN_HOME: join(folder, "home") },
    processes,
    objects: numberOf("staging", given.staging!),
  });
  console.log(
    `${processes} processes staged ${given.staging} objects each; ${commits} commits, ${during} meanwhile`,
  );
}

async function serve({ folder, environment }: Place): Promise<void> {
  const clients = numberOf("clients", given.clients), minutes = Number(given.minutes);
  if (!(minutes > 0)) throw new Error("--minutes must be a number above 0");
  const kills = given.kill ? { killEverySeconds: numberOf("kill-every", given["kill-every"]) } : {};
  console.log(`seed ${seed}: ${clients} clients of a server, ${minutes} minutes, ${given.durability}`);
  await soakServer({
    binary: given.tarn,
    environment: { ...environment, TARN_HOME: join(folder, "home") },
    args: ["--durability", given.durability],
    seed,
    clients,
    repositories: numberOf("repositories", given.repositories),
    seconds: minutes * 60,
    ...kills,
    print: (line) => console.log(line),
  });
}

process.exitCode = await main();
