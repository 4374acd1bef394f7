/** The way out of an error, by its code: what a person can do next. */

import type { CodedError, ErrorDetails } from "../base/errors.ts";
import { quoted } from "./quoting.ts";

/** `verb` is the one that failed, where that is known. */
type Hint = string | ((details: ErrorDetails, verb?: string) => string | undefined);

const seeHelp: Hint = (_, verb) =>
  verb === undefined ? '"tarn help" lists the verbs.' : `"tarn help ${verb}" shows the forms that it takes.`;

/** Verbs that take everything in a folder with -r, and nothing without. */
const FOLDER_VERBS: readonly (string | undefined)[] = ["get", "rm", "cp", "mv"];

const HINTS: Readonly<Record<string, Hint>> = {
  ambiguous_ref: "Write more digits of the commit ID.",
  branch_dirty: ({ verb }) =>
    `Commit what is staged there (tarn commit), or drop it (tarn reset)${
      verb === "merge" ? "; --keep-staged lets it stay where the merge does not meet it" : ""
    }.`,
  branch_not_found: otherKindOr("branch"),
  branch_protected: "Work on another branch and merge it; the rules are changed through the server's API.",
  checksum_mismatch:
    "The stored bytes are damaged; an older version of the object may still be whole (tarn log URI).",
  command_failed: "It must exit with 0 for good, 125 when it cannot tell, and up to 124 for bad.",
  cannot_listen: "Name another address with --listen HOST:PORT; port 0 takes a free one.",
  config_not_found: "Name a file that is there with --config or TARN_CONFIG, or leave both out.",
  config_of_another_user: "If you trust its owner, name it with --config or TARN_CONFIG.",
  confirmation_needed: "Add --yes if that is what you want.",
  disk_full: "Make room and run it again; nothing that was confirmed is lost.",
  driver_missing: '"tarn help uris" names the drivers that this version has.',
  empty_message: 'Add -m "…", or --allow-empty-message.',
  etcd_forbidden:
    "Without --tenant all keys under the prefix are read; a tenant's user reads that tenant's view.",
  etcd_refused: "Start etcd with a higher --max-txn-ops or --max-request-bytes.",
  file_unavailable: ifTooManyOpen,
  file_forbidden: "Check who may read or write it (ls -l).",
  file_in_the_way: ({ recursive }) => recursive === false ? "Leave out -r for a single file." : undefined,
  folder_in_the_way: ({ recursive }) => recursive === true ? "Add -r to put all its files." : undefined,
  home_exists: "Use it as it is: commands run in that folder and below find it.",
  home_forbidden: "Choose another home with --home DIR or TARN_HOME.",
  home_not_found: ({ home }) => `Check the name, or make the home: tarn init --home ${quoted(String(home))}`,
  home_of_another_user: "Choose a home of your own with --home DIR or TARN_HOME.",
  home_too_new: "Use the version of tarn that made it, or a newer one.",
  hook_failed: afterHook,
  hook_refused: afterHook,
  internal: "This is a bug in tarn. Run it again with --debug and report what it prints.",
  invalid_argument: nearOr(seeHelp),
  invalid_configuration: ({ suggestion, isCatalog }) =>
    suggestion !== undefined
      ? `Did you mean "${suggestion}"?`
      : isCatalog === true
      ? '"tarn config check" lists all that is wrong.'
      : undefined,
  invalid_etcd_address: '"tarn help config push" shows the form of an address.',
  invalid_kv_address: '"tarn help kv copy" shows the forms of an address.',
  invalid_range: "Bytes count from 0: the first hundred are 0-99.",
  invalid_uri: ({ uri, is_version: isVersion }, verb) =>
    isVersion === true
      ? FOLDER_VERBS.includes(verb) ? "Add -r to take all its objects." : '"tarn ls URI" shows its objects.'
      : typeof uri === "string"
      ? uriHint(uri)
      : undefined,
  kv_changed: "Stop whoever writes to it, and run it again: it goes on where it was.",
  kv_corrupt:
    '"tarn doctor" checks all of it. What was committed lies in the storage; restore the home\'s kv folder from a copy.',
  kv_forbidden:
    "Check who may read and write it: the home's kv folder (ls -l), or what TARN_KV or config.yaml names.",
  kv_full: "Make room on the disk of the home and run it again; nothing that was confirmed is lost.",
  kv_journal_corrupt:
    "Restore the home from a copy; or move the journal out of the home's kv folder: then what a server wrote in its last " +
    "moments is missing, if it did not end in order.",
  kv_missing:
    'Check the name that TARN_KV or the configuration gives; the first "tarn repo create" makes a store there.',
  kv_moved: "The home was moved or deleted while it was in use: run it again where it is now.",
  kv_network_file_system:
    "Choose a home on a local disk (--home, TARN_HOME), or a store made for networks (TARN_KV=postgres://…). " +
    "TARN_ALLOW_NETWORK_FILE_SYSTEM=1 opens it all the same: safe only while one machine uses it.",
  kv_no_folder:
    "A file stands where the key-value store's folder is to be: move it away, or restore the folder from a copy.",
  kv_not_empty: "Name another table, schema or folder.",
  kv_read_only:
    "Reading works here; to write, use a home (--home, TARN_HOME) or a store (TARN_KV) that can be written.",
  kv_throttled: "Run it again later; nothing that was confirmed is lost.",
  kv_too_new: "Use the version of tarn that wrote it, or a newer one.",
  kv_unauthenticated:
    "Check the user and the password, or the credentials, that the store's address or your environment names.",
  kv_unfinished: 'Run the same "tarn kv copy" again: it goes on where it was.',
  invalid_lock_file: "Make it again: tarn pin --write FILE URI…",
  lock_mismatch: "If what is there now is what you want, lock it again: tarn pin --write FILE.",
  lock_stale: "Use the configuration that it was locked with, or lock it again: tarn pin --write FILE.",
  merge_conflict: ({ verb }) =>
    verb === "merge"
      ? "--preview shows them all, --resolve PATH=source|dest|base|delete settles some, --strategy source-wins or dest-wins all."
      : "The branch has changed those paths since: --resolve PATH=source|dest|base|delete settles them.",
  no_changes: ({ verb, of }) =>
    of === "paths"
      ? '"tarn status URI" shows what is staged; a PATH that ends in / is a folder.'
      : verb === undefined
      ? "Put or remove something first, or add --allow-empty."
      : undefined,
  nothing_staged: '"tarn status URI" shows what is staged.',
  not_a_branch:
    "Changes go to a branch: write lakefs://REPO/BRANCH/KEY, or make one with tarn branch URI --from REF.",
  not_cached: "Run it once without --offline: what was fetched or pinned then is there.",
  not_a_home: ({ home }) =>
    home === undefined
      ? 'Name another folder, or an empty one, which "tarn init --home DIR" makes a home.'
      : `Its store and its storage are there; this puts the file back: tarn init --home ${
        quoted(String(home))
      }`,
  offline: "Run it without --offline, and without TARN_OFFLINE.",
  object_exists: "Use another name, or remove the object first.",
  object_not_found: (details, verb) =>
    typeof details["folder"] === "string" ? folderHint(details["folder"], verb) : nearOr(
      '"tarn ls URI" shows what is there; -r takes everything under a URI.',
    )(details, verb),
  own_storage: ({ key }) =>
    key === undefined
      ? "Name a place outside of homes, storage namespaces and caches: only tarn's own commands change what is in them."
      : "Name another folder, or add --skip-unplaceable to get the rest.",
  parent_required: "Add --parent 1 for what the commit brought to its first parent.",
  ref_not_deleted: '"tarn reflog lakefs://REPO --deleted" lists what can be restored.',
  ref_not_found: nearOr('"tarn ls lakefs://REPO" shows the branches and tags.'),
  already_set_up: '"tarn auth key NAME" makes another access key for a user.',
  secret_key_exposed:
    "Make it its owner's alone (chmod 600), and make new access keys if others may have read it.",
  secret_key_missing: "Restore the file, or name it in TARN_SECRET_KEY_FILE.",
  setup_needed: 'Make the first user with "tarn auth setup NAME".',
  repository_exists: "Choose another name, or use the one that is there.",
  repository_not_found: nearOr(
    '"tarn repo list" shows the repositories, "tarn repo create lakefs://REPO" makes one.',
  ),
  secret_in_argument: "Name a file or a variable that holds it: ?password_file=FILE or ?password_env=NAME.",
  source_changed: "Run it again when nothing writes to it.",
  stage_not_found: nearOr('"tarn config show" lists the stages.'),
  storage_forbidden:
    'Check who may read and write its folder (ls -ld); that of local://NAME is storage/NAME in the home, which "tarn doctor" tells.',
  storage_full: "Make room and run it again; nothing that was confirmed is lost.",
  storage_missing:
    "Mount its disk, or put the folder back: what was kept there is not made anew. tarn doctor shows more.",
  storage_unavailable: ifTooManyOpen,
  store_not_found: nearOr('"tarn config show" lists the stores.'),
  tag_not_found: otherKindOr("tag"),
  tenant_not_found: "Check --tenant and TARN_TENANT.",
  try_again: "Others are changing the same branch: run it again.",
  unknown_scheme: nearOr(
    '"tarn config show" lists the schemes and stores; lakefs://REPO/REF/KEY is always there.',
  ),
  untrusted_configuration: ({ isCatalog, file }) =>
    isCatalog === true
      ? `Read it, then run: tarn config trust ${quoted(String(file))}`
      : "If it is yours, name the home (--home or TARN_HOME), or the store (TARN_KV).",
  unmatched_resolution: nearOr("--preview shows the conflicts."),
  unplaceable_key: ({ single }) =>
    single === true
      ? "Name the file to write in full."
      : "Add --skip-unplaceable to get the rest, or get it alone under a name of your own.",
};

/** The codes that a way out is known for. */
export const HINTED_CODES: readonly string[] = Object.keys(HINTS);

/** Returns the way out of an error, where there is one. */
export function hintFor(error: CodedError, verb?: string): string | undefined {
  return hintText(HINTS[error.code], error.details, verb);
}

function hintText(hint: Hint | undefined, details: ErrorDetails, verb?: string): string | undefined {
  return typeof hint === "function" ? hint(details, verb) : hint;
}

function folderHint(folder: string, verb: string | undefined): string {
  return FOLDER_VERBS.includes(verb)
    ? `"${folder}" is a folder: add -r to take all that is in it.`
    : `"${folder}" is a folder: "tarn ls URI" shows what is in it.`;
}

/** What a hook says after the work may not make that look undone. */
function afterHook({ is_done: isDone, is_session_end: isSessionEnd }: ErrorDetails): string | undefined {
  if (isDone === true) return "That is done and stays so: mend the hook, and do not run this again.";
  return isSessionEnd === true ? "All else that the command does is done." : undefined;
}

/** The limit is the shell's, and often low. */
function ifTooManyOpen({ errno }: ErrorDetails): string | undefined {
  if (errno !== "EMFILE" && errno !== "ENFILE") return undefined;
  return "Raise the limit on open files (ulimit -n), or end what holds many, and run it again.";
}

/** A known name that is close to the given one says more than where to look. */
function nearOr(otherwise: Hint): Exclude<Hint, string> {
  return (details, verb) => {
    const { suggestion, encoded } = details;
    if (encoded !== undefined) return `A slash in a name is written %2F. Did you mean "${encoded}"?`;
    return suggestion === undefined ? hintText(otherwise, details, verb) : `Did you mean "${suggestion}"?`;
  };
}

/** A tag that is taken for a branch, or the other way round, is there: its verbs have another first word. */
function otherKindOr(kind: "branch" | "tag"): Hint {
  const otherwise = nearOr(
    `"tarn ${kind} list lakefs://REPO" shows the ${kind === "branch" ? "branches" : "tags"}.`,
  );
  return (details) => {
    const other = details["other_kind"];
    if (typeof other === "string") {
      return `Verbs of ${other === "tag" ? "tags" : "branches"} begin with "tarn ${other}".`;
    }
    return hintText(otherwise, details);
  };
}

/** Two slips that are easy to make: the arguments the wrong way round, and one slash. */
function uriHint(uri: string): string | undefined {
  const oneSlash = /^([a-z]+):\/?([^/].*)$/.exec(uri);
  if (oneSlash && !uri.includes("://")) return `Did you mean "${oneSlash[1]}://${oneSlash[2]}"?`;
  if (!uri.includes("://")) {
    return 'The URI comes first, and begins with lakefs:// and a repository ("tarn repo list" shows them).';
  }
  return undefined;
}
