/** Uploads in parts, as the store contract has them. */

import type { ByteStream } from "../../drivers/object_store.ts";
import type { ObjectStats } from "../../drivers/store.ts";
import type {
  CompletedUpload,
  CompleteUploadOptions,
  CopyPartOptions,
  ListUploadsOptions,
  NamedPart,
  PartInfo,
  PartSource,
  PutPartOptions,
  StartUploadOptions,
  UploadInfo,
  UploadPlace,
  Uploads,
} from "../../drivers/uploads.ts";
import type { Repository } from "../repository.ts";
import { completeUpload } from "./complete.ts";
import { abortUpload, dropExpired } from "./end.ts";
import { listUploads } from "./list.ts";
import { copyPart, partInfo, putPart } from "./parts.ts";
import { startUpload, uploadInfo } from "./start.ts";
import { findOpen, partsOf } from "./upload.ts";

/** How many others each start looks after: an upload is due twice at most. */
const LOOKED_AFTER = 4;

export class EngineUploads implements Uploads {
  readonly #open: (repository: string) => Promise<Repository>;
  /** Completions that run, by what they are to do: a client that has lost patience asks for the same again. */
  readonly #completing = new Map<string, Promise<CompletedUpload>>();

  constructor(open: (repository: string) => Promise<Repository>) {
    this.#open = open;
  }

  async start(
    repository: string,
    branch: string,
    path: string,
    options: StartUploadOptions,
  ): Promise<UploadInfo> {
    const opened = await this.#open(repository);
    const started = await startUpload(opened, { branch, path }, options);
    // What is left of others fails nobody: it is looked after again.
    await dropExpired(opened, LOOKED_AFTER).catch(() => {});
    return started;
  }

  async get(place: UploadPlace): Promise<UploadInfo> {
    return uploadInfo((await findOpen(await this.#open(place.repository), place)).record);
  }

  async putPart(
    place: UploadPlace,
    number: number,
    body: Uint8Array | ByteStream,
    options: PutPartOptions = {},
  ): Promise<PartInfo> {
    return await putPart(await this.#open(place.repository), { upload: place, number }, body, options);
  }

  async copyPart(
    place: UploadPlace,
    number: number,
    source: PartSource,
    options: CopyPartOptions = {},
  ): Promise<{ part: PartInfo; source: ObjectStats }> {
    const to = await this.#open(place.repository), from = await this.#open(source.repository);
    return await copyPart({ from, to }, { upload: place, number }, source, options);
  }

  async *parts(
    place: UploadPlace,
    { after = 0 }: { readonly after?: number } = {},
  ): AsyncGenerator<readonly PartInfo[]> {
    const opened = await this.#open(place.repository);
    await findOpen(opened, place);
    for await (const page of partsOf(opened, place.id, after)) yield page.map(partInfo);
  }

  async complete(
    place: UploadPlace,
    parts: readonly NamedPart[],
    options: CompleteUploadOptions = {},
  ): Promise<CompletedUpload> {
    const opened = await this.#open(place.repository);
    const { ifAbsent, ifMatch } = options;
    const what = JSON.stringify([opened.record.instanceUid, place, parts, ifAbsent, ifMatch]);
    const running = this.#completing.get(what);
    if (running) return await running;
    const completing = completeUpload(opened, place, parts, options)
      .finally(() => this.#completing.delete(what));
    this.#completing.set(what, completing);
    return await completing;
  }

  async abort(place: UploadPlace): Promise<void> {
    await abortUpload(await this.#open(place.repository), place);
  }

  async *list(
    repository: string,
    options: ListUploadsOptions = {},
  ): AsyncGenerator<readonly UploadInfo[]> {
    yield* listUploads(await this.#open(repository), options);
  }

  async dropExpired(repository: string, atMost = Infinity): Promise<number> {
    return await dropExpired(await this.#open(repository), atMost);
  }
}
