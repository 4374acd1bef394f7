/**
 * Commits what was written through the gateway without anybody asking, by the rule that the home's configuration sets.
 *
 *     begin(branch, user)      notes the branch durably, unless that is done, and lets the write go on
 *       … the write …
 *     end()                    it has landed, or failed
 *     tick()                   commits what is due; the note goes once nothing was written since the commit began
 *
 * A server that is killed leaves its notes; the next one that starts commits those branches, and one that runs on those whose
 * notes have not changed for a while. A commit takes all that is staged on its branch.
 */

import type { Clock } from "../../base/clock.ts";
import { isCoded } from "../../base/errors.ts";
import type { CommitNote, CommitNotes, Store } from "../../drivers/store.ts";
import type { Log } from "../log.ts";
import type { AutoCommitSettings } from "./settings.ts";

const BEAT_MS = 20_000;
/** Others' notes are looked through as often, and taken over when they stayed the same for twice as long. */
const LOOK_MS = 30_000;
const LONGEST_WAIT_MS = 10 * 60_000;
const MOST_WRITERS = 100;

export interface AutoCommitOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: AutoCommitSettings;
  /** The name of this server among those of the home. */
  readonly server: string;
}

export interface WrittenBranch {
  readonly repository: string;
  readonly branch: string;
}

/** What is known of a branch that has something to be committed. */
interface Pending extends WrittenBranch {
  /** The latest last. */
  writers: readonly string[];
  /** Writes under way. */
  open: number;
  /** Grows with each write that begins or ends. */
  changes: number;
  firstMs: number;
  lastMs: number;
  /** Settles when the note is as it is to be. */
  noted: Promise<void>;
  /** Whether the note names the writers, or is about to; not so after it could not be kept. */
  isNoted: boolean;
  /** Whether the note is going, for all is committed; a write that begins brings it back. */
  isClosing: boolean;
  notedMs: number;
  beats: number;
  failures: number;
  /** Not before this time, after a failure. */
  retryMs: number;
}

export class AutoCommit {
  readonly #options: AutoCommitOptions;
  readonly #notes: CommitNotes | undefined;
  readonly #pending = new Map<string, Pending>();
  readonly #others = new Map<string, { readonly beats: number; readonly sinceMs: number }>();
  #lookedMs: number;

  constructor(options: AutoCommitOptions) {
    this.#options = options;
    this.#notes = options.store.commitNotes;
    this.#lookedMs = options.clock.now();
  }

  /** Called before a write; returns what is to be called when it has ended, however it did. */
  async begin({ repository, branch }: WrittenBranch, user: string): Promise<() => void> {
    const key = `${repository}/${branch}`;
    let pending = this.#pending.get(key);
    if (!pending) this.#pending.set(key, pending = this.#newPending({ repository, branch }));
    const isNoted = pending.isNoted && pending.writers.at(-1) === user && !pending.isClosing;
    if (!isNoted) {
      pending.isClosing = false;
      pending.isNoted = true;
      pending.writers = [...pending.writers.filter((one) => one !== user), user].slice(-MOST_WRITERS);
      pending.noted = pending.noted.catch(() => {}).then(() => this.#note(pending));
    }
    pending.open++;
    this.#changed(pending);
    try {
      await pending.noted;
    } catch (error) {
      // What others wrote before is still to be committed.
      pending.open--;
      pending.isNoted = false;
      throw error;
    }
    return () => {
      pending.open--;
      this.#changed(pending);
    };
  }

  /** Commits what servers left that are gone; never fails. */
  async takeOver(): Promise<void> {
    for (const note of await this.#allNotes()) await this.#adopt(note);
  }

  /** Commits what is due. Called every second or so; never fails. */
  async tick(): Promise<void> {
    const now = this.#options.clock.now();
    for (const [key, pending] of [...this.#pending]) {
      if (this.#isDue(pending, now)) await this.#commit(key, pending);
      else if (now - pending.notedMs >= BEAT_MS) await this.#beat(pending);
    }
    if (now - this.#lookedMs >= LOOK_MS) {
      this.#lookedMs = now;
      await this.#lookAtOthers(now);
    }
  }

  /** Commits all that is pending: the server stops. */
  async finish(): Promise<void> {
    for (const [key, pending] of [...this.#pending]) await this.#commit(key, pending);
  }

  #newPending(branch: WrittenBranch): Pending {
    const now = this.#options.clock.now();
    return {
      ...branch,
      writers: [],
      open: 0,
      changes: 0,
      firstMs: now,
      lastMs: now,
      noted: Promise.resolve(),
      isNoted: false,
      isClosing: false,
      notedMs: now,
      beats: 0,
      failures: 0,
      retryMs: 0,
    };
  }

  #changed(pending: Pending): void {
    pending.changes++;
    pending.lastMs = this.#options.clock.now();
  }

  #isDue({ firstMs, lastMs, retryMs }: Pending, now: number): boolean {
    const { when, seconds } = this.#options.settings;
    return now >= retryMs && now - (when === "idle" ? lastMs : firstMs) >= seconds * 1000;
  }

  async #note(pending: Pending): Promise<void> {
    const { repository, branch, writers } = pending;
    pending.notedMs = this.#options.clock.now();
    const { server } = this.#options;
    await this.#notes?.put({ repository, branch, server, writers, beats: pending.beats++ });
  }

  async #beat(pending: Pending): Promise<void> {
    try {
      await this.#note(pending);
    } catch (error) {
      this.#warn("a note of a commit cannot be kept", pending, error);
    }
  }

  async #commit(key: string, pending: Pending): Promise<void> {
    const seen = pending.changes;
    const wasOpen = pending.open > 0;
    try {
      await this.#commitBranch(pending, pending.writers);
      if (wasOpen || pending.changes !== seen) {
        // What was on its way may have come too late: it is in the next commit.
        pending.firstMs = pending.lastMs = this.#options.clock.now();
        return;
      }
      pending.isClosing = true;
      await (pending.noted = this.#forget(pending));
      if (pending.isClosing) this.#pending.delete(key);
    } catch (error) {
      const waitMs = Math.min(LONGEST_WAIT_MS, 1000 * 2 ** Math.min(pending.failures++, 20));
      pending.retryMs = this.#options.clock.now() + waitMs;
      this.#warn("a branch cannot be committed", pending, error);
    }
  }

  /** A note that stays is no harm: whoever takes it over finds nothing to commit. */
  async #forget(branch: WrittenBranch): Promise<void> {
    try {
      await this.#notes?.remove({ ...branch, server: this.#options.server });
    } catch (error) {
      this.#warn("a note of a commit cannot be removed", branch, error);
    }
  }

  /** Commits a branch, if there is anything to commit. What is gone needs no commit. */
  async #commitBranch({ repository, branch }: WrittenBranch, writers: readonly string[]): Promise<void> {
    const { store, settings, log } = this.#options;
    const committer = writers.at(-1) ?? "s3";
    try {
      const { id } = await store.commit(repository, branch, {
        message: "Written through S3",
        committer,
        metadata: {
          "s3-auto-commit": `${settings.when} ${settings.seconds}`,
          ...(writers.length > 1 ? { "s3-writers": writers.join(", ") } : {}),
        },
      });
      log.info("committed what was written through S3", { repository, branch, commit: id, user: committer });
    } catch (error) {
      if (!isCoded(error, "no_changes", "branch_not_found", "repository_not_found", "not_a_branch")) {
        throw error;
      }
    }
  }

  /** Takes over the notes that stayed the same for longer than their servers would let them. */
  async #lookAtOthers(now: number): Promise<void> {
    const seen = new Set<string>();
    for (const note of await this.#allNotes()) {
      if (note.server === this.#options.server) continue;
      const key = `${note.server}/${note.repository}/${note.branch}`;
      seen.add(key);
      const before = this.#others.get(key);
      if (before?.beats !== note.beats) this.#others.set(key, { beats: note.beats, sinceMs: now });
      else if (now - before.sinceMs >= 2 * LOOK_MS) await this.#adopt(note);
    }
    for (const key of this.#others.keys()) if (!seen.has(key)) this.#others.delete(key);
  }

  async #allNotes(): Promise<readonly CommitNote[]> {
    try {
      return await this.#notes?.all() ?? [];
    } catch (error) {
      this.#options.log.warn("notes of commits cannot be read", { error: String(error) });
      return [];
    }
  }

  async #adopt(note: CommitNote): Promise<void> {
    try {
      await this.#commitBranch(note, note.writers);
      await this.#notes?.remove(note);
    } catch (error) {
      this.#warn("a branch that another server left cannot be committed", note, error);
    }
  }

  #warn(message: string, { repository, branch }: WrittenBranch, error: unknown): void {
    this.#options.log.warn(message, { repository, branch, error: String(error) });
  }
}
