/** Runs of actions: none is run here, so that there are none. */

import { CodedError } from "../../base/errors.ts";
import { json, operation } from "../operation.ts";
import { pageJson, paging } from "./schemas.ts";

const listRepositoryRuns = operation("listRepositoryRuns", {
  query: paging,
  async run({ store, path }) {
    await store.getRepository(path.repository);
    return json(200, pageJson<string>([], { hasMore: false, nameOf: String }));
  },
});

const OF_A_RUN = (["getRun", "listRunHooks", "getRunHookOutput"] as const).map((id) =>
  operation(id, {
    async run({ store, path }) {
      await store.getRepository(path.repository);
      throw new CodedError(
        "not_found",
        "run_not_found",
        `Cannot find run "${path.run_id}": no actions are run here`,
      );
    },
  })
);

export const ACTION_OPERATIONS = [listRepositoryRuns, ...OF_A_RUN];
