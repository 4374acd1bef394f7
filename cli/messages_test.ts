import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { lossyText } from "../base/bytes.ts";
import { Messages } from "./messages.ts";
import { testCli } from "./testing.ts";

function opened(options: { quiet?: boolean; terminal?: boolean; yes?: boolean } = {}) {
  const written: string[] = [];
  const messages = new Messages({
    quiet: options.quiet ?? false,
    terminal: () => options.terminal ?? false,
    mayAsk: () => false,
    yes: options.yes ?? false,
    progress: true,
    write: (text) => void written.push(text),
  });
  return { messages, written };
}

it("Messages.confirm() refuses where nobody can answer, unless told yes", async () => {
  await assert.rejects(opened().messages.confirm("delete it"), { code: "confirmation_needed" });
  await opened({ yes: true }).messages.confirm("delete it");
});

it("Messages keep to one line each, and to warnings when quiet", () => {
  const loud = opened(), quiet = opened({ quiet: true });
  for (const { messages } of [loud, quiet]) {
    messages.note("note\x1b[2J");
    messages.warn("warning\nof two lines");
  }
  assert.deepEqual(loud.written, ["note\\x1b[2J\n", "warning\\nof two lines\n"]);
  assert.deepEqual(quiet.written, ["warning\\nof two lines\n"]);
});

it("Messages.progress() shows on a terminal only, and goes away before a message", () => {
  const pipe = opened(), terminal = opened({ terminal: true });
  for (const { messages } of [pipe, terminal]) {
    messages.progress(() => "half");
    messages.warn("stop");
  }
  assert.deepEqual(pipe.written, ["stop\n"]);
  assert.deepEqual(terminal.written, ["\rhalf\x1b[K", "\r\x1b[K", "stop\n"]);
});

it("a progress line is gone before a result takes its place", async (t) => {
  let screen = "";
  const { folder, run, runTo } = testCli(t, { onMessage: (text) => void (screen += text) });
  await run("repo", "create", "lakefs://repo");
  mkdirSync(join(folder, "tree"));
  writeFileSync(join(folder, "tree", "file"), "x");
  const sink = { write: async (bytes: Uint8Array) => void (screen += lossyText(bytes)) };
  await runTo(sink, ["put", "lakefs://repo/main/", join(folder, "tree"), "-r"]);
  assert.match(screen, /^\rPutting: [^\r]*\x1b\[K\r\x1b\[KPut 1 file \(1 B\)\n$/);
});
