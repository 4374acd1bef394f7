/** What the pages for readers name is there: verbs, options, and names that repositories may have. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { findVerb, verbsOfGroup } from "../cli/verbs/mod.ts";
import { GLOBAL_OPTIONS } from "../cli/verbs/verb.ts";
import { checkRepositoryName } from "../engine/refs/names.ts";

const ROOT = new URL("../", import.meta.url);
/** All but the page about bytes, where `tarn …` are keys of records. */
const PAGES = ["README.md", ...readdirSync(new URL("docs/", ROOT)).map((name) => `docs/${name}`)]
  .filter((path) => path.endsWith(".md") && path !== "docs/format.md");

/** Returns the commands that a page names, in its text and in its boxes. */
function commandsOf(markdown: string): string[] {
  const boxes = [...markdown.matchAll(/^```sh.*\n([\s\S]*?)^```$/gm)].map(([, text]) => text!);
  const inBoxes = boxes.flatMap((text) => text.split("\n").filter((line) => line.startsWith("tarn ")));
  const inText = [...markdown.replaceAll("\n", " ").matchAll(/`(tarn [^`]+)`/g)].map(([, command]) =>
    command!
  );
  return [...inBoxes, ...inText].map((command) => command.split(/ [|&#]|;| -- /)[0]!.trim());
}

/** Returns what is wrong with a command, if anything. What stands in capitals is for the reader to fill in. */
function faultOf(command: string): string | undefined {
  const words = command.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)!.slice(1);
  const argv = words.map((word) => word.replaceAll(/["']/g, ""));
  if (/^[A-Z…]/.test(argv[0]!) || (argv.length === 1 && verbsOfGroup(argv[0]!).length > 0)) return undefined;
  try {
    const found = findVerb(argv.map((word) => word.split("|")[0]!));
    const table = { ...GLOBAL_OPTIONS, ...found?.verb.options };
    const names = Object.entries(table).flatMap((
      [name, { short, alias }],
    ) => [`--${name}`, `--${alias}`, `-${short}`]);
    const option = argv.map((word) => word.split("=")[0]!).find((word) =>
      /^--?[a-z]/.test(word) && !names.includes(word)
    );
    return option === undefined || argv[0] === option ? undefined : `it has no option ${option}`;
  } catch (error) {
    return (error as Error).message;
  }
}

for (const page of PAGES) {
  test(`${page} names verbs, options and repositories that there can be`, () => {
    const text = readFileSync(new URL(page, ROOT), "utf8");
    const faults = commandsOf(text).map((command) => [command, faultOf(command)]);
    assert.deepEqual(faults.filter(([, fault]) => fault !== undefined), []);
    for (const [, name] of text.matchAll(/lakefs:\/\/([a-z][\w.-]*)/g)) checkRepositoryName(name!);
  });
}

test("a command that there is not is seen", () => {
  assert.deepEqual(commandsOf("a `tarn\nputt x`\n```sh\ntarn log lakefs://abc --nosuch # x\n```\n"), [
    "tarn log lakefs://abc --nosuch",
    "tarn putt x",
  ]);
  assert.match(faultOf("tarn putt x")!, /no such verb/);
  assert.match(faultOf("tarn log lakefs://abc --nosuch")!, /--nosuch/);
  assert.equal(faultOf("tarn log lakefs://abc -n 5 --amount=5"), undefined);
});
