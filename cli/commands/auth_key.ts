/** `auth key`: another access key for a user of the server. */

import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { withStore } from "../served_home.ts";
import { showCredential } from "./auth_setup.ts";

export async function run(context: Context): Promise<number> {
  const [name] = context.arguments.positionals;
  // Where there is no home, there is no user, either.
  const created = await withStore(context, {
    makes: false,
    use: ({ auth }) => auth.users.createCredential(name!),
  });
  showCredential(context, name!, created);
  return EXIT_OK;
}
