/**
 * Drawn maps of lakes: a PNG of one byte a pixel, whose colours tell depth.
 *
 * A PNG is its signature and then chunks: length, type, content, and the CRC-32 of type and content.
 */

import { crc32, deflateSync } from "node:zlib";
import { concatBytes, utf8 } from "../../base/bytes.ts";
import type { Randomness } from "../../base/randomness.ts";

const WIDTH = 320, HEIGHT = 240;
const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
/** One hollow of the ground: where, how wide, how deep. */
type Hollow = readonly [x: number, y: number, radius: number, depth: number];

/** Returns a picture of a lake that nobody has seen before. */
export function lakePicture(randomness: Randomness): Uint8Array {
  const hollows = Array.from({ length: 7 }, (): Hollow => [
    WIDTH * (0.2 + 0.6 * randomness.fraction()),
    HEIGHT * (0.2 + 0.6 * randomness.fraction()),
    20 + 50 * randomness.fraction(),
    0.3 + 0.7 * randomness.fraction(),
  ]);
  // Each line begins with its filter: none.
  const lines = new Uint8Array((WIDTH + 1) * HEIGHT);
  for (let y = 0; y < HEIGHT; y++) {
    for (let x = 0; x < WIDTH; x++) lines[y * (WIDTH + 1) + 1 + x] = colourAt(hollows, x, y);
  }
  return concatBytes(
    SIGNATURE,
    chunk("IHDR", header()),
    chunk("PLTE", palette()),
    chunk("IDAT", deflateSync(lines)),
    chunk("IEND", new Uint8Array()),
  );
}

/** Returns an index of the palette: land below 128, water from there. */
function colourAt(hollows: readonly Hollow[], x: number, y: number): number {
  let depth = 0;
  for (const [cx, cy, radius, deep] of hollows) {
    depth += deep * Math.exp(-((x - cx) ** 2 + (y - cy) ** 2) / (2 * radius * radius));
  }
  return Math.min(255, Math.floor(128 * depth / 0.8));
}

function header(): Uint8Array {
  const bytes = new Uint8Array(13);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, WIDTH);
  view.setUint32(4, HEIGHT);
  // Eight bits a pixel, each an index of the palette.
  bytes.set([8, 3, 0, 0, 0], 8);
  return bytes;
}

function palette(): Uint8Array {
  const colours = new Uint8Array(3 * 256);
  for (let i = 0; i < 128; i++) colours.set([210 - i, 200 - (i >> 1), 150 - (i >> 1)], 3 * i);
  for (let i = 128; i < 256; i++) {
    colours.set([(255 - i) >> 1, 330 - i, 400 - i].map((c) => Math.min(c, 255)), 3 * i);
  }
  return colours;
}

function chunk(type: string, content: Uint8Array): Uint8Array {
  const named = concatBytes(utf8(type), content);
  const around = new DataView(new ArrayBuffer(8));
  around.setUint32(0, content.length);
  around.setUint32(4, crc32(named));
  return concatBytes(new Uint8Array(around.buffer, 0, 4), named, new Uint8Array(around.buffer, 4, 4));
}
