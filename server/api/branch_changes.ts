/** What moves a branch beside commits and merges, or drops what is staged on it. */

import { z } from "zod";
import { CodedError } from "../../base/errors.ts";
import type { PickOptions } from "../../drivers/store.ts";
import { empty, json, operation } from "../operation.ts";
import { flag, metadata } from "./schemas.ts";
import { commitJson } from "../../drivers/store.ts";

const resetBranch = operation("resetBranch", {
  body: z.object({
    type: z.enum(["object", "common_prefix", "reset"]),
    path: z.string().nullish(),
    force: z.boolean().nullish(),
  }),
  async run({ store, path, body, user }) {
    await store.reset(path.repository, path.branch, whatToReset(body), user);
    return empty();
  },
});

const pickBody = z.object({
  ref: z.string(),
  commit_overrides: z.object({ message: z.string().nullish(), metadata: metadata.nullish() }).nullish(),
  // Clients send 0 for "none".
  parent_number: z.number().int().min(0).nullish(),
  force: z.boolean().nullish(),
});

const revertBranch = operation("revertBranch", {
  body: pickBody.extend({ allow_empty: z.boolean().nullish() }),
  async run({ store, path, body, user }) {
    const options = { ...pickOptions(body, user), allowEmpty: body.allow_empty ?? false };
    await store.revert(path.repository, path.branch, body.ref, options);
    return empty();
  },
});

const cherryPick = operation("cherryPick", {
  body: pickBody,
  async run({ store, path, body, user }) {
    const made = await store.cherryPick(path.repository, path.branch, body.ref, pickOptions(body, user));
    return json(201, commitJson(made));
  },
});

const hardResetBranch = operation("hardResetBranch", {
  query: z.object({ ref: z.string(), force: flag.default(false) }),
  async run({ store, path, query, user }) {
    // The API says that the branch must not have staged changes; whoever forces it drops them.
    const options = { keepsStaged: !query.force };
    await store.hardReset(path.repository, path.branch, query.ref, user, options);
    return empty();
  },
});

function whatToReset(
  { type, path }: { type: "object" | "common_prefix" | "reset"; path?: string | null | undefined },
): { prefix?: string; path?: string } {
  if (type === "reset") return {};
  if (path === undefined || path === null) {
    throw new CodedError(
      "invalid",
      "invalid_request",
      `Cannot reset: a reset of type "${type}" needs a path`,
    );
  }
  return type === "object" ? { path } : { prefix: path };
}

function pickOptions(body: z.output<typeof pickBody>, committer: string): PickOptions {
  const { message, metadata: overridden } = body.commit_overrides ?? {};
  return {
    committer,
    ...(body.parent_number ? { parent: body.parent_number } : {}),
    ...(message ? { message } : {}),
    ...(overridden ? { metadata: overridden } : {}),
  };
}

export const BRANCH_CHANGE_OPERATIONS = [resetBranch, revertBranch, cherryPick, hardResetBranch];
