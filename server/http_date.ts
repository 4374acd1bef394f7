/** Times as HTTP writes them. */

let lastSecond = NaN;
let lastText = "";

/** Returns a time of milliseconds since the epoch as a header has it. Objects that came together have the same one. */
export function httpDate(ms: number): string {
  const second = Math.floor(ms / 1000);
  if (second !== lastSecond) {
    lastText = new Date(second * 1000).toUTCString();
    lastSecond = second;
  }
  return lastText;
}
