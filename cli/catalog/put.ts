/** `put` over the catalog: a file, standard input, or a folder file by file, its names checked before the first one is written. */

import * as fs from "node:fs";
import { CodedError } from "../../base/errors.ts";
import { parseUri } from "../../base/uri.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import type { LocalFile, LocalFiles } from "../../catalog/local_folder.ts";
import type { Entry, PutSource } from "../../drivers/catalog_store.ts";
import type { Context } from "../context.ts";
import { EXIT_OK, EXIT_PARTIAL } from "../exit_codes.ts";
import { Failures } from "../folders/failures.ts";
import { openNamed } from "../folders/local_files.ts";
import { ownLeftOut } from "../folders/own_left_out.ts";
import { checkNotRecursive } from "../folders/recursive.ts";
import { walkFolder, type WalkOptions } from "../folders/walk.ts";
import { entryJson } from "../render/entries.ts";
import { FileProgress } from "../render/progress.ts";
import { counted, grouped, humanSize } from "../render/sizes.ts";
import { standardInput } from "../standard_input.ts";
import { readDescriptor } from "../streams.ts";
import { stopping } from "../writing.ts";
import { refuseOptions } from "./options.ts";
import { uriBelow } from "./walk.ts";

export async function put(context: Context, catalog: Catalog, path: string): Promise<number> {
  const { arguments: given, output } = context;
  refuseOptions(given, "put", ["key", "content-type", "meta", "dry-run", "reread"]);
  const uri = given.positionals[0]!;
  if (given.flag("recursive")) return await putAll(context, catalog, path);
  checkNotRecursive(given);
  const entry = await putOne(context, catalog, { uri, path });
  const takesName = parseUri(uri).segments.at(-1) === "";
  const whole = takesName ? uriBelow(uri, entry.name) : uri;
  output.result({ uri: whole, ...entryJson({ path: entry.name, entry }) }, output.shown(whole));
  return EXIT_OK;
}

/** A regular file has a name, and is read by whoever puts it; from anything else there are bytes alone. */
async function putOne(
  context: Context,
  catalog: Catalog,
  { uri, path }: { uri: string; path: string },
): Promise<Entry> {
  const putting = (source: PutSource) => stopping((signal) => catalog.put(uri, source, { signal }));
  if (path === "-") return await putting({ body: standardInput(context) });
  const stat = fs.statSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory()) {
    throw new CodedError("invalid", "folder_in_the_way", `Cannot put "${path}": it is a folder`, {
      details: { recursive: true },
    });
  }
  if (!stat || stat.isFile()) return await putting({ path });
  const { descriptor } = await openNamed(path);
  try {
    return await putting({ body: readDescriptor(descriptor) });
  } finally {
    fs.closeSync(descriptor);
  }
}

async function putAll(context: Context, catalog: Catalog, path: string): Promise<number> {
  const { arguments: given, messages, output, session } = context;
  const own = await session.ownFolders();
  own.onlyNamed.refuse(path, "put");
  const failures = new Failures(messages, "put");
  const walked = new WalkedFiles(path, {
    exclude: given.values("exclude"),
    followSymlinks: given.flag("follow-symlinks"),
    leaveOut: ownLeftOut(own, messages),
    failures,
  });
  const progress = new FileProgress(messages, "Putting");
  let count = 0;
  const onFile = (entry: Entry) => {
    count++;
    progress.addFile();
    progress.addBytes(entry.sizeBytes ?? 0);
  };
  const { sizeBytes = 0 } = await stopping((signal) =>
    catalog.putFolder(given.positionals[0]!, walked.files, { onFile, signal })
  );
  const { ignored } = walked;
  const text = [`Put ${counted(count, "file")} (${humanSize(sizeBytes)})`];
  if (ignored > 0) text.push(`${grouped(ignored)} ignored`);
  if (failures.count > 0) text.push(`${grouped(failures.count)} left out`);
  output.result(
    { put: count, ignored, failed: failures.count, size_bytes: sizeBytes, failures: failures.kept },
    text.join(", "),
  );
  return failures.count > 0 ? EXIT_PARTIAL : EXIT_OK;
}

interface WalkedOptions extends Pick<WalkOptions, "exclude" | "followSymlinks" | "leaveOut"> {
  readonly failures: Failures;
}

/** The files of a folder, as often as they are gone through; what is left out is told the first time. */
class WalkedFiles {
  readonly #path: string;
  readonly #options: WalkedOptions;
  #isTold = false;
  ignored = 0;

  constructor(path: string, options: WalkedOptions) {
    this.#path = path;
    this.#options = options;
  }

  readonly files: LocalFiles = () => this.#walk();

  *#walk(): Generator<LocalFile> {
    const { failures, ...options } = this.#options;
    const isFirst = !this.#isTold;
    this.#isTold = true;
    for (const item of walkFolder(this.#path, { ...options, ignoreFiles: true })) {
      if (item.kind === "file") yield item;
      else if (item.kind === "ignored") this.ignored += isFirst ? 1 : 0;
      // A name that no URI has is found before anything is written.
      else if (item.code === "name_not_utf8") throw refusedName(item.shown, item.why);
      else if (isFirst) failures.leaveOut(item.shown, item.code, item.why);
    }
  }
}

function refusedName(shown: string, why: string): CodedError {
  return new CodedError("invalid", "file_unusable", `Cannot put "${shown}": ${why}`);
}
