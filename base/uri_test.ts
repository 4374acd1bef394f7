import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandomness } from "./randomness.ts";
import {
  encodePath,
  encodeSegment,
  formatUri,
  looksLikeUri,
  parseUri,
  readSelector,
  SELECTOR_KINDS,
  selectorText,
  splitTimeValue,
  type Uri,
} from "./uri.ts";

test("parseUri() splits scheme, place and decoded segments", () => {
  assert.deepEqual(parseUri("lakefs://repo/main/a/b.txt"), {
    scheme: "lakefs",
    place: "repo",
    segments: ["main", "a", "b.txt"],
  });
  assert.deepEqual(parseUri("lakefs://"), { scheme: "lakefs", place: "", segments: [] });
  assert.deepEqual(parseUri("lakefs://repo"), { scheme: "lakefs", place: "repo", segments: [] });
  assert.deepEqual(parseUri("lakefs://repo/"), { scheme: "lakefs", place: "repo", segments: [""] });
  assert.deepEqual(parseUri("local:///srv/x/").segments, ["srv", "x", ""]);
});

test("each segment is decoded exactly once, and a slash inside one stays inside", () => {
  assert.deepEqual(parseUri("lakefs://repo/a%2Fb/c%252Fd").segments, ["a/b", "c%2Fd"]);
  assert.deepEqual(parseUri("lakefs://r%65po/m%61in").place, "repo");
  assert.deepEqual(parseUri("lakefs://repo/%E2%82%ac").segments, ["€"]);
});

test("dots are kept as they are, encoded or not: nothing is folded away", () => {
  assert.deepEqual(parseUri("lakefs://repo/main/a/../b/./c").segments, ["main", "a", "..", "b", ".", "c"]);
  assert.deepEqual(parseUri("lakefs://repo/%2e%2e/%2E%2e%2f/.%2e").segments, ["..", "../", ".."]);
  assert.deepEqual(parseUri("lakefs://repo//a///b").segments, ["", "a", "", "", "b"]);
  assert.deepEqual(parseUri("lakefs://repo/a\\..\\b").segments, ["a\\..\\b"]);
});

test("tabs, line ends, spaces and anything beyond ASCII are kept", () => {
  assert.deepEqual(parseUri("lakefs://repo/a\tb\nc\rd e").segments, ["a\tb\nc\rd e"]);
  assert.deepEqual(parseUri("lakefs://repo/ lead/trail ").segments, [" lead", "trail "]);
  assert.deepEqual(parseUri("lakefs://repo/é/e\u0301/\u{1f600}").segments, ["é", "e\u0301", "\u{1f600}"]);
  assert.deepEqual(parseUri("lakefs://user:pw@host:80/x").place, "user:pw@host:80");
});

test("a trailing selector is read, and its value decoded", () => {
  assert.deepEqual(parseUri("lakefs://repo/a?at=tag:v1.0").at, { kind: "tag", value: "v1.0" });
  assert.deepEqual(parseUri("lakefs://repo/a?at=branch:feature/x%3F").at, {
    kind: "branch",
    value: "feature/x?",
  });
  assert.deepEqual(
    parseUri("s3://b/k?at=ts:2026-01-01T00:00:00+01:00").at?.value,
    "2026-01-01T00:00:00+01:00",
  );
  for (const kind of SELECTOR_KINDS) assert.equal(parseUri(`lakefs://r?at=${kind}:x`).at?.kind, kind);
});

test("what has no single meaning is refused with invalid_uri", () => {
  const bad = [
    "",
    "repo/main",
    "/etc/passwd",
    "lakefs:/repo",
    "lakefs:repo",
    "://repo",
    "Lakefs://repo",
    "9p://repo",
    " lakefs://repo",
    "la kefs://repo",
    "lakefs://repo/100%",
    "lakefs://repo/%2",
    "lakefs://repo/%zz",
    "lakefs://repo/%%41",
    "lakefs://repo/%u0041",
    "lakefs://repo/a#b",
    "lakefs://repo/a?at=tag:v1#frag",
    "lakefs://repo/a?b",
    "lakefs://repo/a?",
    "lakefs://repo/?at=tag",
    "lakefs://repo/a?at=tag:",
    "lakefs://repo/a?at=tag:a?at=tag:b",
    "lakefs://repo/a?at=nothing:v1",
    "lakefs://repo/a?at=TAG:v1",
    "lakefs://repo/a?AT=tag:v1",
    "lakefs://repo/a?x=1&at=tag:v1",
    "lakefs://repo/a\0b",
    "lakefs://repo/a%00b",
    "lakefs://repo/a?at=tag:%00",
    "lakefs://repo/%ff",
    "lakefs://repo/%c0%ae%c0%ae",
    "lakefs://repo/%ed%a0%80",
    "lakefs://repo/%e2%82",
    "lakefs://re%ffpo/x",
    "lakefs://repo/\ud800",
  ];
  for (const text of bad) {
    assert.throws(() => parseUri(text), { code: "invalid_uri", kind: "invalid" }, JSON.stringify(text));
  }
});

test("formatUri() of any URI parses back to the same", () => {
  const chance = seededRandomness(21);
  const alphabet = [..."ab/.%?#&=:+ \t\n\\\"'<>{}|^`~@$[]é€\u{1f600}\u0301\x7f\x01"];
  const pick = <T>(of: readonly T[]) => of[Math.floor(chance.fraction() * of.length)]!;
  const word = (least: number) =>
    Array.from({ length: least + Math.floor(chance.fraction() * 6) }, () => pick(alphabet)).join("");
  for (let i = 0; i < 3000; i++) {
    const segments = Array.from({ length: Math.floor(chance.fraction() * 4) }, () => word(0));
    const at = chance.fraction() < 0.3 ? { at: { kind: pick(SELECTOR_KINDS), value: word(1) } } : {};
    const uri: Uri = { scheme: pick(["lakefs", "s3", "local"]), place: word(0), segments, ...at };
    const text = formatUri(uri);
    assert.deepEqual(parseUri(text), uri, text);
    assert.match(text, /^[\x21-\x7e]*$/, "only printable ASCII is printed");
  }
});

test("encodeSegment() encodes slashes, encodePath() keeps them", () => {
  assert.equal(encodeSegment("a/b c?%#"), "a%2Fb%20c%3F%25%23");
  assert.equal(encodePath("a/b c/é"), "a/b%20c/%C3%A9");
});

test("looksLikeUri() takes anything with a scheme and two slashes, well-formed or not", () => {
  for (const text of ["lakefs://", "LAKEFS://x", "s3://b/%", "git+ssh://x"]) {
    assert.ok(looksLikeUri(text), text);
  }
  for (const text of ["", "a", "./a", "C:\\x", "c:/x", "a:b", "//x", "9p://x"]) {
    assert.ok(!looksLikeUri(text), text);
  }
});

test("readSelector() reads a selector as a configuration has it, undecoded", () => {
  for (const text of ["branch:feature/x", "tag:100%", "commit:4f0c", "ts:main@2026-03-31", "stage:a b?#"]) {
    assert.equal(selectorText(readSelector(text)!), text);
  }
  for (const text of ["", "main", "branch:", ":x", "nothing:x", "BRANCH:x", "branch:a\0", "tag:\ud800"]) {
    assert.equal(readSelector(text), undefined, JSON.stringify(text));
  }
});

test("splitTimeValue() ends the branch at the last @", () => {
  assert.deepEqual(splitTimeValue("2026-03-31"), { time: "2026-03-31" });
  assert.deepEqual(splitTimeValue("main@2026-03-31"), { branch: "main", time: "2026-03-31" });
  assert.deepEqual(splitTimeValue("a@b@2026-03-31"), { branch: "a@b", time: "2026-03-31" });
});
