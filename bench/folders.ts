/** A folder of many files: put and commit beside `git add` and `git commit`, and beside a copy; then once more, unchanged. */

import { createHash } from "node:crypto";
import { join } from "node:path";
import { type Bench, interleaved, median, type Run, run, same, settle } from "./measuring.ts";
import type { Row, Skipped } from "./table.ts";
import { makeTree, readTree, treeDigest } from "./tree.ts";

const GIT_ENVIRONMENT = {
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_AUTHOR_NAME: "bench",
  GIT_AUTHOR_EMAIL: "bench@example.com",
  GIT_COMMITTER_NAME: "bench",
  GIT_COMMITTER_EMAIL: "bench@example.com",
};

export function measureFolders(bench: Bench): (Row | Skipped)[] {
  const tree = bench.fresh("tree");
  makeTree(tree, bench.files);
  settle(5);
  const peaks: number[] = [];
  const tarn = new TarnFolder(bench, tree), git = gitIfThere(bench, tree);
  const seconds = interleaved(bench.rounds, {
    tarn: (round) => measured(tree, () => tarn.putAndCommit(round, (peak) => peaks.push(peak))),
    git: (round) => git ? measured(tree, () => git.addAndCommit(round)) : NaN,
    copy: () => measured(tree, () => copy(bench, tree)),
  });
  tarn.check();
  git?.check();
  const again = interleaved(Math.max(5, bench.rounds), {
    tarn: () => tarn.putAgain(),
    git: () => git ? git.status() : NaN,
  });
  const what = `of ${bench.files.toLocaleString("en")} files`;
  const peakBytes = peaks.length > 0 ? median(peaks) : undefined;
  const noGit = { why: "git is not installed" };
  const first = { figure: `put + commit ${what}`, seconds: seconds.tarn, peakBytes };
  const second = { figure: `put ${what} again, unchanged`, seconds: again.tarn };
  return [
    git
      ? { ...first, peer: "git add + commit", peerSeconds: seconds.git, goal: 0.9 }
      : { ...first, ...noGit },
    { ...first, peer: "cp -r + sync", peerSeconds: seconds.copy },
    git ? { ...second, peer: "git status", peerSeconds: again.git } : { ...second, ...noGit },
  ];
}

/** Every run finds the tree in memory and the disk at rest. */
function measured(tree: string, work: () => number): number {
  readTree(tree);
  settle(2);
  return work();
}

class TarnFolder {
  readonly #bench: Bench;
  readonly #tree: string;
  readonly #environment: Readonly<Record<string, string>>;
  #last = "";

  constructor(bench: Bench, tree: string) {
    this.#bench = bench;
    this.#tree = tree;
    this.#environment = { TARN_HOME: bench.fresh("home"), TARN_USER: "bench" };
  }

  putAndCommit(round: number, hasPeak: (bytes: number) => void): number {
    this.#last = `lakefs://round-${round}`;
    this.#tarn(["repo", "create", this.#last]);
    const put = this.#tarn(["put", "-r", `${this.#last}/main/`, this.#tree, "--json"], { memory: true });
    const commit = this.#tarn(["commit", `${this.#last}/main`, "-m", "bench", "--json"], { memory: true });
    same("files put", JSON.parse(put.output).put, this.#bench.files);
    if (put.peakBytes && commit.peakBytes) hasPeak(Math.max(put.peakBytes, commit.peakBytes));
    return put.seconds + commit.seconds;
  }

  putAgain(): number {
    const again = this.#tarn(["put", "-r", `${this.#last}/main/`, this.#tree, "--json"]);
    const { put, unchanged } = JSON.parse(again.output);
    same("files unchanged", { put, unchanged }, { put: 0, unchanged: this.#bench.files });
    return again.seconds;
  }

  /** Gets all of the last commit back and compares it byte for byte. */
  check(): void {
    const out = this.#bench.fresh("got");
    this.#tarn(["get", "-r", `${this.#last}/main@/`, out]);
    same("the tree that tarn gives back", treeDigest(out), treeDigest(this.#tree));
  }

  #tarn(args: readonly string[], options: { memory?: boolean } = {}): Run {
    return run([this.#bench.tarn, ...args], {
      folder: this.#bench.folder,
      environment: this.#environment,
      ...options,
    });
  }
}

function gitIfThere(bench: Bench, tree: string): GitFolder | undefined {
  try {
    run(["git", "--version"]);
  } catch {
    return undefined;
  }
  return new GitFolder(bench, tree);
}

/** Each round has a `.git` of its own, beside the one tree. */
class GitFolder {
  readonly #bench: Bench;
  readonly #tree: string;
  #last = "";

  constructor(bench: Bench, tree: string) {
    this.#bench = bench;
    this.#tree = tree;
  }

  addAndCommit(round: number): number {
    this.#last = join(this.#bench.fresh(`git-${round}`), ".git");
    this.#git(["init", "--quiet"]);
    this.#git(["config", "gc.auto", "0"]);
    return this.#git(["add", "."]).seconds + this.#git(["commit", "--quiet", "-m", "bench"]).seconds;
  }

  status(): number {
    const status = this.#git(["status", "--porcelain"]);
    same("git's changes", status.output, "");
    return status.seconds;
  }

  /** Compares git's blob IDs with those that the files' bytes have. */
  check(): void {
    const expected: string[] = [];
    readTree(this.#tree, (path, content) => {
      const id = createHash("sha1").update(`blob ${content.length}\0`).update(content).digest("hex");
      expected.push(`${id} ${path}`);
    });
    const listed = this.#git(["ls-tree", "-r", "--format=%(objectname) %(path)", "HEAD"]).output.trimEnd();
    same("git's tree", listed.split("\n").sort(), expected.sort());
  }

  #git(args: readonly string[]): Run {
    return run(["git", `--git-dir=${this.#last}`, `--work-tree=${this.#tree}`, ...args], {
      folder: this.#tree,
      environment: GIT_ENVIRONMENT,
    });
  }
}

let isCopyChecked = false;

function copy(bench: Bench, tree: string): number {
  const target = join(bench.fresh("copy"), "tree");
  const { seconds } = run(["sh", "-c", 'cp -r "$0" "$1" && sync -f "$1"', tree, target]);
  if (!isCopyChecked) same("the copied tree", treeDigest(target), treeDigest(tree));
  isCopyChecked = true;
  return seconds;
}
