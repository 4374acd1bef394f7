/** The verbs that look after what is kept. */

import type { VerbSpec } from "./verb.ts";

export const UPKEEP_VERBS: readonly VerbSpec[] = [
  {
    name: "kv copy",
    summary: "copy a key-value store into another one, and compare them",
    usage: ["kv copy FROM TO"],
    about:
      "FROM and TO are lmdb:FOLDER (a home's own is lmdb:HOME/kv), postgres://USER@HOST/DATABASE or dynamodb://TABLE. TO must be " +
      "empty. Stop whoever writes to FROM: what is written meanwhile is found by comparing, and the copy then does not count. " +
      "One that was broken off goes on when it is run again, and until it has ended TO cannot be used. A password is named by " +
      "?password_file=FILE or ?password_env=NAME, as in postgres://tarn@db.example/tarn?password_env=DB_PASSWORD. Afterwards name TO in TARN_KV, or as kv: in the home's config.yaml.",
    takes: [2, 2],
    examples: ["kv copy lmdb:.tarn/kv lmdb:./kv-copy"],
    load: () => import("../commands/kv_copy.ts"),
  },
];
