/**
 * Which lines of two texts differ: Myers' algorithm in linear space.
 *
 * An edit graph has a column for each line of one text and a row for each of the other. A path from corner to corner goes
 * right (a line is removed), down (one is added), or diagonally where lines are equal (it is kept). The path with the
 * fewest steps right and down is looked for from both corners at once; where the two searches meet, the problem is cut in
 * two.
 *
 *         a b c
 *       c . . \        \  equal lines
 *       a \ . .
 *       b . \ .
 *
 * Lines that the other text does not have at all are set aside first: they are changed in any case. Texts that have little
 * in common would still take the product of their lengths, so a search that has gone on for long takes the best cut so far.
 */

/** Steps right and down from each corner after which a search takes what it has. */
const MAX_STEPS = 500;

/** For each line of both texts whether it is changed: 1, or 0 when it is kept. */
export interface LineChanges {
  readonly removed: Uint8Array;
  readonly added: Uint8Array;
}

/** Compares two lists of lines. */
export function diffLines(older: readonly string[], newer: readonly string[]): LineChanges {
  const numbers = new Map<string, number>();
  const number = (line: string) => {
    const known = numbers.get(line);
    if (known !== undefined) return known;
    numbers.set(line, numbers.size);
    return numbers.size - 1;
  };
  const left = older.map(number), right = newer.map(number);
  const removed = new Uint8Array(left.length).fill(1), added = new Uint8Array(right.length).fill(1);
  const a = new Side(left, new Set(right), removed), b = new Side(right, new Set(left), added);
  new Comparison(a, b).run();
  return { removed, added };
}

/** The lines of one text that the other has, too, and where they stand in it. */
class Side {
  readonly lines: Int32Array;
  readonly #places: Int32Array;
  readonly #changed: Uint8Array;

  constructor(all: readonly number[], others: ReadonlySet<number>, changed: Uint8Array) {
    const places: number[] = [];
    for (const [place, line] of all.entries()) if (others.has(line)) places.push(place);
    this.#places = Int32Array.from(places);
    this.lines = this.#places.map((place) => all[place]!);
    this.#changed = changed;
  }

  keep(at: number): void {
    this.#changed[this.#places[at]!] = 0;
  }
}

/** A part of the edit graph. */
interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

class Comparison {
  readonly #a: Side;
  readonly #b: Side;
  /** The furthest column reached on each diagonal, from the start and from the end. */
  readonly #forward: Int32Array;
  readonly #backward: Int32Array;
  /** What makes the number of a diagonal (column - row) an index. */
  readonly #shift: number;

  constructor(a: Side, b: Side) {
    this.#a = a;
    this.#b = b;
    this.#shift = b.lines.length + 1;
    this.#forward = new Int32Array(a.lines.length + b.lines.length + 3);
    this.#backward = new Int32Array(a.lines.length + b.lines.length + 3);
  }

  run(): void {
    const boxes: Box[] = [{ left: 0, right: this.#a.lines.length, top: 0, bottom: this.#b.lines.length }];
    for (let box = boxes.pop(); box; box = boxes.pop()) {
      const inner = this.#trim(box);
      if (inner.left === inner.right || inner.top === inner.bottom) continue;
      const [x, y] = this.#middle(inner);
      boxes.push({ ...inner, right: x, bottom: y }, { ...inner, left: x, top: y });
    }
  }

  /** Keeps what both texts begin and end with. */
  #trim({ left, right, top, bottom }: Box): Box {
    const a = this.#a.lines, b = this.#b.lines;
    while (left < right && top < bottom && a[left] === b[top]) this.#keep(left++, top++);
    while (left < right && top < bottom && a[right - 1] === b[bottom - 1]) this.#keep(--right, --bottom);
    return { left, right, top, bottom };
  }

  #keep(x: number, y: number): void {
    this.#a.keep(x);
    this.#b.keep(y);
  }

  /** Returns a point on a shortest path, or on a good one; never a corner at which the path begins or ends. */
  #middle(box: Box): Point {
    const forward = new Front(box.left - box.top, box), backward = new Front(box.right - box.bottom, box);
    const shift = this.#shift;
    const isOdd = ((forward.first - backward.first) & 1) !== 0;
    this.#forward[shift + forward.first] = box.left;
    this.#backward[shift + backward.first] = box.right;
    for (let steps = 1;; steps++) {
      forward.widen(this.#forward, shift, NOWHERE_FORWARD);
      for (let k = forward.high; k >= forward.low; k -= 2) {
        const x = this.#goForward(k, box);
        if (isOdd && backward.has(k) && this.#backward[shift + k]! <= x) return [x, x - k];
      }
      backward.widen(this.#backward, shift, NOWHERE_BACKWARD);
      for (let k = backward.high; k >= backward.low; k -= 2) {
        const x = this.#goBackward(k, box);
        if (!isOdd && forward.has(k) && x <= this.#forward[shift + k]!) return [x, x - k];
      }
      if (steps >= MAX_STEPS) return this.#furthest(box, forward);
    }
  }

  /** Takes a step onto a diagonal, then goes along it as far as lines are equal; returns the column. */
  #goForward(k: number, { right, bottom }: Box): number {
    const a = this.#a.lines, b = this.#b.lines, reached = this.#forward, at = this.#shift + k;
    let x = Math.max(reached[at - 1]! + 1, reached[at + 1]!);
    while (x < right && x - k < bottom && a[x] === b[x - k]) x++;
    return reached[at] = x;
  }

  #goBackward(k: number, { left, top }: Box): number {
    const a = this.#a.lines, b = this.#b.lines, reached = this.#backward, at = this.#shift + k;
    let x = Math.min(reached[at - 1]!, reached[at + 1]! - 1);
    while (x > left && x - k > top && a[x - 1] === b[x - k - 1]) x--;
    return reached[at] = x;
  }

  /** Returns the point that the search from the start has come to with most lines behind it. */
  #furthest({ left, right, top, bottom }: Box, forward: Front): Point {
    let best: Point = [left, top];
    for (let k = forward.high; k >= forward.low; k -= 2) {
      const x = Math.min(this.#forward[this.#shift + k]!, right, bottom + k);
      if (x + x - k > best[0] + best[1]) best = [x, x - k];
    }
    return best;
  }
}

type Point = readonly [x: number, y: number];

const NOWHERE_FORWARD = -2;
const NOWHERE_BACKWARD = 2 ** 31 - 1;

/** The diagonals that a search has reached: every second one from `low` to `high`, within those of its box. */
class Front {
  readonly first: number;
  low: number;
  high: number;
  readonly #least: number;
  readonly #most: number;

  constructor(first: number, { left, right, top, bottom }: Box) {
    this.first = first;
    this.low = first;
    this.high = first;
    this.#least = left - bottom;
    this.#most = right - top;
  }

  /** Takes a diagonal more on both sides; at an edge of the box, one less, since steps go to the neighbours. */
  widen(reached: Int32Array, shift: number, nowhere: number): void {
    if (this.low > this.#least) reached[shift + --this.low - 1] = nowhere;
    else this.low++;
    if (this.high < this.#most) reached[shift + ++this.high + 1] = nowhere;
    else this.high--;
  }

  has(k: number): boolean {
    return k >= this.low && k <= this.high;
  }
}
