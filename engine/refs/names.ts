/** Names of repositories, branches and tags: which are allowed, and which two are too alike to stand side by side. */

import { isWellFormed, utf8 } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";

const MAX_REF_NAME_BYTES = 255;

/** Returns the name if it is a repository's. Fails with `invalid_repository_name`. */
export function checkRepositoryName(name: string): string {
  if (/^[a-z0-9][a-z0-9-]{2,62}$/.test(name)) return name;
  throw new CodedError(
    "invalid",
    "invalid_repository_name",
    `Cannot use "${name}" as a repository name: it must be 3 to 63 lower-case letters, digits and "-", ` +
      `beginning with a letter or digit`,
    { details: { name } },
  );
}

/** Returns the name if a branch may have it. Fails with `invalid_branch_name`. */
export function checkBranchName(name: string): string {
  const why = /^[A-Za-z0-9_][A-Za-z0-9_./-]*$/.test(name)
    ? refNameFault(name)
    : `it must be letters, digits, "_", ".", "/" and "-", beginning with a letter, digit or "_"`;
  if (why) refuse("branch", name, why);
  return name;
}

/** Returns the name if a tag may have it. Fails with `invalid_tag_name`. */
export function checkTagName(name: string): string {
  const why = refNameFault(name);
  if (why) refuse("tag", name, why);
  return name;
}

/** Returns what two names share that a case-insensitive or Unicode-normalizing disk would take for one. */
export function foldName(name: string): string {
  // Upper case first: it takes "ß" for "SS", as disks that fold case may.
  return name.normalize("NFC").toUpperCase().toLowerCase().normalize("NFC");
}

/** Returns why git, or our ref expressions, could not take a name; `undefined` when they can. */
function refNameFault(name: string): string | undefined {
  if (name === "") return "it is empty";
  if (!isWellFormed(name) || utf8(name).length > MAX_REF_NAME_BYTES) {
    return `it must be valid text of at most ${MAX_REF_NAME_BYTES} bytes`;
  }
  const bad = /[\u0000- \u007f~^:?*[\\@$%]/.exec(name);
  if (bad) return `it contains ${JSON.stringify(bad[0])}`;
  if (name.startsWith("-")) return `it begins with "-"`;
  if (name.includes("..")) return `it contains ".."`;
  if (name.endsWith(".")) return `it ends with "."`;
  for (const part of name.split("/")) {
    if (part === "") return `it begins or ends with "/", or contains "//"`;
    if (part.startsWith(".")) return `a part of it begins with "."`;
    if (part.endsWith(".lock")) return `a part of it ends with ".lock"`;
  }
  if (/^[0-9a-fA-F]{64}$/.test(name)) return "it reads as a commit ID";
  return undefined;
}

function refuse(kind: "branch" | "tag", name: string, why: string): never {
  throw new CodedError("invalid", `invalid_${kind}_name`, `Cannot use "${name}" as a ${kind} name: ${why}`, {
    details: { name },
  });
}
