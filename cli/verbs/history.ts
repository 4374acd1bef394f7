/** The verbs of history: commits, and what moves between branches. */

import { KEY_OPTION, META_OPTION, type VerbSpec } from "./verb.ts";

const PARENT_OPTION = {
  parent: {
    alias: "parent-number",
    value: "N",
    help: "which parent to compare with, from 1; needed for merge commits",
  },
  message: { short: "m", value: "MSG", help: "the message, in place of the one made from the commit's" },
};

const STAT_OPTIONS = {
  stat: { help: "the number of changes and their bytes, by folder and in all" },
  depth: { value: "N", help: "fold folders below level N into one (default 1 with --stat)" },
};

export const HISTORY_VERBS: readonly VerbSpec[] = [
  {
    name: "status",
    summary: "list the staged changes of a branch",
    usage: ["status lakefs://REPO/BRANCH"],
    takes: [1, 1],
    options: { prefix: { value: "P", help: "only keys that begin with P" } },
    examples: ["status lakefs://sales/main"],
    load: () => import("../commands/status.ts"),
  },
  {
    name: "commit",
    summary: "commit the staged changes of a branch",
    usage: ["commit lakefs://REPO/BRANCH -m MSG"],
    about: "Prints the URI of the new commit. With nothing staged the exit code is 6.",
    takes: [1, 1],
    options: {
      message: { short: "m", value: "MSG", help: "the message" },
      ...META_OPTION,
      "allow-empty": { alias: "allow-empty-commit", help: "commit even when nothing is staged" },
      "allow-empty-message": { help: "commit without a message" },
      date: {
        value: "TIME",
        help: "the commit's time (RFC 3339 or a date); default now",
      },
    },
    examples: [
      'commit lakefs://sales/main -m "March figures"',
      "commit lakefs://sales/main -m load --meta run=42",
    ],
    load: () => import("../commands/commit.ts"),
  },
  {
    name: "log",
    summary: "list the commits of a ref, newest first",
    usage: ["log lakefs://REPO/REF[/PATH]"],
    about: "With a PATH only the commits that changed that object, or something in that folder.",
    takes: [1, 1],
    options: {
      amount: { short: "n", value: "N", help: "at most N commits" },
      "all-parents": { help: "follow all parents, not first parents only" },
      since: { value: "TIME", help: "leave out commits before TIME (RFC 3339 or a date)" },
      graph: { help: "draw how commits part and merge, a line a commit, through all parents" },
      ...STAT_OPTIONS,
    },
    examples: [
      "log lakefs://sales/main --amount 5",
      "log lakefs://sales/main --graph",
      "log lakefs://sales/main --stat --depth 2",
      "log lakefs://sales/main/tables/ --since 2026-01-01",
    ],
    load: () => import("../commands/log.ts"),
  },
  {
    name: "show",
    summary: "show a commit",
    usage: ["show lakefs://REPO/REF"],
    takes: [1, 1],
    options: STAT_OPTIONS,
    examples: ["show lakefs://sales/main~1", "show lakefs://sales/main --stat"],
    load: () => import("../commands/show.ts"),
  },
  {
    name: "diff",
    summary: "list what differs between two refs, or what a branch has staged",
    usage: ["diff LEFT [RIGHT]"],
    about:
      "LEFT is the older side. With one URI: the staged changes of that branch. --depth and --delimiter fold keys that " +
      "begin alike into one line with counts; --stat counts by folder.",
    takes: [1, 2],
    options: {
      prefix: { value: "P", help: "only keys that begin with P" },
      ...STAT_OPTIONS,
      delimiter: { value: "D", help: 'fold keys at D, once or after --depth N of them (default "/")' },
      "name-only": { help: "only the keys" },
      "exit-code": { help: "exit with 1 when there is a difference" },
    },
    examples: [
      "diff lakefs://sales/main lakefs://sales/feature",
      "diff lakefs://sales/main~1 lakefs://sales/main --stat",
      "diff lakefs://sales/v1.0 lakefs://sales/main --depth 1",
      "diff lakefs://sales/main",
    ],
    load: () => import("../commands/diff.ts"),
  },
  {
    name: "merge",
    summary: "merge the last commit of a ref into a branch",
    usage: ["merge SRC DST", "merge DST --from REF"],
    about:
      "Prints the URI of the merge commit. Conflicts change nothing and are listed (exit code 4); with nothing " +
      "to merge the exit code is 6.",
    takes: [1, 2],
    options: {
      from: { value: "REF", help: "the source: a ref, or its URI" },
      message: { short: "m", value: "MSG", help: "the message" },
      ...META_OPTION,
      strategy: {
        value: "S",
        choices: ["source-wins", "dest-wins"],
        help: "settle conflicts: source-wins or dest-wins",
      },
    },
    examples: [
      "merge lakefs://sales/feature lakefs://sales/main",
      'merge lakefs://sales/main --from feature -m "New prices" --strategy source-wins',
    ],
    load: () => import("../commands/merge.ts"),
  },
  {
    name: "revert",
    summary: "undo a commit on a branch by a new commit",
    usage: ["revert lakefs://REPO/BRANCH COMMIT"],
    takes: [2, 2],
    options: PARENT_OPTION,
    examples: ["revert lakefs://sales/main main~1", "revert lakefs://sales/main main --parent 1"],
    load: () => import("../commands/revert.ts"),
  },
  {
    name: "cherry-pick",
    summary: "bring the change of one commit to a branch",
    usage: ["cherry-pick lakefs://REPO/BRANCH COMMIT"],
    takes: [2, 2],
    options: PARENT_OPTION,
    examples: ["cherry-pick lakefs://sales/main feature~2"],
    load: () => import("../commands/cherry_pick.ts"),
  },
  {
    name: "reset",
    summary: "drop staged changes, or move a branch to a commit",
    usage: ["reset lakefs://REPO/BRANCH[/PATH]", "reset lakefs://REPO/BRANCH --to COMMIT"],
    about:
      "PATH is an object, or a folder when it ends in /. Staged changes are lost, so it asks first, or takes " +
      "--yes. --to also moves the branch; the commits it leaves stay in the reflog.",
    takes: [1, 1],
    options: {
      to: { value: "COMMIT", help: "move the branch to this commit (a ref)" },
      object: { value: "KEY", hidden: true, help: "the object, as lakectl gives it" },
      prefix: { value: "P", hidden: true, help: "the keys that begin with P, as lakectl gives it" },
      ...KEY_OPTION,
    },
    examples: ["reset lakefs://sales/main/report.csv --yes", "reset lakefs://sales/main --to main~1 --yes"],
    load: () => import("../commands/reset.ts"),
  },
  {
    name: "reflog",
    summary: "list the moves of a branch or tag, oldest first",
    usage: ["reflog lakefs://REPO[/REF]"],
    takes: [1, 1],
    options: { amount: { short: "n", value: "N", help: "only the last N moves" } },
    examples: ["reflog lakefs://sales/main"],
    load: () => import("../commands/reflog.ts"),
  },
];
