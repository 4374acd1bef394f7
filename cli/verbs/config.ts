/** The verbs of the configuration. */

import type { VerbSpec } from "./verb.ts";

export const CONFIG_VERBS: readonly VerbSpec[] = [
  {
    name: "config show",
    summary: "show the configuration, or what a tenant sees of it",
    usage: ["config show [--tenant NAME] [--resolved]"],
    about:
      "The sections that count, those of all parts put together: of every tenant and the admin, or with --tenant of that one. " +
      "They are shown as they were written; --resolved fills in every ${oc.env:NAME,default} from your environment.",
    takes: [0, 0],
    options: { resolved: { help: "fill in what is read from the environment" } },
    examples: ["config show", "config show --resolved --json"],
    load: () => import("../commands/config_show.ts"),
  },
  {
    name: "config check",
    summary: "say all that is wrong with the configuration, and where",
    usage: ["config check [--config FILE] [--tenant NAME]"],
    about:
      "Checks each key, value, template, entry and stage, in the view of each tenant. Exits with 1 if something is wrong. A " +
      "tarn.yaml that was found upward from the working folder must be yours, and trusted before it may name hooks, say who is " +
      "shown your credentials, or put variables into hosts and paths: tarn config trust FILE.",
    takes: [0, 0],
    examples: ["config check", "config check --config tarn.yaml"],
    load: () => import("../commands/config_check.ts"),
  },
  {
    name: "config push",
    summary: "copy the configuration into etcd",
    usage: ["config push ETCD [--config FILE]"],
    about:
      "ETCD is etcd+https://HOST:PORT/PREFIX, or etcd+http:// without TLS, and what --config and TARN_CONFIG take in place of a " +
      "file. All of it is pushed as it was written, in one transaction: sections that the file has are written, those that it " +
      "has not are deleted; hooks stay in the file. Options follow a ?, with & between them: user=NAME with password_env=NAME " +
      "or password_file=FILE; ca_file, cert_file and key_file.",
    takes: [1, 1],
    examples: ["config push etcd+http://127.0.0.1:2379/tarn"],
    load: () => import("../commands/config_push.ts"),
  },
  {
    name: "config trust",
    summary: "trust a configuration as it is now",
    usage: ["config trust FILE"],
    about:
      "Shows what the file says that only a trusted one may, and notes its SHA-256 in your configuration folder. When the file " +
      "changes it must be trusted again. A file that --config or TARN_CONFIG names, and your own, are trusted as they are.",
    takes: [1, 1],
    examples: ["config trust tarn.yaml"],
    load: () => import("../commands/config_trust.ts"),
  },
];
