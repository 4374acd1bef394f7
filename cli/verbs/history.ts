/** The verbs of history: commits, and what moves between branches. */

import { MERGE_STRATEGIES } from "./choices.ts";
import { KEY_OPTION, META_OPTION, TABLE_OPTIONS, type VerbSpec } from "./verb.ts";

const RESOLVE_OPTIONS = {
  resolve: {
    value: "PATH=CHOICE",
    multiple: true,
    help: "settle the conflicts of PATH; may be repeated",
  },
  "resolve-from": {
    value: "FILE",
    multiple: true,
    help: "lines PATH=CHOICE from FILE; # begins a comment",
  },
};

const PARENT_OPTION = {
  parent: {
    alias: "parent-number",
    value: "N",
    help: "which parent to compare with, from 1; needed for merge commits",
  },
  message: { short: "m", value: "MSG", help: "the message, in place of the one made from the commit's" },
  ...RESOLVE_OPTIONS,
};

const PATCH_OPTION = {
  patch: { short: "p", help: "the changed lines of text files of at most 1 MiB" },
};

const BISECT_OPTIONS = {
  good: { value: "REF", help: "a commit without the fault" },
  bad: { value: "REF", help: "a commit with the fault, where the URI names a repository only" },
};

const STAT_OPTIONS = {
  stat: { help: "the number of changes and their bytes, by folder and in all" },
  depth: { value: "N", help: "fold folders below level N into one (default 1 with --stat)" },
};

/** What `--stat` prints where nobody reads along, as people see signs and units. */
const STAT_LINES =
  "A line of --stat, where it is not shown on a terminal: objects added, removed and changed, bytes added and removed, and the " +
  "folder (. for none), with tabs between them.";

export const HISTORY_VERBS: readonly VerbSpec[] = [
  {
    name: "status",
    summary: "list the staged changes of a branch",
    usage: ["status lakefs://REPO/BRANCH"],
    takes: [1, 1],
    options: {
      prefix: { value: "P", help: "only keys that begin with P" },
      ...TABLE_OPTIONS,
    },
    examples: ["status lakefs://sales/main"],
    load: () => import("../commands/status.ts"),
  },
  {
    name: "commit",
    summary: "commit the staged changes of a branch",
    usage: ["commit lakefs://REPO/BRANCH -m MSG [--path PATH]…", "commit URI -m MSG [--partial]"],
    about:
      "Prints the URI of the new commit. With nothing staged the exit code is 6. --path takes a part of what is staged; the " +
      "rest stays staged. By a logical URI the branch that it leads to is committed, and the commit's metadata remember the URI " +
      "as provcat.uri; --partial takes only what lies at and under it.",
    takes: [1, 1],
    options: {
      message: { short: "m", value: "MSG", help: "the message" },
      ...META_OPTION,
      path: {
        value: "PATH",
        multiple: true,
        help: "only this object, or what lies in this folder; may be repeated",
      },
      partial: { help: "of a URI of the catalog: only what lies at and under it" },
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
      "commit lakefs://sales/main -m tables --path tables/ --path report.csv",
    ],
    load: () => import("../commands/commit.ts"),
  },
  {
    name: "log",
    summary: "list the commits of a ref, newest first",
    usage: ["log lakefs://REPO/REF[/PATH]"],
    about:
      "With a PATH only the commits that changed that object, or something in that folder. Follows first parents: of a merge " +
      "it shows the merge, and with --all-parents also what was merged.",
    takes: [1, 1],
    options: {
      amount: { short: "n", value: "N", help: "at most N commits" },
      "all-parents": { help: "follow all parents, not first parents only" },
      since: { value: "TIME", help: "leave out commits before TIME (RFC 3339 or a date)" },
      "stop-at": { value: "REF", help: "leave out what REF was made on; REF itself is the last one" },
      graph: { help: "draw how commits part and merge, a line a commit, through all parents" },
      ...STAT_OPTIONS,
      ...TABLE_OPTIONS,
    },
    examples: [
      "log lakefs://sales/main --amount 5",
      "log lakefs://sales/main --graph",
      "log lakefs://sales/main --format csv --output commits.csv",
      "log lakefs://sales/main --stat --depth 2",
      "log lakefs://sales/main/tables/ --since 2026-01-01",
      "log lakefs://sales/main --stop-at v1.0",
    ],
    load: () => import("../commands/log.ts"),
  },
  {
    name: "show",
    summary: "show a commit and what it changed",
    usage: ["show lakefs://REPO/REF"],
    about: `Counts what the commit brought to its first parent; in JSON with --stat only. ${STAT_LINES}`,
    takes: [1, 1],
    options: {
      ...STAT_OPTIONS,
      "no-stat": { help: "the commit alone, without counting what it changed" },
      ...PATCH_OPTION,
    },
    examples: [
      "show lakefs://sales/main~1",
      "show lakefs://sales/main --depth 2",
      "show lakefs://sales/main -p",
    ],
    load: () => import("../commands/show.ts"),
  },
  {
    name: "diff",
    summary: "list what differs between two refs, or what a branch has staged",
    usage: ["diff LEFT [RIGHT]"],
    about:
      "LEFT is the older side. With one URI: the staged changes of that branch. --depth and --delimiter fold keys that " +
      "begin alike into one line with counts. " + STAT_LINES,
    takes: [1, 2],
    options: {
      prefix: { value: "P", help: "only keys that begin with P" },
      ...STAT_OPTIONS,
      delimiter: { value: "D", help: 'fold keys at D, once or after --depth N of them (default "/")' },
      ...PATCH_OPTION,
      "name-only": { help: "only the keys" },
      "exit-code": { help: "exit with 1 when there is a difference" },
      ...TABLE_OPTIONS,
    },
    examples: [
      "diff lakefs://sales/main lakefs://sales/feature",
      "diff lakefs://sales/main~1 lakefs://sales/main --stat",
      "diff lakefs://sales/v1.0 lakefs://sales/main --depth 1",
      "diff lakefs://sales/v1.0 lakefs://sales/main --patch",
      "diff lakefs://sales/main",
    ],
    load: () => import("../commands/diff.ts"),
  },
  {
    name: "merge",
    summary: "merge the last commit of a ref into a branch",
    usage: ["merge SRC DST", "merge DST --from REF"],
    about:
      "One of SRC and DST may be a ref alone. Prints the URI of the merge commit. Conflicts change nothing and are listed (exit code 4); with nothing " +
      "to merge the exit code is 6. --preview writes nothing, and lists every change and conflict. A conflict is " +
      "settled by the first --resolve that matches its path, else by the first --driver, else by --strategy. PATH and " +
      "GLOB: * stays within a folder, ** does not, %3D is an =. CHOICE: source, dest, base, delete, the URI of an object " +
      "(of a folder when it ends in /), or a file such as ./merged.csv. DRIVER: text, json, csv:KEYCOLUMN, or " +
      "exec:PROGRAM, which gets the files base, source, destination and result. More drivers, a line GLOB=DRIVER each, " +
      'may stand in the file "merge_drivers" of your own home.',
    takes: [1, 2],
    options: {
      from: { value: "REF", help: "the source: a ref, or its URI" },
      message: { short: "m", value: "MSG", help: "the message" },
      ...META_OPTION,
      strategy: {
        value: "S",
        choices: MERGE_STRATEGIES,
        help: "settle conflicts: source-wins or dest-wins",
      },
      preview: {
        help: "write nothing: show what would change, and every conflict (exit code 4 when there is one)",
      },
      depth: { value: "N", help: "fold the changes of --preview below level N (default 1)" },
      ...RESOLVE_OPTIONS,
      driver: {
        value: "GLOB=DRIVER",
        multiple: true,
        help: "merge conflicting files by a driver; may be repeated",
      },
      "driver-markers": { help: "the driver text writes conflict markers where lines conflict" },
      squash: { help: "make one commit whose only parent is the destination's" },
      "keep-staged": { help: "allow staged changes that the merge does not meet; they stay staged" },
    },
    examples: [
      "merge lakefs://sales/feature lakefs://sales/main",
      "merge lakefs://sales/feature lakefs://sales/main --preview",
      "merge lakefs://sales/feature~1 lakefs://sales/dev --resolve report.csv=source --resolve '**/*.csv=dest'",
      "merge lakefs://sales/feature lakefs://sales/dev --driver '**/*.csv=csv:id' --strategy source-wins",
      "merge lakefs://sales/feature lakefs://sales/main --squash",
      'merge lakefs://sales/main --from feature -m "New prices" --strategy source-wins',
    ],
    load: () => import("../commands/merge.ts"),
  },
  {
    name: "revert",
    summary: "undo a commit on a branch by a new commit",
    usage: ["revert lakefs://REPO/BRANCH COMMIT"],
    about:
      "Where the branch has changed a path since, --resolve settles it as for merge: source is the path as it was before.",
    takes: [2, 2],
    options: PARENT_OPTION,
    examples: ["revert lakefs://sales/main main~1", "revert lakefs://sales/main main --parent 1"],
    load: () => import("../commands/revert.ts"),
  },
  {
    name: "cherry-pick",
    summary: "bring the change of one commit to a branch",
    usage: ["cherry-pick lakefs://REPO/BRANCH COMMIT"],
    about:
      "Where the branch has changed a path, too, --resolve settles it as for merge: source is what the commit made of it.",
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
      "--yes; no room on the disk is freed. --to also moves the branch; the commits it leaves stay in the reflog.",
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
    name: "blame",
    summary: "list objects with the commit that last changed each",
    usage: ["blame lakefs://REPO/REF[/PATH]"],
    about:
      "PATH is an object or a folder. Looks at what is committed, along first parents: what came by a merge was changed by the " +
      "merge, and with --all-parents by the commit that was merged. Costs what the commits back to the oldest one shown have " +
      "changed there, and about 300 bytes of memory an object.",
    takes: [1, 1],
    options: {
      "all-parents": { help: "follow all parents, not first parents only" },
      ...KEY_OPTION,
      ...TABLE_OPTIONS,
    },
    examples: [
      "blame lakefs://sales/main",
      "blame lakefs://sales/main/tables/",
      "blame lakefs://sales/v1.0/report.csv --all-parents --json",
    ],
    load: () => import("../commands/blame.ts"),
  },
  {
    name: "bisect run",
    summary: "find the commit that brought a fault, by running a command",
    usage: [
      "bisect run lakefs://REPO/REF --good REF -- CMD ARG…",
      "bisect run lakefs://REPO --good REF --bad REF -- CMD ARG…",
    ],
    about:
      "Tests commits between a good and a bad one along first parents, halving them each time. CMD is run without a shell, with " +
      "TARN_COMMIT (the commit's ID) and TARN_URI (lakefs://REPO/ID) in its environment. It exits with 0 for good, 125 for " +
      "cannot tell, 1 to 124 for bad; anything else ends the search. Prints the first bad commit; when those around it could " +
      "not be tested, all that it may be (exit code 1).",
    takes: [2, Infinity],
    options: BISECT_OPTIONS,
    examples: [
      "bisect run lakefs://sales/main --good main~3 -- sh -c '! tarn stat \"$TARN_URI/two.txt\"'",
      "bisect run lakefs://sales --good v1.0~1 --bad main -- ./check.sh",
    ],
    load: () => import("../commands/bisect_run.ts"),
  },
  {
    name: "bisect list",
    summary: "list the commits among which a fault came, newest first",
    usage: ["bisect list lakefs://REPO/REF --good REF", "bisect list lakefs://REPO --good REF --bad REF"],
    about:
      "Those that bisect run chooses from: along first parents from the bad commit back to the good one.",
    takes: [1, 1],
    options: { ...BISECT_OPTIONS, ...TABLE_OPTIONS },
    examples: ["bisect list lakefs://sales/main --good v1.0"],
    load: () => import("../commands/bisect_list.ts"),
  },
  {
    name: "reflog",
    summary: "list the moves of a branch or tag, oldest first",
    usage: ["reflog lakefs://REPO[/REF]"],
    about:
      "--deleted lists the deleted branches and tags that can still be restored; the last column is what --id of " +
      '"branch restore" and "tag restore" takes.',
    takes: [1, 1],
    options: {
      amount: { short: "n", value: "N", help: "only the last N moves" },
      deleted: { help: "only deletions that were not taken back" },
      ...TABLE_OPTIONS,
    },
    examples: ["reflog lakefs://sales/main", "reflog lakefs://sales --deleted"],
    load: () => import("../commands/reflog.ts"),
  },
];
