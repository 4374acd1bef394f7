/** Local files onto a branch: `put`, and for a move the files are taken away after it. */

import * as fs from "node:fs";
import { basename } from "node:path";
import { fromHex } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import { folderToPut } from "../commands/put.ts";
import type { Context } from "../context.ts";
import { showPut } from "../folders/dry_run.ts";
import { Failures } from "../folders/failures.ts";
import { fileLooker } from "../../base/file_state.ts";
import { IGNORE_FILE } from "../folders/ignore_rules.ts";
import { localError } from "../folders/local_files.ts";
import { putFile } from "../folders/put_file.ts";
import { putFolder } from "../folders/put_folder.ts";
import type { BranchWriter } from "../../drivers/store.ts";
import type { FolderToPut } from "../folders/put_plan.ts";
import { keyLocation } from "../locations.ts";
import {
  deleteMovedFiles,
  flushRemoval,
  type MovedFile,
  movedFile,
  MovedSources,
  removeEmptyFolders,
} from "./moved_sources.ts";
import { showMany, showObject, type Transfer, withFailures } from "./transfer.ts";

export async function copyFromLocal(context: Context, transfer: Transfer): Promise<number> {
  const location = keyLocation(transfer.destination, undefined);
  if (!transfer.isRecursive) return await oneFile(context, transfer);
  const what = await folderToPut(context, {
    location,
    path: transfer.source,
    options: {},
    isMoved: transfer.kind === "move",
  });
  if (context.arguments.flag("dry-run")) {
    return await showPut(context, what, transfer.kind === "copy" ? "put" : "move");
  }
  if (transfer.kind === "move") return await moveFolder(context, what);
  const { put, ...done } = await putFolder(context, what);
  return showMany(context, "copy", { ...done, count: put, noun: "file" });
}

/** Moves a folder. Every file is put, though the same bytes seem to be there: what is there may be damaged. */
async function moveFolder(context: Context, what: FolderToPut): Promise<number> {
  const look = await fileLooker();
  const failures = new Failures(context.messages, "remove");
  const remove = (files: readonly MovedFile[]) => deleteMovedFiles(files, { look, failures });
  const ignoreFiles: MovedFile[] = [];
  let target: BranchWriter | undefined;
  let moved = 0, sizeBytes = 0;
  const sources = new MovedSources<MovedFile>(async () => await target!.flush(), remove);
  const { put: _, unchanged: __, ...done } = await putFolder(context, {
    ...what,
    reread: true,
    putsAll: true,
  }, (slot, hash, writer) => {
    target = writer;
    moved++;
    sizeBytes += slot.state?.size ?? 0;
    const file = movedFile(slot, hash);
    if (basename(slot.key) !== IGNORE_FILE) return sources.add(file);
    ignoreFiles.push(file);
  });
  await sources.finish();
  // Without them the next move would take what they left out.
  if (done.ignored === 0) await remove(ignoreFiles);
  const own = await context.session.ownFolders();
  removeEmptyFolders(what.folder, (folder) => own.isOwn(folder));
  const count = moved - failures.count;
  return showMany(context, "move", {
    ...withFailures({ ...done, count, sizeBytes }, failures),
    noun: "file",
  });
}

async function oneFile(context: Context, { kind, source, destination }: Transfer): Promise<number> {
  const location = keyLocation(destination, undefined);
  const lookAtFile = await fileLooker();
  const slot = { key: source, path: source, lookedAtMs: Date.now(), state: lookAtFile(source) };
  if (kind === "move") {
    refuseUnmovable(source);
    (await context.session.ownFolders()).refuse(source, "move");
  }
  const { object, uri } = await putFile(context, {
    location,
    path: source,
    options: {},
    isExact: false,
    namesEmpty: true,
    // What is there may be damaged, and the file is taken away.
    puts: kind === "move",
  });
  if (kind === "move") {
    const failures = new Failures(context.messages, "remove");
    await deleteMovedFiles([movedFile(slot, () => fromHex(object.sha256!)!)], { look: lookAtFile, failures });
    if (failures.count > 0) {
      throw new CodedError(
        "conflict",
        "source_changed",
        `Cannot remove "${source}": it changed while it was moved`,
      );
    }
    flushRemoval(source);
  }
  return showObject(context, object, uri);
}

/** A symlink would be gone and what it points at still there; a FIFO or device holds nothing that can be taken away. */
function refuseUnmovable(path: string): void {
  const stat = look(path);
  if (path !== "-" && (!stat || stat.isFile() || stat.isDirectory())) return;
  const what = stat?.isSymbolicLink()
    ? "a symlink"
    : path === "-"
    ? "standard input"
    : "a device, FIFO or socket";
  throw new CodedError("invalid", "unmovable_source", `Cannot move "${path}": it is ${what}`);
}

function look(path: string): fs.Stats | undefined {
  try {
    return fs.lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw localError(error, `Cannot read "${path}"`);
  }
}
