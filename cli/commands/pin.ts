/** `pin`: URIs with a fixed version; in a lock file with all that is there, or compared with one. */

import { CodedError } from "../../base/errors.ts";
import { formatUri, looksLikeUri, parseUri } from "../../base/uri.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import type { LockedUri } from "../../catalog/lock_file.ts";
import { type CheckedLock, checkLocked, lockUri } from "../../catalog/locked.ts";
import type { Context } from "../context.ts";
import { EXIT_NO, EXIT_OK } from "../exit_codes.ts";
import { quoted } from "../quoting.ts";
import { addToLock, readLock, readLockToWrite } from "../lock_files.ts";
import type { Output } from "../output.ts";
import { counted } from "../render/sizes.ts";

const LOCK_FILE = "tarn.lock";

export async function run(context: Context): Promise<number> {
  const { arguments: given, catalogs } = context;
  const file = given.value("write");
  const isCheck = given.flag("check");
  if (file !== undefined && isCheck) throw misused('"--write" and "--check" exclude each other');
  if (given.flag("lock") && !isCheck) throw misused('"--lock" goes with "--check"');
  if (given.positionals.length === 0 && file === undefined && !isCheck) {
    throw misused("an argument is missing");
  }
  const catalog = await catalogs.open();
  if (isCheck) return await check(context, catalog);
  return file === undefined ? await show(context, catalog) : await write(context, catalog, file);
}

async function show({ arguments: given, output }: Context, catalog: Catalog): Promise<number> {
  const pinned = pinnedUris(given.positionals, catalog);
  await output.list(pinned, { json: (item) => item, line: (item) => output.shown(item.pinned) });
  return EXIT_OK;
}

interface PinnedUri {
  readonly uri: string;
  readonly pinned: string;
}

async function* pinnedUris(
  uris: readonly string[],
  catalog: Catalog,
): AsyncGenerator<readonly PinnedUri[]> {
  for (const uri of uris) yield [{ uri, pinned: await catalog.pin(uri) }];
}

/** Locks the URIs that are named, and keeps the others of the file; without any all of the file. */
async function write(
  { arguments: given, messages, output, session }: Context,
  catalog: Catalog,
  file: string,
): Promise<number> {
  const named = given.positionals.map((text) => formatUri(parseUri(text)));
  const known = readLockToWrite(file, { mayBeMissing: named.length > 0 });
  const wanted = named.length > 0 ? [...new Set(named)] : known.map(({ uri }) => uri);
  const anew: LockedUri[] = [];
  for (const uri of wanted) {
    messages.progress(() => `Locking: ${uri}`);
    anew.push(await lockUri(catalog, uri));
  }
  const locked = await addToLock(file, anew, await session.ownFolders());
  const files = locked.reduce((sum, { files }) => sum + files.length, 0);
  output.result(
    { file, uris: locked.map(({ uri, pinned, files }) => ({ uri, pinned, files: files.length })) },
    `Locked ${counted(locked.length, "URI")} with ${counted(files, "file")} in ${output.shown(file)}`,
  );
  return EXIT_OK;
}

async function check({ arguments: given, messages, output }: Context, catalog: Catalog): Promise<number> {
  const file = given.value("lock") ?? LOCK_FILE;
  const noUri = given.positionals.find((text) => !looksLikeUri(text));
  if (noUri !== undefined) {
    throw misused(`"${noUri}" is no URI, and "--lock ${noUri}" is how a lock file is named`);
  }
  const named = new Set(given.positionals.map((text) => formatUri(parseUri(text))));
  const known = await readLock(file);
  for (const uri of named) {
    if (known.some((locked) => locked.uri === uri)) continue;
    throw new CodedError("invalid", "invalid_argument", `Cannot check "${uri}": it is not in "${file}"`);
  }
  let moved = 0;
  async function* checked(): AsyncGenerator<readonly CheckedLock[]> {
    for (const locked of known) {
      if (named.size > 0 && !named.has(locked.uri)) continue;
      const result = await checkLocked(catalog, locked);
      if (result.state !== "same") moved++;
      yield [result];
    }
  }
  await output.list(output.json === "none" ? onlyMoved(checked()) : checked(), {
    json: (item) => item,
    line: (item) => output.shown(movedText(item)),
  });
  tellResult(output, moved, known.length);
  if (moved > 0) messages.note(`To lock what is there now: tarn pin --write ${quoted(file)}`);
  return moved > 0 ? EXIT_NO : EXIT_OK;
}

async function* onlyMoved(
  pages: AsyncIterable<readonly CheckedLock[]>,
): AsyncGenerator<readonly CheckedLock[]> {
  for await (const page of pages) yield page.filter(({ state }) => state !== "same");
}

function movedText({ uri, pinned, now, state }: CheckedLock): string {
  if (state === "gone") return `${uri} is gone: it was ${pinned}`;
  return state === "moved"
    ? `${uri} has moved: from ${pinned} to ${now}`
    : `${uri} has changed: its store keeps no versions, so what was locked is not there any more`;
}

function tellResult(output: Output, moved: number, count: number): void {
  if (output.json === "none" && moved === 0) {
    output.line(`Nothing has moved: ${counted(count, "URI")} checked`);
  }
}

function misused(problem: string): CodedError {
  return new CodedError(
    "invalid",
    "invalid_argument",
    `Cannot run "pin": ${problem}; write tarn pin URI… | tarn pin --write FILE [URI…] | tarn pin --check`,
  );
}
