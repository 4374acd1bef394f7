/**
 * How many cells of a terminal a text takes.
 *
 * Letters of Latin, Arabic, Hebrew and most other scripts take one cell, those of Chinese, Japanese and Korean and most
 * emoji two, marks that stand on the letter before them none. Terminals differ on some emoji that are joined of several;
 * they are counted as the one picture that most show.
 */

const PLAIN = /^[\x20-\x7e]*$/;

/** A letter with its marks, a flag, or emoji that are joined into one. */
const CLUSTER =
  /\p{Regional_Indicator}\p{Regional_Indicator}|\p{Emoji}(?:\p{Emoji_Modifier}|\ufe0f\u20e3?)?(?:[\u{e0020}-\u{e007f}]|\u200d\p{Emoji}(?:\p{Emoji_Modifier}|\ufe0f)?)*[\p{Mn}\p{Me}\p{Cf}]*|.[\p{Mn}\p{Me}\p{Cf}]*/gsu;

const NO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}\u1160-\u11ff]/u;
const EMOJI = /^\p{Emoji_Presentation}|^\p{Emoji}\ufe0f|^\p{Regional_Indicator}\p{Regional_Indicator}/u;

/** What Unicode calls wide or full-width, apart from emoji: first and last of each range, some with gaps in them. */
const WIDE =
  /^[\u1100-\u115f\u2329\u232a\u2630-\u2637\u268a-\u268f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2fb}\u{1d300}-\u{1d376}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]/u;

/** Returns the cells that a text without control characters takes. */
export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const [cluster] of text.matchAll(CLUSTER)) width += clusterWidth(cluster);
  return width;
}

function clusterWidth(cluster: string): number {
  if (EMOJI.test(cluster) || WIDE.test(cluster)) return 2;
  return NO_WIDTH.test(cluster) ? 0 : 1;
}

/** Returns a text filled with spaces to a width; `start` has them before it. */
export function padToWidth(text: string, width: number, side: "start" | "end" = "end"): string {
  const spaces = " ".repeat(Math.max(0, width - displayWidth(text)));
  return side === "start" ? spaces + text : text + spaces;
}

/** Returns a text that takes at most `width` cells: one that is longer is cut and ends in "…". */
export function cutToWidth(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let kept = "", left = width - 1;
  for (const [cluster] of text.matchAll(CLUSTER)) {
    left -= clusterWidth(cluster);
    if (left < 0) break;
    kept += cluster;
  }
  return width < 1 ? "" : `${kept}…`;
}
