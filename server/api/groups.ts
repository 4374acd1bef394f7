/** Groups and policies, as a lakeFS with basic authentication has them: none, and they cannot be made. */

import { CodedError } from "../../base/errors.ts";
import { json, operation } from "../operation.ts";
import type { OperationId } from "./operations.ts";
import { pageJson } from "./schemas.ts";

const LISTS = [
  "listGroups",
  "listPolicies",
  "listUserGroups",
  "listUserPolicies",
] as const satisfies readonly OperationId[];

const REFUSED = [
  "createGroup",
  "getGroup",
  "deleteGroup",
  "createPolicy",
  "getPolicy",
  "updatePolicy",
  "deletePolicy",
  "listGroupMembers",
  "addGroupMembership",
  "deleteGroupMembership",
  "attachPolicyToUser",
  "detachPolicyFromUser",
  "listGroupPolicies",
  "attachPolicyToGroup",
  "detachPolicyFromGroup",
  "setGroupACL",
  "getGroupACL",
] as const satisfies readonly OperationId[];

export const GROUP_OPERATIONS = [
  ...LISTS.map((id) =>
    operation(id, {
      async run() {
        return json(200, pageJson<string>([], { hasMore: false, nameOf: String }));
      },
    })
  ),
  ...REFUSED.map((id) =>
    operation(id, {
      async run() {
        throw new CodedError("unsupported", "not_built", "Not implemented");
      },
    })
  ),
];
