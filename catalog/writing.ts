/** What may be written to: branches, and what has no versions. What is fixed cannot change. */

import { CodedError } from "../base/errors.ts";
import { formatUri, type Selector, selectorText, type Uri } from "../base/uri.ts";
import type { Resolution } from "./resolver/mod.ts";

/** The metadata key in which a commit keeps the logical URI that it was made through. */
export const URI_KEY = "provcat.uri";

/** Fails with `not_a_branch` unless a URI leads to a branch, or to what has no versions. */
export function checkWritable({ uri, logical }: Resolution): void {
  if (logical?.uri.at?.kind === "stage") {
    refuse(logical.uri, `a stage is moved in the configuration; write to the branch itself`);
  }
  if (logical) checkSelector(logical.uri, logical.uri.at);
  // The target of a scheme or an entry may name a version, too.
  checkSelector(logical?.uri ?? uri, uri.at);
}

/** As {@link checkWritable}, of a physical URI that a hook may have put there. */
export function checkWritablePlace(uri: Uri): void {
  checkSelector(uri, uri.at);
}

function checkSelector(shown: Uri, at: Selector | undefined): void {
  if (!at || at.kind === "branch") return;
  refuse(shown, `"${selectorText(at)}" names a fixed version, which cannot change; write to a branch`);
}

function refuse(uri: Uri, why: string): never {
  const text = formatUri(uri);
  throw new CodedError("invalid", "not_a_branch", `Cannot change "${text}": ${why}`, {
    details: { uri: text },
  });
}

/** Returns the metadata of a commit; through a logical URI it keeps that. */
export function commitMetadata(
  given: Readonly<Record<string, string>> | undefined,
  logical: string | undefined,
): Readonly<Record<string, string>> {
  return logical === undefined ? { ...given } : { ...given, [URI_KEY]: logical };
}

/** Fails with `invalid_metadata` where a caller sets what the catalog sets. */
export function checkMetadata(
  given: Readonly<Record<string, string>> | undefined,
  { logical }: Resolution,
): void {
  if (!logical || !given || !Object.hasOwn(given, URI_KEY)) return;
  throw new CodedError(
    "invalid",
    "invalid_metadata",
    `Cannot set the metadata "${URI_KEY}": it says through which logical URI a commit was made`,
  );
}
