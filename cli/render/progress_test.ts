import assert from "node:assert/strict";
import { it } from "node:test";
import { Messages } from "../messages.ts";
import { durationText, FileProgress, type Total } from "./progress.ts";

function shown(total: Total | undefined, columns = 80): string {
  let written = "";
  const messages = new Messages({
    quiet: false,
    terminal: () => true,
    mayAsk: () => false,
    yes: false,
    progress: true,
    columns: () => columns,
    write: (text) => written = text,
  });
  new FileProgress(messages, "Putting", total).addBytes(1500);
  return written;
}

it("FileProgress says what, how much of how much, how fast, and how long yet", () => {
  assert.match(
    shown({ files: 3, bytes: 3000 }),
    /^\rPutting: 0 of 3 files, 1\.5 kB of 3\.0 kB, [\d.]+ [kMGTP]?B\/s, \d+ s left\x1b\[K$/,
  );
  assert.match(shown({ files: 3 }), /^\rPutting: 0 of 3 files, 1\.5 kB, [\d.]+ [kMGTP]?B\/s\x1b\[K$/);
  assert.match(shown(undefined), /^\rPutting: 0 files, 1\.5 kB, [\d.]+ [kMGTP]?B\/s\x1b\[K$/);
});

it("FileProgress stays on one line of a narrow terminal", () => {
  assert.match(shown({ files: 3, bytes: 3000 }, 20), /^\rPutting: 0 of 3 fi…\x1b\[K$/);
});

it("durationText() says hours, minutes, seconds", () => {
  assert.deepEqual([0, 0.2, 59.5, 61, 3600, 12_345].map(durationText), [
    "0 s",
    "1 s",
    "1 min 0 s",
    "1 min 1 s",
    "1 h 0 min",
    "3 h 25 min",
  ]);
});
