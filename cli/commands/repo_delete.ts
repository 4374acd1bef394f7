/** `repo delete`: a repository with everything in it, but for its files, which stay in its storage namespace. */

import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { repositoryLocation } from "../locations.ts";

export async function run({ arguments: given, messages, output, session }: Context): Promise<number> {
  const { repository } = repositoryLocation(given.positionals[0]!);
  const store = await session.store();
  const { storageNamespace } = await store.getRepository(repository);
  await messages.confirm(`delete repository "${repository}" with its branches, tags and history`);
  await store.deleteRepository(repository);
  output.result(
    { id: repository, deleted: true, storage_namespace: storageNamespace },
    `Deleted repository ${repository}\n${output.shown(await whatStays(storageNamespace, session.home))}`,
  );
  return EXIT_OK;
}

/** No other repository has a namespace in common with this one. */
async function whatStays(namespace: string, home: string | undefined): Promise<string> {
  const folder = home !== undefined && namespace.startsWith("local:")
    ? (await import("../../catalog/registry.ts")).folderOf(home, namespace)
    : undefined;
  return folder === undefined
    ? `Its files stay in ${namespace}, and take as much room as before`
    : `Its files stay in ${namespace}: to free their room, delete the folder "${folder}"`;
}
