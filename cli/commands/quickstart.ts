/** `quickstart`: the main job once, on real files, each command shown as a person would type it. */

import * as fs from "node:fs";
import { join } from "node:path";
import { hex } from "../../base/bytes.ts";
import { CodedError, isCoded } from "../../base/errors.ts";
import type { Store } from "../../drivers/store.ts";
import type { Context } from "../context.ts";
import { EXIT_NO } from "../exit_codes.ts";
import { contentHash, localError, openNamed } from "../folders/local_files.ts";
import { walkFolder } from "../folders/walk.ts";
import { objectUri, refUri } from "../locations.ts";
import { Steps } from "../steps.ts";

const NEW_FILE = "added-by-quickstart.txt";

const SAMPLE_FILES: Readonly<Record<string, string>> = {
  "README.txt": "Sales figures, one file a month.\n",
  "figures/january.csv": "product,sold\napples,120\npears,80\n",
  "figures/february.csv": "product,sold\napples,95\npears,110\n",
};
const SAMPLE_CHANGE = "product,sold\napples,121\npears,80\ncherries,7\n";
const CHANGE = "These bytes stand here in place of the file's own.\n";

export async function run(context: Context): Promise<number> {
  const { arguments: given, environment, session } = context;
  const folder = given.positionals[0];
  const work = fs.mkdtempSync(join(environment.temporaryFolder(), "tarn-quickstart-"));
  try {
    const job = folder === undefined ? sampleJob(work) : jobOn(folder);
    const repository = await freeName(await session.makeStore());
    const steps = new Steps(context);
    const code = await runJob(steps, { ...job, repository, work });
    steps.title(`The repository stays. Look around with: tarn ls lakefs://${repository}`);
    steps.finish();
    return code;
  } finally {
    fs.rmSync(work, { recursive: true, force: true });
  }
}

interface Job {
  readonly folder: string;
  /** The file that is changed, by its key. */
  readonly file: string;
  readonly change: string;
  /** Whether the file is text that can be shown. */
  readonly isText: boolean;
}

function sampleJob(work: string): Job {
  const folder = join(work, "files");
  for (const [name, text] of Object.entries(SAMPLE_FILES)) {
    const path = join(folder, name);
    fs.mkdirSync(join(path, ".."), { recursive: true });
    fs.writeFileSync(path, text);
  }
  return { folder, file: "figures/january.csv", change: SAMPLE_CHANGE, isText: true };
}

function jobOn(folder: string): Job {
  try {
    for (const item of walkFolder(folder)) {
      if (item.kind === "file") return { folder, file: item.key, change: CHANGE, isText: false };
    }
  } catch (error) {
    throw localError(error, `Cannot read "${folder}"`);
  }
  throw new CodedError(
    "invalid",
    "empty_folder",
    `Cannot show the main job on "${folder}": there is no file in it`,
  );
}

/** Returns `quickstart`, or the first of `quickstart-2` and so on that is free. */
async function freeName(store: Store): Promise<string> {
  for (let number = 1;; number++) {
    const name = number === 1 ? "quickstart" : `quickstart-${number}`;
    try {
      await store.getRepository(name);
    } catch (error) {
      if (isCoded(error, "repository_not_found")) return name;
      throw error;
    }
  }
}

async function runJob(steps: Steps, job: Job & { repository: string; work: string }): Promise<number> {
  const { repository, folder, file, work } = job;
  const branchUri = (branch: string) => refUri(repository, branch);
  const changed = join(work, "changed"), added = join(work, "added");
  fs.writeFileSync(changed, job.change);
  fs.writeFileSync(added, "A file that was not there before.\n");

  steps.title("A repository, with the files on its main branch");
  await steps.run("repo", "create", `lakefs://${repository}`);
  const code = await steps.run("put", `${branchUri("main")}/`, folder, "-r");
  await steps.run("commit", branchUri("main"), "-m", "The files as they are");

  steps.title("A branch, on which one file changes and one is new; main does not see it");
  await steps.run("branch", branchUri("try"), "--from", "main");
  await steps.run("put", objectUri(repository, "try", file), changed);
  await steps.run("put", objectUri(repository, "try", NEW_FILE), added);
  await steps.run("status", branchUri("try"));
  await steps.run("commit", branchUri("try"), "-m", "Try a change", "--meta", "by=quickstart");

  steps.title("What differs, and the merge");
  await steps.run("diff", branchUri("main"), branchUri("try"));
  await steps.run("merge", branchUri("try"), branchUri("main"));
  await steps.run("tag", branchUri("first"), "--from", "main");
  await steps.run("log", branchUri("main"));

  steps.title("The data as it was before the merge");
  await steps.run("ls", `${branchUri("main~1")}/`);
  if (job.isText) {
    await steps.run("cat", objectUri(repository, "main~1", file));
    await steps.run("cat", objectUri(repository, "main", file));
    return code;
  }
  const before = join(work, "as-it-was");
  await steps.run("get", objectUri(repository, "main~1", file), before);
  const isSame = await sameContent(join(folder, file), before);
  steps.note(`${before} ${isSame ? "equals" : "is not"} ${join(folder, file)}, byte for byte`);
  return isSame ? code : EXIT_NO;
}

async function sameContent(left: string, right: string): Promise<boolean> {
  const [a, b] = await Promise.all([hashOf(left), hashOf(right)]);
  return a === b;
}

async function hashOf(path: string): Promise<string> {
  const file = await openNamed(path);
  try {
    return hex(await contentHash(file));
  } finally {
    fs.closeSync(file.descriptor);
  }
}
