/** The rows of docs/catalog_coverage.md, and whether the tests that they name ran. */

export interface CoverageRow {
  readonly id: string;
  readonly behaviour: string;
  /** Where it is built, or the part of it that all drivers share. */
  readonly path?: string;
  /** The drivers without which it cannot be shown, or not whole. */
  readonly waitsFor: readonly string[];
  readonly tests: readonly NamedTest[];
}

/** A test by its file and title. That of a suite runs in the files of drivers, under their names. */
export interface NamedTest {
  readonly file: string;
  readonly title: string;
}

const NOT_OURS = "not ours: ";
const NO_TEST = "—";

/** Reads the page. Fails with an error that names the row where one is malformed. */
export function parseCoverage(page: string): readonly CoverageRow[] {
  return page.split("\n").filter((line) => /^\| [A-Z]+\d+ /.test(line)).map(parseRow);
}

function parseRow(line: string): CoverageRow {
  const cells = line.slice(1, -1).split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
  const [id = "", behaviour = "", where = "", tests = ""] = cells;
  const wrong = (what: string) => new Error(`${id}: ${what}`);
  if (cells.length !== 4 || cells.includes("")) throw wrong("a row has four cells, and none is empty");
  const match = /^(?:`([^`]+)`)?(?:(?:, |^)waits for ([a-z0-9]+(?:, [a-z0-9]+)*))?$/.exec(where);
  if (!match && !where.startsWith(NOT_OURS)) {
    throw wrong(`"${where}" is neither a place nor something to wait for`);
  }
  const [, path, drivers] = match ?? [];
  if ((path === undefined) !== (tests === NO_TEST)) {
    throw wrong("what is built has a test, and nothing else has");
  }
  return {
    id,
    behaviour,
    path,
    waitsFor: drivers?.split(", ") ?? [],
    tests: path === undefined ? [] : tests.split("<br>").map((text) => {
      const [, file, title] = /^\s*(\S+_(?:test|suite)\.ts): (.+?)\s*$/.exec(text) ?? [];
      if (file === undefined || title === undefined) throw wrong(`"${text}" is no file with a title`);
      return { file, title };
    }),
  };
}

/** Returns the tests that no report has, given the JUnit report of each test file by its path. A test that was skipped is there. */
export function testsWithoutReport(
  rows: readonly CoverageRow[],
  reports: ReadonlyMap<string, string>,
): readonly string[] {
  const titles = new Map([...reports].map(([file, report]) => [file, titlesIn(report)]));
  const all = [...titles.values()].flatMap((some) => [...some]);
  const ran = ({ file, title }: NamedTest) =>
    file.endsWith("_suite.ts") ? all.some((one) => one.endsWith(`: ${title}`)) : titles.get(file)?.has(title);
  return rows.flatMap(({ id, tests }) =>
    tests.filter((test) => !ran(test)).map(({ file, title }) => `${id}: ${file}: ${title}`)
  );
}

function titlesIn(report: string): ReadonlySet<string> {
  return new Set([...report.matchAll(/<testcase name="([^"]*)"/g)].map(([, name]) => unescaped(name!)));
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function unescaped(text: string): string {
  return text.replace(
    /&(?:#(x?)([0-9a-f]+)|([a-z]+));/gi,
    (whole, hex, code, name) =>
      code === undefined ? ENTITIES[name] ?? whole : String.fromCodePoint(parseInt(code, hex ? 16 : 10)),
  );
}
