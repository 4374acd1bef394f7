/** Pull requests: they cannot be made yet, so that there are none. */

import { CodedError } from "../../base/errors.ts";
import { json, operation } from "../operation.ts";
import { pageJson, prefixedPaging } from "./schemas.ts";

const listPullRequests = operation("listPullRequests", {
  query: prefixedPaging,
  async run({ store, path }) {
    await store.getRepository(path.repository);
    return json(200, pageJson<string>([], { hasMore: false, nameOf: String }));
  },
});

const OF_ONE = (["getPullRequest", "updatePullRequest", "mergePullRequest"] as const).map((id) =>
  operation(id, {
    async run({ store, path }) {
      await store.getRepository(path.repository);
      throw new CodedError(
        "not_found",
        "pull_request_not_found",
        `Cannot find pull request "${path.pull_request}": there is none of that ID`,
      );
    },
  })
);

export const PULL_OPERATIONS = [listPullRequests, ...OF_ONE];
