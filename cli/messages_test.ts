import assert from "node:assert/strict";
import { it } from "node:test";
import { Messages } from "./messages.ts";

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
