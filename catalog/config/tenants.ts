/** What keeps one tenant's part from passing for another's, as far as it shows before anything is filled in. */

import { isInterpolated } from "./interpolation.ts";
import type { Problems } from "./problems.ts";
import type { View } from "./view.ts";

/** Returns whether a store of this name may be one of the tenant. */
export function isNameOfTenant(store: string, tenant: string): boolean {
  return store.endsWith(`-${tenant}`) && store.length > tenant.length + 1;
}

/** Notes stores that another tenant's URIs could resolve to, and entries whose text does not tell where they lead. */
export function checkTenantParts({ sections }: View, problems: Problems): void {
  for (const [name, { path, tenant }] of sections.stores) {
    if (tenant === undefined || isNameOfTenant(name, tenant)) continue;
    problems.add(path, `the name of a store in the part of "${tenant}" must end with "-${tenant}"`);
  }
  for (const { path, tenant, value } of sections.entries.values()) {
    if (tenant === undefined || typeof value !== "string" || !isInterpolated(value)) continue;
    problems.add(
      path,
      `an entry in the part of "${tenant}" may have no \${…}: where it leads is checked as it is written`,
    );
  }
}
