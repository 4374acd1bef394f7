/** `cp`: objects or files to another place. */

import type { Context } from "../context.ts";
import { runTransfer } from "../transfer/mod.ts";

export async function run(context: Context): Promise<number> {
  return await runTransfer(context, "copy");
}
