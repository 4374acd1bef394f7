/** Folders of keys: prefixes that end in a slash. */

/** Returns what all keys in the folder of a URI's key begin with; nothing for a whole version. */
export function folderPrefix(key: string | undefined): string {
  return key === undefined || key.endsWith("/") ? key ?? "" : `${key}/`;
}
