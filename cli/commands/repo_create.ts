/** `repo create`: a new repository with its first branch. */

import { repositoryJson } from "../../drivers/store.ts";
import { CodedError } from "../../base/errors.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { refUri, repositoryLocation } from "../locations.ts";

export async function run({ arguments: given, environment, output, session }: Context): Promise<number> {
  const [uri, namespace] = given.positionals;
  const { repository } = repositoryLocation(uri!);
  const option = given.value("storage-namespace");
  if (namespace !== undefined && option !== undefined) {
    throw new CodedError(
      "invalid",
      "invalid_argument",
      `Cannot use "${namespace}": the namespace is given twice`,
    );
  }
  const options = {
    storageNamespace: namespace ?? option,
    defaultBranch: given.value("default-branch"),
    raggedness: given.count("raggedness"),
    committer: environment.who(),
  };
  const store = await session.makeStore(async (before) =>
    await before.checkNewRepository?.(repository, options)
  );
  const created = await store.createRepository(repository, options);
  output.result(
    repositoryJson(created),
    `Created ${refUri(created.id, created.defaultBranch)} in ${output.shown(created.storageNamespace)}`,
  );
  return EXIT_OK;
}
