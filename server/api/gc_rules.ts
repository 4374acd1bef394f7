/**
 * Rules of garbage collection: kept for who collects. Setting them deletes nothing, neither here nor in lakeFS; the operations
 * that prepare a collection are not built and say so.
 */

import { z } from "zod";
import { CodedError } from "../../base/errors.ts";
import type { GcRules } from "../../drivers/store.ts";
import { empty, json, operation } from "../operation.ts";

const days = z.number().int().min(1).max(36_500);

const rulesBody = z.object({
  default_retention_days: days,
  branches: z.array(z.object({ branch_id: z.string().min(1), retention_days: days })).nullish(),
});

const getGCRules = operation("getGCRules", {
  async run({ store, path }) {
    return json(200, rulesJson(await store.settings.gcRules(path.repository), path.repository));
  },
});

const internalGetGarbageCollectionRules = operation("internalGetGarbageCollectionRules", {
  async run({ store, path }) {
    return json(200, rulesJson(await store.settings.gcRules(path.repository), path.repository));
  },
});

const setGCRules = operation("setGCRules", {
  body: rulesBody,
  async run({ store, path, body }) {
    await store.settings.setGcRules(path.repository, rulesOf(body));
    return empty();
  },
});

const internalSetGarbageCollectionRules = operation("internalSetGarbageCollectionRules", {
  body: rulesBody,
  async run({ store, path, body }) {
    await store.settings.setGcRules(path.repository, rulesOf(body));
    return empty();
  },
});

const deleteGCRules = operation("deleteGCRules", {
  async run({ store, path }) {
    await store.settings.setGcRules(path.repository, undefined);
    return empty();
  },
});

const internalDeleteGarbageCollectionRules = operation("internalDeleteGarbageCollectionRules", {
  async run({ store, path }) {
    await store.settings.setGcRules(path.repository, undefined);
    return empty();
  },
});

const setGarbageCollectionRulesPreflight = operation("setGarbageCollectionRulesPreflight", {
  async run({ store, path }) {
    await store.getRepository(path.repository);
    return empty();
  },
});

function rulesOf(body: z.output<typeof rulesBody>): GcRules {
  const branches = (body.branches ?? []).map((one) => [one.branch_id, one.retention_days] as const);
  return { defaultDays: body.default_retention_days, branches: Object.fromEntries(branches) };
}

function rulesJson(rules: GcRules | undefined, repository: string): Record<string, unknown> {
  if (!rules) {
    throw new CodedError(
      "not_found",
      "gc_rules_not_found",
      `Cannot find rules of garbage collection of "${repository}": none are set`,
    );
  }
  return {
    default_retention_days: rules.defaultDays,
    branches: Object.entries(rules.branches).map(([branch, retention]) => ({
      branch_id: branch,
      retention_days: retention,
    })),
  };
}

export const GC_RULE_OPERATIONS = [
  getGCRules,
  setGCRules,
  deleteGCRules,
  internalGetGarbageCollectionRules,
  internalSetGarbageCollectionRules,
  internalDeleteGarbageCollectionRules,
  setGarbageCollectionRulesPreflight,
];
