/** A KV store that pretends nothing has moved: the obvious way to read a branch once where it must be read twice. */

import { lossyText } from "../../base/bytes.ts";
import type { KvStore, KvValue } from "../../kv/store.ts";

/** Answers each reading of a ref with what the first one saw. */
export function staleRefs(kv: KvStore): KvStore {
  const seen = new Map<string, KvValue | undefined>();
  return {
    ...kv,
    async get(partition, key) {
      const name = lossyText(key);
      if (!name.startsWith("refs/")) return await kv.get(partition, key);
      if (!seen.has(name)) seen.set(name, await kv.get(partition, key));
      return seen.get(name);
    },
  };
}
