/** `config show`: the configuration, or what a tenant sees of it. */

import { cutView, Problems } from "../../catalog/config/mod.ts";
import { shownView, yamlText } from "../../catalog/config/show.ts";
import { configReader, configurationOf } from "../configuration.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";

export async function run(context: Context): Promise<number> {
  const { arguments: given, environment, messages, output } = context;
  const source = await configurationOf(context);
  const raw = await source.raw();
  const problems = new Problems(raw);
  const view = cutView(raw, source.tenant, problems);
  problems.throwIfAny();
  const reader = given.flag("resolved") ? configReader(environment) : undefined;
  // What is filled in is shown as it would be used: only if it may be.
  if (reader) await source.load(reader);
  const shown = shownView(view, reader);
  if (output.json !== "none") output.document(shown);
  else {
    const text = (await yamlText(shown)).trimEnd();
    for (const line of text === "" ? [] : text.split("\n")) output.line(output.shown(line));
    if (output.terminal) {
      messages.note(source.origin === undefined ? "There is no configuration" : `From ${source.origin}`);
    }
  }
  return EXIT_OK;
}
