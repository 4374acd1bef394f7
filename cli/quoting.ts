/** Arguments as a shell takes them: what a hint says is pasted as it is. */

/** Returns an argument as a shell takes it. */
export function quoted(argument: string): string {
  return /^[A-Za-z0-9_@%+=:,./~-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`;
}
