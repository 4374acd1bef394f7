/** Branch protection rules, under their present and their deprecated paths. */

import { z } from "zod";
import { CodedError, isCoded } from "../../base/errors.ts";
import type { Settings } from "../../drivers/store.ts";
import { empty, json, operation } from "../operation.ts";

const MAX_ATTEMPTS = 100;

const rule = z.object({ pattern: z.string() });

const getBranchProtectionRules = operation("getBranchProtectionRules", {
  async run({ store, path }) {
    const { patterns, etag } = await store.settings.branchProtection(path.repository);
    return json(200, patterns.map((pattern) => ({ pattern })), { etag: `"${etag}"` });
  },
});

const setBranchProtectionRules = operation("setBranchProtectionRules", {
  body: z.array(rule),
  async run({ store, request, path, body }) {
    const patterns = body.map(({ pattern }) => pattern);
    await store.settings.setBranchProtection(path.repository, patterns, wantedEtag(request.headers));
    return empty();
  },
});

const internalGetBranchProtectionRules = operation("internalGetBranchProtectionRules", {
  async run({ store, path }) {
    const { patterns } = await store.settings.branchProtection(path.repository);
    return json(200, patterns.map((pattern) => ({ pattern })));
  },
});

const internalCreateBranchProtectionRule = operation("internalCreateBranchProtectionRule", {
  body: rule,
  async run({ store, path, body }) {
    await changePatterns(store.settings, path.repository, (patterns) => [...patterns, body.pattern]);
    return empty();
  },
});

const internalDeleteBranchProtectionRule = operation("internalDeleteBranchProtectionRule", {
  body: rule,
  async run({ store, path, body }) {
    await changePatterns(store.settings, path.repository, (patterns) => {
      if (patterns.includes(body.pattern)) return patterns.filter((one) => one !== body.pattern);
      throw new CodedError(
        "not_found",
        "rule_not_found",
        `Cannot delete the rule "${body.pattern}": there is none of that pattern`,
      );
    });
    return empty();
  },
});

const createBranchProtectionRulePreflight = operation("createBranchProtectionRulePreflight", {
  async run({ store, path }) {
    await store.getRepository(path.repository);
    return empty();
  },
});

/** Returns the ETag that the rules must still have; `undefined` when any will do. */
function wantedEtag(headers: Headers): string | undefined {
  const condition = headers.get("if-match")?.trim();
  if (condition === undefined || condition === "*") return undefined;
  return condition.replace(/^"(.*)"$/, "$1");
}

async function changePatterns(
  settings: Settings,
  repository: string,
  change: (patterns: readonly string[]) => readonly string[],
): Promise<void> {
  for (let attempt = 1;; attempt++) {
    const { patterns, etag } = await settings.branchProtection(repository);
    try {
      return await settings.setBranchProtection(repository, change(patterns), etag);
    } catch (error) {
      if (!isCoded(error, "settings_changed") || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

export const PROTECTION_OPERATIONS = [
  getBranchProtectionRules,
  setBranchProtectionRules,
  internalGetBranchProtectionRules,
  internalCreateBranchProtectionRule,
  internalDeleteBranchProtectionRule,
  createBranchProtectionRulePreflight,
];
