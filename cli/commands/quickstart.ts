/** `quickstart`: the main job once, on real files, each command shown as a person would type it. */

import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { hex } from "../../base/bytes.ts";
import { CodedError, isCoded } from "../../base/errors.ts";
import type { Store } from "../../drivers/store.ts";
import type { Context } from "../context.ts";
import { EXIT_NO } from "../exit_codes.ts";
import { contentHash, localError, openNamed } from "../folders/local_files.ts";
import { walkFolder } from "../folders/walk.ts";
import { objectUri, refUri } from "../locations.ts";
import { DWARF_PLANETS, PLANETS_MEASURED, PLANETS_SINCE_2006, SAMPLE_FILES } from "../sample/planets.ts";
import { Steps } from "../steps.ts";

export async function run(context: Context): Promise<number> {
  const { arguments: given, environment, output, session } = context;
  const folder = given.positionals[0];
  const work = fs.mkdtempSync(join(environment.temporaryFolder(), "tarn-quickstart-"));
  try {
    const job = folder === undefined ? sampleJob(work) : jobOn(folder);
    const repository = await freeName(await session.makeStore());
    const steps = new Steps(context);
    if (session.home !== undefined) steps.note(`Everything is kept in ${output.shown(session.home)}`);
    const code = await runJob(steps, { ...job, repository, work });
    steps.title(`The repository stays. "tarn help" lists what else there is; this takes it away again:`);
    steps.suggest("repo", "delete", `lakefs://${repository}`);
    steps.finish();
    return code;
  } finally {
    fs.rmSync(work, { recursive: true, force: true });
  }
}

/** What the main job is shown on. */
interface Job {
  readonly folder: string;
  /** The file that both sides change, by its key. */
  readonly file: string;
  /** The name of the branch, and what is done there and on main. */
  readonly branch: string;
  readonly onBranch: Change & { readonly added: { readonly key: string; readonly text: string } };
  readonly onMain: Change;
  /** Whether the file is text that can be shown. */
  readonly isText: boolean;
}

interface Change {
  /** What the file becomes. */
  readonly text: string;
  readonly message: string;
}

function sampleJob(work: string): Job {
  const folder = join(work, "solar-system");
  for (const [name, text] of Object.entries(SAMPLE_FILES)) writeText(join(folder, name), text);
  return {
    folder,
    file: "planets.csv",
    branch: "iau-2006",
    onBranch: {
      text: PLANETS_SINCE_2006,
      added: { key: "dwarf_planets.csv", text: DWARF_PLANETS },
      message: "Pluto is a dwarf planet (IAU, 2006)",
    },
    onMain: { text: PLANETS_MEASURED, message: "The radius of Pluto as New Horizons measured it" },
    isText: true,
  };
}

function jobOn(folder: string): Job {
  return {
    folder,
    file: firstFile(folder),
    branch: "try",
    onBranch: {
      text: "These bytes stand here in place of the file's own.\n",
      added: { key: "added-by-quickstart.txt", text: "A file that was not there before.\n" },
      message: "Try a change",
    },
    onMain: { text: "Other bytes, put on main meanwhile.\n", message: "Another change of the same file" },
    isText: false,
  };
}

function firstFile(folder: string): string {
  try {
    for (const item of walkFolder(folder)) if (item.kind === "file") return item.key;
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

type RunningJob = Job & { readonly repository: string; readonly work: string };

async function runJob(steps: Steps, job: RunningJob): Promise<number> {
  const { repository, folder } = job;
  const main = refUri(repository, "main");
  steps.title("A repository, with the files on its main branch");
  await steps.run("repo", "create", `lakefs://${repository}`);
  const code = await steps.run("put", `${main}/`, folder, "-r");
  await steps.run("commit", main, "-m", "The files as they are");
  await steps.run("ls", `${main}/`);
  await changeBoth(steps, job);
  await merge(steps, job);
  return await lookBack(steps, job) ? code : EXIT_NO;
}

async function changeBoth(
  steps: Steps,
  { repository, file, branch, onBranch, onMain, work }: RunningJob,
): Promise<void> {
  const main = refUri(repository, "main"), side = refUri(repository, branch);
  steps.title("A branch, on which one file changes and one is new; main does not see it");
  await steps.run("branch", side, "--from", "main");
  const changed = join(work, "changed-on-the-branch"), added = join(work, "new-on-the-branch");
  writeText(changed, onBranch.text);
  writeText(added, onBranch.added.text);
  await steps.run("put", objectUri(repository, branch, file), changed);
  await steps.run("put", objectUri(repository, branch, onBranch.added.key), added);
  await steps.run("status", side);
  await steps.run("commit", side, "-m", onBranch.message, "--meta", "by=quickstart");

  steps.title("Meanwhile the same file changes on main too");
  const other = join(work, "changed-on-main");
  writeText(other, onMain.text);
  await steps.run("put", objectUri(repository, "main", file), other);
  await steps.run("commit", main, "-m", onMain.message);
}

async function merge(steps: Steps, { repository, branch }: RunningJob): Promise<void> {
  const main = refUri(repository, "main"), side = refUri(repository, branch);
  steps.title(
    "What differs, and the merge: both sides changed one file, so it has to be said which one is right",
  );
  await steps.run("diff", main, side);
  await steps.runToFail("merge_conflict", "merge", side, main);
  await steps.run("merge", side, main, "--strategy", "source-wins", "-m", `Merge ${branch}`);
  await steps.run("tag", refUri(repository, "first"), "--from", "main");
  await steps.run("log", main, "--graph");
}

/** Shows the file as it was before all changes; returns whether it is the same as the one in the folder. */
async function lookBack(
  steps: Steps,
  { repository, folder, file, isText, work }: RunningJob,
): Promise<boolean> {
  steps.title("The data as it was before: two commits ago");
  await steps.run("diff", refUri(repository, "main~2"), refUri(repository, "main"), "--stat");
  const was = objectUri(repository, "main~2", file);
  if (isText) {
    await steps.run("cat", was);
    await steps.run("cat", objectUri(repository, "main", file));
  }
  const before = join(work, "as-it-was");
  await steps.run("get", was, before);
  const isSame = await sameContent(join(folder, file), before);
  steps.note(`${before} ${isSame ? "equals" : "is not"} ${join(folder, file)}, byte for byte`);
  return isSame;
}

function writeText(path: string, text: string): void {
  fs.mkdirSync(dirname(path), { recursive: true });
  fs.writeFileSync(path, text);
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
