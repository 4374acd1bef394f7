/** `auth setup`: the first user of the server. */

import { checkSecretKey, type NewCredential } from "../../server/mod.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { withServedHome } from "../served_home.ts";

export async function run(context: Context): Promise<number> {
  const [name] = context.arguments.positionals;
  const created = await withServedHome(context, {
    check: async (auth) => {
      await auth.users.checkSetUp(name!);
      const keyFile = context.environment.variable("TARN_SECRET_KEY_FILE");
      if (keyFile !== undefined) checkSecretKey(keyFile);
    },
    use: ({ auth }) => auth.users.setUp(name!),
  });
  showCredential(context, name!, created);
  return EXIT_OK;
}

/** Prints a new credential, the only time that its secret is shown. */
export function showCredential({ output }: Context, user: string, created: NewCredential): void {
  output.result(
    { user, access_key_id: created.accessKeyId, secret_access_key: created.secretAccessKey },
    `access_key_id: ${created.accessKeyId}\nsecret_access_key: ${created.secretAccessKey}`,
  );
}
