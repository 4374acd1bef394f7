/** The verbs a person starts with, and those of repositories. */

import { SHELLS } from "./choices.ts";
import { TABLE_OPTIONS, type VerbSpec } from "./verb.ts";

export const START_VERBS: readonly VerbSpec[] = [
  {
    name: "init",
    summary: "make a home in a folder",
    usage: ["init [DIR]"],
    about:
      "Makes DIR/.tarn (the working folder's without DIR), where commands run in DIR and below then keep " +
      "everything. Not needed: without it the first repository goes to your user data folder. A home that has lost its file " +
      "tarn-home.json, and nothing else, is made one again.",
    takes: [0, 1],
    examples: ["init", "init ~/projects/sales"],
    load: () => import("../commands/init.ts"),
  },
  {
    name: "quickstart",
    summary: "do the main job once on real files, printing each command",
    usage: ["quickstart [FOLDER]"],
    about:
      "Puts FOLDER (or a small table of the planets and their moons) into a new repository, commits, branches, changes, " +
      "diffs, merges with a conflict, shows the history as a graph and reads the data as it was. FOLDER itself is only " +
      "read. Can be run again.",
    takes: [0, 1],
    examples: ["quickstart", "quickstart ./data"],
    load: () => import("../commands/quickstart.ts"),
  },
  {
    name: "version",
    summary: "print the version",
    usage: ["version [--licenses]", "--version", "-V"],
    about: "Also says where the home is that commands use here, and whether it is made yet.",
    takes: [0, 0],
    options: {
      licenses: { help: "print the licences of tarn and of all that is inside the executable" },
    },
    examples: ["version", "version --json", "version --licenses"],
    load: () => import("../commands/version.ts"),
  },
  {
    name: "doctor",
    summary: "look whether the home, its disk and its store are well",
    usage: ["doctor [--all]"],
    about:
      "Tells the home, the file system it lies on and the room there, how long a flush takes, the key-value store and its " +
      "readers, whether the folders of all storage namespaces are there, and what commands that were killed have left in them. Then whether all is there that branches, tags and staged changes lead to: commits, and " +
      "the files of ranges and metaranges, read whole with their checksums, and objects with their sizes, whose bytes are not read. Runs whatever is wrong, and changes nothing. " +
      "Exit code 1 if something must be mended.",
    takes: [0, 0],
    options: { all: { help: "look at every commit, and not those alone that a branch or tag is at" } },
    examples: ["doctor", "doctor --all", "doctor --json"],
    load: () => import("../commands/doctor.ts"),
  },
  {
    name: "completion",
    summary: "print the script by which a shell completes what you type",
    usage: ["completion SHELL"],
    about:
      "SHELL is bash, zsh or fish. Completes verbs, options, repositories, refs and paths. bash: source <(tarn " +
      "completion bash). zsh, after compinit: source <(tarn completion zsh). fish: tarn completion fish | source. Put " +
      "that line into ~/.bashrc, ~/.zshrc or ~/.config/fish/config.fish.",
    takes: [1, 1],
    choices: SHELLS,
    examples: ["completion bash", "completion zsh", "completion fish"],
    load: () => import("../commands/completion.ts"),
  },
  {
    name: "help",
    summary: "list the verbs, or explain one",
    usage: ["help [VERB]", "help refs"],
    about: "help refs explains how versions are named.",
    takes: [0, 2],
    examples: ["help", "help put", "help branch create", "help refs"],
    load: () => import("../commands/help.ts"),
  },
];

/** What the scripts of `completion` ask; no verb for people, so the help does not name it. */
export const COMPLETE_VERB: VerbSpec = {
  name: "__complete",
  summary: "list what may stand next on a command line",
  usage: ["__complete -- WORD…"],
  takes: [0, Infinity],
  examples: [],
  load: () => import("../commands/complete.ts"),
};

export const REPOSITORY_VERBS: readonly VerbSpec[] = [
  {
    name: "repo create",
    summary: "make a repository",
    usage: ["repo create lakefs://REPO [NAMESPACE]"],
    about:
      "NAMESPACE is where the bytes go: local:///absolute/folder, or local://NAME inside the home. Without " +
      "one the home keeps them.",
    takes: [1, 2],
    options: {
      "storage-namespace": { value: "URI", help: "where the bytes go" },
      "default-branch": { short: "d", value: "NAME", help: 'the first branch (default "main")' },
      raggedness: {
        value: "N",
        help: "records in a range, on average (default 50,000); cannot be changed later",
      },
    },
    examples: [
      "repo create lakefs://sales",
      "repo create lakefs://sales --storage-namespace local://sales-data --default-branch trunk",
    ],
    load: () => import("../commands/repo_create.ts"),
  },
  {
    name: "repo list",
    summary: "list the repositories",
    usage: ["repo list"],
    takes: [0, 0],
    options: TABLE_OPTIONS,
    examples: ["repo list", "repo list --json"],
    load: () => import("../commands/repo_list.ts"),
  },
  {
    name: "repo show",
    summary: "show a repository",
    usage: ["repo show lakefs://REPO"],
    takes: [1, 1],
    examples: ["repo show lakefs://sales"],
    load: () => import("../commands/repo_show.ts"),
  },
  {
    name: "repo delete",
    summary: "delete a repository with its branches, tags and history",
    usage: ["repo delete lakefs://REPO"],
    about:
      "Asks first, or takes --yes. There is no way back. Its files stay in its storage namespace, and take as much room as " +
      "before: the folder is named, and nothing needs it any more.",
    takes: [1, 1],
    examples: ["repo delete lakefs://sales --yes"],
    load: () => import("../commands/repo_delete.ts"),
  },
];
