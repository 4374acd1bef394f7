/** `bisect list`: the commits among which the first bad one is. */

import { boundsOf, candidatesOf } from "../bisection.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { logForm } from "../render/commits.ts";

export async function run({ arguments: given, output, session }: Context): Promise<number> {
  const { candidates } = await candidatesOf(await session.store(), boundsOf(given));
  await output.list(onePage([...candidates].reverse().map((commit) => ({ commit }))), logForm(output));
  return EXIT_OK;
}

async function* onePage<T>(items: readonly T[]): AsyncGenerator<readonly T[]> {
  yield items;
}
