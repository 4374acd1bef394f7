/** A PostgreSQL of the soak's own, for as long as it runs; tests/services/postgres.sh starts it. */

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const SCRIPT = fileURLToPath(new URL("../tests/services/postgres.sh", import.meta.url));
const PASSWORD = "testing";

export interface OwnPostgres {
  /** The store's URL, as TARN_KV takes it. */
  readonly url: string;
  /** What the URL needs of the environment. */
  readonly environment: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

export async function startOwnPostgres(): Promise<OwnPostgres> {
  const child = spawn("bash", [SCRIPT], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout.setEncoding("utf8").once("data", (line: string) => resolve(Number(line)));
    child.once("error", reject);
    child.once("close", () => reject(new Error("PostgreSQL did not start")));
  });
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres?table=soak&password_env=SOAK_PASSWORD`,
    environment: { SOAK_PASSWORD: PASSWORD },
    async stop() {
      child.stdin.end();
      await ended;
    },
  };
}
