/** Notes of what is to be committed, as the store contract has them: JSON, one record a repository, server and branch. */

import { lossyText, utf8 } from "../base/bytes.ts";
import { CodedError, isCoded } from "../base/errors.ts";
import type { CommitNote, CommitNotes } from "../drivers/commit_notes.ts";
import type { KvStore } from "../kv/store.ts";
import type { Repositories } from "./refs/mod.ts";

const PARTITION = utf8("tarn-commit-notes");

export class EngineCommitNotes implements CommitNotes {
  readonly #kv: KvStore;
  readonly #repositories: Repositories;

  constructor(kv: KvStore, repositories: Repositories) {
    this.#kv = kv;
    this.#repositories = repositories;
  }

  async put(note: CommitNote): Promise<void> {
    const { instanceUid } = await this.#repositories.get(note.repository);
    await this.#kv.set(PARTITION, keyOf(instanceUid, note), utf8(JSON.stringify(note)));
  }

  async remove(note: Pick<CommitNote, "repository" | "branch" | "server">): Promise<void> {
    const instanceUid = await this.#instanceOf(note.repository);
    if (instanceUid !== undefined) await this.#kv.delete(PARTITION, keyOf(instanceUid, note));
  }

  async all(): Promise<readonly CommitNote[]> {
    const notes: CommitNote[] = [];
    for await (const page of this.#kv.scan(PARTITION)) {
      for (const { key, value } of page) {
        const note = decodeNote(value);
        // A repository of the same name that was made since is another one.
        const isLive = lossyText(key).startsWith(`${await this.#instanceOf(note.repository)}/`);
        if (isLive) notes.push(note);
        else await this.#kv.delete(PARTITION, key);
      }
    }
    return notes;
  }

  async #instanceOf(repository: string): Promise<string | undefined> {
    try {
      return (await this.#repositories.get(repository)).instanceUid;
    } catch (error) {
      if (isCoded(error, "repository_not_found")) return undefined;
      throw error;
    }
  }
}

function keyOf(instanceUid: string, { server, branch }: Pick<CommitNote, "server" | "branch">): Uint8Array {
  return utf8(`${instanceUid}/${server}/${branch}`);
}

function decodeNote(value: Uint8Array): CommitNote {
  try {
    return JSON.parse(lossyText(value)) as CommitNote;
  } catch (error) {
    throw new CodedError("corrupt", "corrupt_record", "Cannot read a note of a commit: it does not decode", {
      cause: error,
    });
  }
}
