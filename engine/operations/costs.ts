/** What all repositories of a store have read and written. */

import type { StoreCosts } from "../../drivers/store.ts";

/** Adds up what is counted for each repository. */
export function sumOfCosts(counts: readonly StoreCosts[]): StoreCosts {
  const sum = (name: keyof StoreCosts) => counts.reduce((total, count) => total + count[name], 0);
  return {
    tablesOpened: sum("tablesOpened"),
    blocksRead: sum("blocksRead"),
    bytesRead: sum("bytesRead"),
    tablesWritten: sum("tablesWritten"),
    bytesWritten: sum("bytesWritten"),
    blocksCopied: sum("blocksCopied"),
    rangesReused: sum("rangesReused"),
  };
}
