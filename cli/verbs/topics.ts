/** What the help explains beside verbs. */

import {
  CATALOG_DRIVERS,
  type CatalogDriverName,
  DRIVERS_OF_THIS_VERSION,
} from "../../drivers/catalog_store.ts";

const OTHER_DRIVERS = (Object.keys(CATALOG_DRIVERS) as CatalogDriverName[])
  .filter((driver) => !DRIVERS_OF_THIS_VERSION.includes(driver));

export interface HelpTopic {
  readonly name: string;
  readonly summary: string;
  /** Paragraphs, each a text to wrap or a list of terms with what they mean. */
  readonly parts: readonly (string | readonly (readonly [term: string, meaning: string])[])[];
}

export const TOPICS: readonly HelpTopic[] = [
  {
    name: "refs",
    summary: "how versions are named: main~2, v1.0^2, main@, ?at=ts:TIME",
    parts: [
      "A REF names a version of a repository. It stands after the repository in a URI (lakefs://REPO/REF/KEY), or alone where " +
      "the repository is known (--from REF). A / in a branch or tag name is written %2F in a URI.",
      [
        ["main", "a branch: its last commit, and where objects are read also what is staged on it"],
        ["v1.0", "a tag"],
        ["9f3c1a…", "a commit's ID, or the first digits of it, 4 or more, that no other commit has"],
      ],
      "When several fit, the branch is taken before the tag, and the tag before the commit.",
      "Steps back may follow, any number of them:",
      [
        ["main~", "the first parent; main~3 is three steps back along first parents"],
        ["main^2", "the second parent of a merge: what was merged; main^ is the first one"],
        ["main~2^2~1", "read from left to right"],
      ],
      "At the end of a branch's name:",
      [
        ["main@", "the last commit alone, without what is staged"],
        [
          "main$",
          "with what is staged, where otherwise only commits count: diff lakefs://REPO/v1.0 lakefs://REPO/main$",
        ],
      ],
      "At the end of a URI a selector says what kind of name it is, and stands in place of the REF:",
      [
        ["?at=branch:NAME", "a branch, its name written as it is: lakefs://REPO/KEY?at=branch:fix/42"],
        ["?at=tag:NAME", "a tag"],
        ["?at=commit:ID", "a commit"],
        [
          "?at=ts:TIME",
          "the newest commit of the REF before it that was made by then: lakefs://REPO/main/KEY?at=ts:2026-03-31",
        ],
        ["?at=ts:BRANCH@TIME", "the same, in place of the REF"],
      ],
      "TIME is RFC 3339 (2026-03-31T15:00:00+09:00), or a date, which stands for its first moment in UTC.",
    ],
  },
  {
    name: "uris",
    summary: "how things are named: data://acme/sales/t, lakefs://, file://, a branch or version by ?at=",
    parts: [
      "A URI whose scheme a configuration (tarn.yaml) defines is a logical one: it names a thing, and the configuration says in " +
      "which place it lies. A URI whose scheme is the name of a store is a physical one: it names the place.",
      [
        ["data://acme/sales/t", "a logical URI, if the configuration has a scheme data"],
        ["lakefs://REPO/REF/KEY", "an object of the embedded engine, which is always there"],
        [
          "file:///srv/data/x",
          "a file of this machine; NAME://x lies below the root of a store NAME of the driver file",
        ],
      ],
      "put, cat, ls, stat, rm, commit, branch, merge, pin, fetch and snapshot take URIs of every store. The other verbs work on the " +
      "embedded engine, and take logical URIs that lead there.",
      `This version has the drivers ${
        list(DRIVERS_OF_THIS_VERSION)
      } (graveler is the embedded engine). Those that it has not, and ` +
      `refuses with exit code 9, are ${list(OTHER_DRIVERS)}.`,
      "At the end of a URI a selector says which version is meant:",
      [
        [
          "?at=branch:NAME",
          "a branch; without a selector a logical URI means the default branch of its scheme",
        ],
        ["?at=tag:NAME", "a tag"],
        ["?at=commit:ID", "a commit"],
        ["?at=version:ID", "one version of a file, where a store has such"],
        ["?at=ts:TIME", "the newest commit that was made by then"],
        ["?at=stage:NAME", "what the configuration has that stage of this URI point at"],
      ],
      "Writes go to branches: what is fixed cannot change, and a stage is moved in the configuration.",
    ],
  },
];

function list(words: readonly string[]): string {
  return `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
