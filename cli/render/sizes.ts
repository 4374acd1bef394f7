/** Sizes for people, in units of 1,000. */

const UNITS = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];

/** Returns a size as `0 B`, `999 B`, `916.4 kB`, `1.0 MB`. */
export function humanSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  let value = bytes;
  let unit = 0;
  // Rounding may reach 1,000.0, which is 1.0 of the next unit.
  while (unit < UNITS.length - 1 && Number(value.toFixed(1)) >= 1000 || unit === 0) {
    value /= 1000;
    unit++;
  }
  return `${value.toFixed(1)} ${UNITS[unit]}`;
}

/** Returns "1 file", "2 files", "1,234 files". */
export function counted(count: number, singular: string, plural = `${singular}s`): string {
  return `${grouped(count)} ${count === 1 ? singular : plural}`;
}

/** Returns a whole number as `1,234,567`. The runtime's own way loads its tables of languages first: a third of a second. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Returns the bytes of a size such as `512`, `10kB`, `1.5 GB`, in units of 1,000, or `4KiB`, in units of 1,024. */
export function parseSize(text: string): number | undefined {
  const match = /^(\d{1,15}(?:\.\d{1,9})?) ?(?:([kmgtpe])(i?)b?|b)?$/i.exec(text);
  if (!match) return undefined;
  const power = match[2] ? "kmgtpe".indexOf(match[2].toLowerCase()) + 1 : 0;
  return Math.round(Number(match[1]) * (match[3] ? 1024 : 1000) ** power);
}
