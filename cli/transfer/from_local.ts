/** Local files onto a branch: `put`, and for a move the files are taken away after it. */

import { CodedError } from "../../base/errors.ts";
import { folderToPut, putFile } from "../commands/put.ts";
import type { Context } from "../context.ts";
import { showPut } from "../folders/dry_run.ts";
import { Failures } from "../folders/failures.ts";
import { fileLooker } from "../folders/file_state.ts";
import { putFolder } from "../folders/put_folder.ts";
import { fromHex } from "../../base/bytes.ts";
import type { BranchWriter } from "../../drivers/store.ts";
import { keyLocation } from "../locations.ts";
import { deleteMovedFiles, flushRemoval, type MovedFile, movedFile, MovedSources, removeEmptyFolders } from "./moved_sources.ts";
import { showMany, showObject, type Transfer, withFailures } from "./transfer.ts";

export async function copyFromLocal(context: Context, transfer: Transfer): Promise<number> {
  const location = keyLocation(transfer.destination, undefined);
  if (!transfer.isRecursive) return await oneFile(context, transfer);
  const what = await folderToPut(context, { location, path: transfer.source, options: {} });
  if (context.arguments.flag("dry-run")) {
    return await showPut(context, what, transfer.kind === "copy" ? "put" : "move");
  }
  if (transfer.kind === "copy") {
    const { put, ...done } = await putFolder(context, what);
    return showMany(context, "copy", { ...done, count: put, noun: "file" });
  }
  const look = await fileLooker();
  const failures = new Failures(context.messages, "remove");
  let target: BranchWriter | undefined;
  let moved = 0, sizeBytes = 0;
  const sources = new MovedSources<MovedFile>(
    async () => await target!.flush(),
    async (files) => await deleteMovedFiles(files, { look, failures }),
  );
  const { put: _, unchanged: __, ...done } = await putFolder(context, what, (slot, hash, writer) => {
    target = writer;
    moved++;
    sizeBytes += slot.state?.size ?? 0;
    return sources.add(movedFile(slot, hash));
  });
  await sources.finish();
  removeEmptyFolders(transfer.source);
  const count = moved - failures.count;
  return showMany(context, "move", { ...withFailures({ ...done, count, sizeBytes }, failures), noun: "file" });
}

async function oneFile(context: Context, { kind, source, destination }: Transfer): Promise<number> {
  const location = keyLocation(destination, undefined);
  const look = await fileLooker();
  const slot = { key: source, path: source, lookedAtMs: Date.now(), state: look(source) };
  const { object, uri } = await putFile(context, {
    location,
    path: kind === "move" && !slot.state ? refuseSpecial(source) : source,
    options: {},
    isExact: false,
  });
  if (kind === "move") {
    const failures = new Failures(context.messages, "remove");
    await deleteMovedFiles([movedFile(slot, () => fromHex(object.sha256!)!)], { look, failures });
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
