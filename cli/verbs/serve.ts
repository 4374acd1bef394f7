/** The verbs of the server. */

import { DURABILITIES, LOG_LEVELS } from "./choices.ts";
import type { VerbSpec } from "./verb.ts";

export const SERVE_VERBS: readonly VerbSpec[] = [
  {
    name: "serve",
    summary: "serve the lakeFS API and S3 over HTTP",
    usage: ["serve [--listen HOST:PORT] [--durability strict|relaxed]"],
    about:
      "Serves the home's repositories to clients of lakeFS and of S3; other commands may use the same home meanwhile. Clients log in with an " +
      "access key and its secret: make the first with tarn auth setup, or by the API (POST /api/v1/setup_lakefs) from " +
      "this machine. An address that others can reach is refused until then. A request must be for a host that is this machine, " +
      "the listen address or a --host-name. The log goes to standard error, one JSON object a line. SIGTERM or SIGINT stops it " +
      "when what it has begun is finished; a second one at once. There is no TLS: put a proxy in front. Secrets are sealed under the " +
      "home's secret.key, or the file that TARN_SECRET_KEY_FILE names. For S3 a bucket is a repository and a key REF/PATH; with " +
      "s3: {buckets: branch, auto_commit: idle 30} in the home's config.yaml a bucket is a branch, committed by itself.",
    takes: [0, 0],
    options: {
      listen: { value: "HOST:PORT", help: "where to listen (default 127.0.0.1:8000); port 0 for a free one" },
      "host-name": {
        value: "NAME",
        multiple: true,
        help: "a name that clients know this machine by; may be repeated",
      },
      durability: {
        value: "HOW",
        choices: DURABILITIES,
        help:
          "strict (default): an upload survives power loss once it is answered; relaxed: within a second, or by its commit",
      },
      "log-level": {
        value: "LEVEL",
        choices: LOG_LEVELS,
        help: "what is logged (default info: every request)",
      },
      "public-metrics": { help: "let /metrics be read without credentials" },
    },
    examples: ["serve", "serve --listen 127.0.0.1:0", "serve --listen 0.0.0.0:8000 --host-name data.example"],
    load: () => import("../commands/serve.ts"),
  },
  {
    name: "auth setup",
    summary: "make the server's first user, and print its credentials",
    usage: ["auth setup NAME"],
    about: "Works once for a home. The secret is shown this once and kept only sealed.",
    takes: [1, 1],
    examples: ["auth setup admin", "auth setup admin --json"],
    load: () => import("../commands/auth_setup.ts"),
  },
  {
    name: "auth key",
    summary: "make another access key for a user of the server",
    usage: ["auth key NAME"],
    about: "For who has lost a secret. It is shown this once and kept only sealed.",
    takes: [1, 1],
    examples: ["auth key admin"],
    load: () => import("../commands/auth_key.ts"),
  },
];
