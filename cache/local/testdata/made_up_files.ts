/** Files whose text tells whether it is whole. */

/** Returns files of a version, sorted by path; some are the same in every version, and some are in only one. */
export function madeUpFiles(version: string, count: number): Record<string, string> {
  const files: Record<string, string> = {};
  for (let i = 0; i < count; i++) {
    const name = `d${i % 5}/f${String(i).padStart(4, "0")}`;
    files[i % 10 === 3 ? `${name}.${version}` : name] = madeUpText(i % 3 === 0 ? "any" : version, i);
  }
  return Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function madeUpText(version: string, i: number): string {
  return `[${version} ${i} ${"x".repeat((i * 37) % 5000)}]`;
}

/** Whether a text is one that a file was made up of, from its beginning to its end. */
export function isWhole(text: string): boolean {
  const match = /^\[(\w+) (\d+) (x*)\]$/.exec(text);
  return match !== null && match[3]!.length === (Number(match[2]) * 37) % 5000;
}
