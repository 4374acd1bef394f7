/** `serve`: the server, until a signal stops it. */

import { realpathSync } from "node:fs";
import process from "node:process";
import { systemClock } from "../../base/clock.ts";
import {
  type Auth,
  checkServing,
  Log,
  parseHostName,
  parseListenAddress,
  type RunningServer,
  shownAddress,
  startServer,
} from "../../server/mod.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { type ServedHome, withServedHome } from "../served_home.ts";
import { stopGently } from "../signals.ts";
import { writeMessage } from "../streams.ts";
import { DURABILITIES, LOG_LEVELS } from "../verbs/choices.ts";

const DEFAULT_ADDRESS = "127.0.0.1:8000";

export async function run(context: Context): Promise<number> {
  const { arguments: given, output } = context;
  const address = parseListenAddress(given.value("listen") ?? DEFAULT_ADDRESS);
  const hostNames = given.values("host-name").map(parseHostName);
  const level = given.choice("log-level", LOG_LEVELS) ?? "info";
  const durability = given.choice("durability", DURABILITIES) ?? "strict";
  const check = (auth: Auth) => checkServing({ auth, address });
  const use = async ({ folder, store, auth, s3 }: ServedHome) => {
    const hide = [folder, realpathSync(folder)];
    const log = new Log({ clock: systemClock, level, hide, write: writeMessage });
    const server = await startServer({
      store,
      auth,
      log,
      address,
      durability,
      hostNames,
      metricsArePublic: given.flag("public-metrics"),
      s3,
    });
    const stopped = new Promise<string>((resolve) => stopGently(resolve));
    announce(context, server);
    await output.drain();
    log.info("stopping", { signal: await stopped });
    await server.stop();
    return EXIT_OK;
  };
  return await withServedHome(context, { check, use });
}

function announce({ output, messages }: Context, { address, isSetUp, setupToken }: RunningServer): void {
  const url = `http://${shownAddress(address)}`;
  output.result(
    { url, api: `${url}/api/v1`, s3: url, pid: process.pid, is_set_up: isSetUp },
    `Serving ${url}/api/v1, and S3 at ${url}`,
  );
  if (isSetUp) return;
  messages.note(
    `There is no user yet: stop it and run "tarn auth setup NAME", or set up through the API. From a browser or another machine that ` +
      `takes this token, good once, in the header x-tarn-setup-token: ${setupToken}`,
  );
}
