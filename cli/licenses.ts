/** The licences of what is in the executable, which the build gathers (`scripts/licenses.ts`). */

import { readFileSync } from "node:fs";
import { embeddedLicenses } from "./embedded_licenses.ts";

export interface LicenseText {
  /** What it is the licence of, with its version. */
  readonly name: string;
  /** The licence's short name, as SPDX has it. */
  readonly license: string;
  readonly text: string;
}

/** Returns the licences of this program, its own first. */
export function licenseTexts(): readonly LicenseText[] {
  if (embeddedLicenses) return JSON.parse(readFileSync(embeddedLicenses.path, "utf8")) as LicenseText[];
  return [{
    name: "tarn",
    license: "Apache-2.0",
    text:
      "This is not the executable but its source: its licence is the file LICENSE, and those of the packages that " +
      "it stands on are in node_modules.",
  }];
}
