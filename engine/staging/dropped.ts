/**
 * Staging tokens that a commit or reset has dropped from a branch.
 *
 * A reader may still be on its way through one, so its records stay for longer than reads take; then a later commit
 * deletes them. Kept as `dropped/<time>/<token>` in the repository's partition.
 *
 * How long that is no clock can be trusted with: it may be set a year forward, two machines' clocks differ, and a laptop's
 * stands still while it sleeps. So the delay only makes it rare that a reader is overtaken. That none is wrong then is for
 * {@link DroppedTokens}: whoever deletes says so first, in the value, and readers look after they have read.
 *
 *     value = token     its records are whole
 *     value is empty    they are being deleted
 *     no such key       they are gone, or the token has only just been dropped
 */

import { equalBytes, lossyText, utf8 } from "../../base/bytes.ts";
import type { Clock } from "../../base/clock.ts";
import type { Randomness } from "../../base/randomness.ts";
import type { KvEntry, KvStore } from "../../kv/store.ts";

const PREFIX = "dropped/";
/** Of the time in a key. */
const TIME_DIGITS = 15;
const BEING_DELETED = utf8("");
/** Bounds the clean-up that one commit does for its forerunners: pages of records. */
const MAX_PAGES_A_TURN = 2;
/** How often a reader looks for a token that whoever dropped it has yet to record, and how long it waits at most between. */
const MAX_LOOKS = 20;
const MAX_WAIT_MS = 20;

/** How long the records of a dropped token stay, if the clock is right. */
export const KEEP_MS = 11 * 60 * 1000;

/** Remembers tokens that no branch lists any more. */
export async function recordDropped(
  kv: KvStore,
  partition: Uint8Array,
  { tokens, clock }: { tokens: readonly string[]; clock: Clock },
): Promise<void> {
  if (tokens.length > 0) await kv.setMany(partition, droppedEntries(tokens, clock));
}

/** Returns what {@link recordDropped} writes, for who writes it with the change that drops the tokens. */
export function droppedEntries(tokens: readonly string[], clock: Clock): KvEntry[] {
  const time = String(Math.floor(clock.now())).padStart(TIME_DIGITS, "0");
  return tokens.map((token) => ({ key: utf8(`${PREFIX}${time}/${token}`), value: utf8(token) }));
}

/** Deletes some records of tokens that were dropped long enough ago; what is left is for later commits. */
export async function cleanDropped(kv: KvStore, partition: Uint8Array, clock: Clock): Promise<void> {
  let pagesLeft = MAX_PAGES_A_TURN;
  for await (const page of kv.scan(partition, { prefix: utf8(PREFIX), pageSize: MAX_PAGES_A_TURN })) {
    for (const { key, value } of page) {
      const { time, token } = partsOf(key);
      if (time + KEEP_MS > clock.now()) return;
      if (value.length > 0) await kv.set(partition, key, BEING_DELETED);
      pagesLeft = await deleteRecords(kv, utf8(token), pagesLeft);
      if (pagesLeft === 0) return;
      await kv.delete(partition, key);
    }
  }
}

/** Deletes pages of a token's records while any may be; returns how many may still be: 0 when records may be left. */
async function deleteRecords(kv: KvStore, token: Uint8Array, pagesLeft: number): Promise<number> {
  for await (const page of kv.scan(token)) {
    if (pagesLeft === 0) return 0;
    await kv.deleteMany(token, page.map(({ key }) => key));
    pagesLeft--;
  }
  return pagesLeft;
}

function partsOf(key: Uint8Array): { time: number; token: string } {
  const text = lossyText(key).slice(PREFIX.length);
  return { time: Number(text.slice(0, TIME_DIGITS)), token: text.slice(TIME_DIGITS + 1) };
}

export interface DroppedTokensOptions {
  readonly kv: KvStore;
  readonly partition: Uint8Array;
  readonly clock: Clock;
  readonly randomness: Randomness;
}

/** What one reader knows of tokens that were dropped while it reads. */
export class DroppedTokens {
  readonly #options: DroppedTokensOptions;
  readonly #keys = new Map<string, Uint8Array>();

  constructor(options: DroppedTokensOptions) {
    this.#options = options;
  }

  /**
   * Returns whether all records of tokens, which no branch lists any more, are there: then what was read of them before is
   * whole. Answers no when it cannot be known.
   */
  async areWhole(tokens: readonly string[]): Promise<boolean> {
    const { kv, partition } = this.#options;
    if (!(await this.#findKeys(tokens))) return false;
    for (const token of tokens) {
      const found = await kv.get(partition, this.#keys.get(token)!);
      if (!found || !equalBytes(found.value, utf8(token))) return false;
    }
    return true;
  }

  /** Finds where tokens are recorded; a commit that has just dropped them is about to do it. */
  async #findKeys(tokens: readonly string[]): Promise<boolean> {
    const { kv, partition, clock, randomness } = this.#options;
    for (let look = 0; look < MAX_LOOKS; look++) {
      const missing = new Set(tokens.filter((token) => !this.#keys.has(token)));
      if (missing.size === 0) return true;
      if (look > 0) await clock.sleep(randomness.fraction() * MAX_WAIT_MS);
      for await (const page of kv.scan(partition, { prefix: utf8(PREFIX) })) {
        for (const { key } of page) {
          const { token } = partsOf(key);
          if (missing.has(token)) this.#keys.set(token, key);
        }
      }
    }
    return false;
  }
}
