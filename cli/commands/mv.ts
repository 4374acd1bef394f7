/** `mv`: objects or files to another place, and away from the old one. */

import type { Context } from "../context.ts";
import { runTransfer } from "../transfer/mod.ts";

export async function run(context: Context): Promise<number> {
  return await runTransfer(context, "move");
}
