/** Folders of a test's own, gone when it ends. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What of a test's context is used here. */
export interface Ending {
  after(done: () => void | Promise<void>): void;
}

/** Makes an empty folder that is removed, with all that is in it, after the test. */
export function temporaryFolder(t: Ending): string {
  const folder = mkdtempSync(join(tmpdir(), "tarn-test-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
