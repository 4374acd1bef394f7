/** The verbs of branches and tags. */

import { TABLE_OPTIONS, type VerbSpec } from "./verb.ts";

const ID_OPTION = {
  id: { value: "ID", help: "the one of this deletion, as reflog --deleted lists it (default the last one)" },
};

const SOURCE_OPTIONS = {
  source: { short: "s", value: "URI", help: "where it starts: a ref, or its URI" },
  from: { value: "REF", help: "the same as --source" },
};

export const REF_VERBS: readonly VerbSpec[] = [
  {
    name: "branch create",
    summary: "make a branch",
    usage: ["branch create lakefs://REPO/BRANCH REF", "branch lakefs://REPO/BRANCH --from REF"],
    about: "A / in a branch name is written %2F in a URI, or the name is given as ?at=branch:NAME.",
    takes: [1, 2],
    options: SOURCE_OPTIONS,
    examples: [
      "branch lakefs://sales/feature --from main",
      "branch create lakefs://sales/new lakefs://sales/main",
      "branch lakefs://sales/fix%2F42 --from v1.0",
    ],
    load: () => import("../commands/branch_create.ts"),
  },
  {
    name: "branch list",
    summary: "list the branches of a repository",
    usage: ["branch list lakefs://REPO"],
    takes: [1, 1],
    options: TABLE_OPTIONS,
    examples: ["branch list lakefs://sales"],
    load: () => import("../commands/branch_list.ts"),
  },
  {
    name: "branch show",
    summary: "show a branch",
    usage: ["branch show lakefs://REPO/BRANCH"],
    takes: [1, 1],
    examples: ["branch show lakefs://sales/main"],
    load: () => import("../commands/branch_show.ts"),
  },
  {
    name: "branch delete",
    summary: "delete a branch",
    usage: ["branch delete lakefs://REPO/BRANCH"],
    about:
      'Its commits stay. Asks first when there are staged changes, or takes --yes. "branch restore" undoes it.',
    takes: [1, 1],
    examples: ["branch delete lakefs://sales/feature"],
    load: () => import("../commands/branch_delete.ts"),
  },
  {
    name: "branch restore",
    summary: "bring a deleted branch back",
    usage: ["branch restore lakefs://REPO/BRANCH [--id ID]"],
    about:
      "It is where it was when it was deleted, staged changes included. Of several deleted branches of a name it is the one " +
      "deleted last; --id takes another.",
    takes: [1, 1],
    options: ID_OPTION,
    examples: ["branch restore lakefs://sales/feature"],
    load: () => import("../commands/branch_restore.ts"),
  },
  {
    name: "tag create",
    summary: "make a tag",
    usage: ["tag create lakefs://REPO/TAG REF", "tag lakefs://REPO/TAG --from REF"],
    takes: [1, 2],
    options: SOURCE_OPTIONS,
    examples: ["tag create lakefs://sales/v1.0 lakefs://sales/main", "tag lakefs://sales/v1.1 --from main~2"],
    load: () => import("../commands/tag_create.ts"),
  },
  {
    name: "tag list",
    summary: "list the tags of a repository",
    usage: ["tag list lakefs://REPO"],
    takes: [1, 1],
    options: TABLE_OPTIONS,
    examples: ["tag list lakefs://sales"],
    load: () => import("../commands/tag_list.ts"),
  },
  {
    name: "tag show",
    summary: "show a tag",
    usage: ["tag show lakefs://REPO/TAG"],
    takes: [1, 1],
    examples: ["tag show lakefs://sales/v1.0"],
    load: () => import("../commands/tag_show.ts"),
  },
  {
    name: "tag delete",
    summary: "delete a tag",
    usage: ["tag delete lakefs://REPO/TAG"],
    about: 'The commit stays. Does not ask. "tag restore" undoes it.',
    takes: [1, 1],
    examples: ["tag delete lakefs://sales/v1.0"],
    load: () => import("../commands/tag_delete.ts"),
  },
  {
    name: "tag restore",
    summary: "bring a deleted tag back",
    usage: ["tag restore lakefs://REPO/TAG [--id ID]"],
    takes: [1, 1],
    options: ID_OPTION,
    examples: ["tag restore lakefs://sales/v1.0"],
    load: () => import("../commands/tag_restore.ts"),
  },
];
