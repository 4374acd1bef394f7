/** Lists as tables: the same columns and rows as in JSON, from every verb that lists. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { Ending } from "../tests/support/temporary.ts";
import { write } from "../tests/support/test_engine.ts";
import { testCli } from "./testing.ts";
import { VERBS } from "./verbs/mod.ts";

const LINES: readonly string[] = [
  "ls",
  "ls lakefs://repo",
  "ls lakefs://repo/main",
  "ls lakefs://repo/main -r",
  "find lakefs://repo/main --type folder",
  "find lakefs://repo/main --size 1",
  "du lakefs://repo/main",
  "status lakefs://repo/main",
  "log lakefs://repo/main",
  "log lakefs://repo/main --stat",
  "log lakefs://repo/main --graph",
  "diff lakefs://repo/main~1 lakefs://repo/main",
  "diff lakefs://repo/main~1 lakefs://repo/main --depth 1",
  "diff lakefs://repo/main",
  "reflog lakefs://repo",
  "blame lakefs://repo/main",
  "bisect list lakefs://repo/main --good main~1",
  "repo list",
  "branch list lakefs://repo",
  "tag list lakefs://repo",
  "cache ls",
];

async function prepared(t: Ending, options: { terminal?: boolean } = {}) {
  const cli = testCli(t, options);
  const { store } = cli.engine;
  await store.createRepository("repo", { committer: "x" });
  await write(store, "main", { "a": "1", "d/x": "2", "d/y": "3" });
  await store.commit("repo", "main", { message: "first", committer: "x", metadata: { k: "v" } });
  await write(store, "main", { "d/y": "4", "z": "5" });
  await store.createTag("repo", "v1", "main", "x");
  await cli.run("fetch", "lakefs://repo/main/a");
  return cli;
}

/** Reads CSV whose cells hold no line ends. */
function parsed(text: string): string[][] {
  return text.trimEnd().split("\r\n").map((line) =>
    [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g)].map(([, quoted, bare]) =>
      quoted?.replaceAll('""', '"') ?? bare!
    )
  );
}

describe("a list as a table", () => {
  for (const line of LINES) {
    it(`has the columns and rows that it has in JSON: ${line}`, async (t) => {
      const { run } = await prepared(t);
      const words = line.split(" ");
      const documents = (await run(...words, "--jsonl")).out.trimEnd().split("\n").map((text) =>
        JSON.parse(text) as Record<string, unknown>
      );
      const { code, out, err } = await run(...words, "--format", "csv");
      assert.deepEqual([code, err], [0, ""]);
      const [header, ...rows] = parsed(out);
      assert.equal(rows.length, documents.length);
      const longest = documents.reduce((a, b) => Object.keys(b).length > Object.keys(a).length ? b : a);
      // Folders lack in JSON what objects have.
      const shown = line.includes("--type folder") ? header!.slice(0, 2) : header;
      assert.deepEqual(shown, Object.keys(longest));
      for (const [at, document] of documents.entries()) {
        for (const [column, name] of header!.entries()) {
          assert.equal(rows[at]![column], cellOf(document[name], rows[at]![column]!), `${name} of row ${at}`);
        }
      }
    });
  }

  it("can be had from every verb with the option", async (t) => {
    const verbs = VERBS.filter(({ options }) => options && Object.hasOwn(options, "format")).map(({ name }) =>
      name
    );
    const tried = (name: string) => LINES.some((line) => line === name || line.startsWith(`${name} `));
    assert.deepEqual(verbs.filter((name) => !tried(name)), []);
    const { run } = await prepared(t);
    assert.equal((await run("stat", "lakefs://repo/main/a", "--format", "csv")).code, 2);
  });

  it("has counts by folder with diff --stat, and names alone with --name-only", async (t) => {
    const { run } = await prepared(t);
    const diff = async (...more: string[]) =>
      (await run("diff", "lakefs://repo/main~1", "lakefs://repo/main@", "--format", "csv", ...more)).out;
    assert.equal(
      await diff("--stat"),
      'path,added,removed,changed,conflict,bytes_added,bytes_removed\r\n"",1,0,0,0,1,0\r\nd/,2,0,0,0,2,0\r\n',
    );
    assert.equal(await diff("--name-only"), "path\r\na\r\nd/x\r\nd/y\r\n");
  });

  it("is refused where it makes no sense", async (t) => {
    const { run } = await prepared(t);
    const refused: readonly [argv: string[], why: RegExp][] = [
      [["ls", "--format", "xml"], /"--format xml": it must be csv or parquet/],
      [["ls", "--format", "csv", "--json"], /--json.* with .*--format/],
      [["ls", "--output", ""], /"--output": its value FILE is empty/],
    ];
    for (const [argv, why] of refused) {
      const { code, out, err } = await run(...argv);
      assert.deepEqual([code, out], [2, ""]);
      assert.match(err, why);
    }
  });

  it("is no Parquet on a terminal, and CSV as it is", async (t) => {
    const { run, folder } = await prepared(t, { terminal: true });
    const { code, out, err } = await run("ls", "--format", "parquet");
    assert.deepEqual([code, out], [2, ""]);
    assert.match(err, /Cannot write Parquet to a terminal: add --output FILE/);
    assert.match((await run("ls", "lakefs://repo/main", "--format", "csv")).out, /^path,path_type,/);
    const file = join(folder, "t.parquet");
    assert.equal((await run("ls", "--format", "parquet", "-o", file)).code, 0);
    assert.equal(fs.readFileSync(file).subarray(0, 4).toString(), "PAR1");
  });
});

describe("--output", () => {
  it("takes any form, as to a pipe, and prints nothing", async (t) => {
    const { run, folder } = await prepared(t, { terminal: true });
    const file = join(folder, "listing");
    for (const form of [["--json"], ["--jsonl"], ["--format", "csv"], []]) {
      const { code, out, err } = await run("ls", "lakefs://repo/main", ...form, "--output", file);
      assert.deepEqual([code, out, err], [0, "", ""]);
      assert.match(fs.readFileSync(file, "utf8"), form.length > 0 ? /path_type/ : /^1\t.*Z\ta\n/);
    }
    assert.match((await run("ls", "lakefs://repo/main", "--json", "-o", "-")).out, /path_type/);
  });

  it("leaves no file, or the one before, when the command fails; a no is no failure", async (t) => {
    const { run, folder } = await prepared(t);
    const file = join(folder, "listing");
    assert.equal((await run("ls", "lakefs://repo/main/none", "--format", "csv", "-o", file)).code, 3);
    assert.ok(!fs.existsSync(file));
    assert.equal((await run("diff", "lakefs://repo/main", "--exit-code", "-o", file)).code, 1);
    const before = fs.readFileSync(file, "utf8");
    assert.match(before, /added\tz/);
    assert.equal((await run("ls", "lakefs://repo/none", "-o", file)).code, 3);
    assert.equal(fs.readFileSync(file, "utf8"), before);
    assert.deepEqual(fs.readdirSync(folder).filter((name) => name.startsWith(".tarn")), []);
  });
});

/** What a cell holds of a JSON value; times are seconds there and RFC 3339 here. */
function cellOf(value: unknown, cell: string): string {
  if (value === undefined) return "";
  if (/^\d{4}-\d\d-\d\dT.*Z$/.test(cell)) {
    assert.equal(Math.floor(Date.parse(cell) / 1000), value);
    return cell;
  }
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
