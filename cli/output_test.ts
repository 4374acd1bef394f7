import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { lossyText } from "../base/bytes.ts";
import { type JsonMode, Output } from "./output.ts";

function opened(json: JsonMode, terminal = false) {
  const pieces: string[] = [];
  const output = new Output(
    { write: async (bytes) => void pieces.push(lossyText(bytes)) },
    { json, terminal, color: true },
  );
  return { output, pieces, text: () => pieces.join("") };
}

async function* pagesOf(...pages: number[][]) {
  yield* pages;
}

const FORM = { json: (item: number) => ({ item }), line: (item: number) => `item ${item}` };

describe("Output.list()", () => {
  it("writes one JSON document, also of no items", async () => {
    const some = opened("document"), none = opened("document");
    await some.output.list(pagesOf([1], [], [2, 3]), FORM);
    await none.output.list(pagesOf([]), FORM);
    await some.output.drain();
    await none.output.drain();
    assert.deepEqual(JSON.parse(some.text()), [{ item: 1 }, { item: 2 }, { item: 3 }]);
    assert.equal(none.text(), "[]\n");
  });

  it("writes a line an item, as text or as JSON", async () => {
    const text = opened("none"), lines = opened("lines");
    await text.output.list(pagesOf([1, 2]), FORM);
    await lines.output.list(pagesOf([1, 2]), FORM);
    await text.output.drain();
    await lines.output.drain();
    assert.equal(text.text(), "item 1\nitem 2\n");
    assert.equal(lines.text(), '{"item":1}\n{"item":2}\n');
  });

  it("stops asking for pages when it has enough", async () => {
    let asked = 0;
    async function* endless() {
      for (;;) yield [asked++, asked++];
    }
    const { output } = opened("none");
    assert.equal(await output.list(endless(), FORM, { amount: 3 }), 3);
    assert.equal(asked, 4);
  });

  it("hands long lists on page by page", async () => {
    const { output, pieces } = opened("none");
    const page = Array.from({ length: 10_000 }, (_, i) => i);
    await output.list(pagesOf(page, page, page), FORM);
    assert.equal(pieces.length, 3);
  });
});

it("Output.discardJson() leaves nothing of half a document, and text as it is", async () => {
  const json = opened("document"), text = opened("none");
  for (const { output } of [json, text]) {
    output.line("half");
    output.discardJson();
    await output.drain();
  }
  assert.deepEqual([json.text(), text.text()], ["", "half\n"]);
});

it("Output escapes and paints on a terminal only", () => {
  const terminal = opened("none", true).output,
    pipe = opened("none").output,
    json = opened("document", true).output;
  assert.equal(terminal.shown("a\nb"), "a\\nb");
  assert.equal(pipe.shown("a\nb"), "a\nb");
  assert.equal(json.shown("a\nb"), "a\nb");
  assert.equal(terminal.paint("red", "x"), "\x1b[31mx\x1b[0m");
  assert.equal(pipe.paint("red", "x"), "x");
});
