/** What all separators of an index begin with. */

import { EMPTY_BYTES } from "../../base/bytes.ts";
import { type Block, BlockCursor } from "./block.ts";

/** Returns what the keys of index blocks begin with, if they ascend and all are whole: what the first and the last do. */
export function commonPrefix(blocks: readonly Block[]): Uint8Array {
  if (blocks.length === 0) return EMPTY_BYTES;
  const first = new BlockCursor(blocks[0]!), last = new BlockCursor(blocks[blocks.length - 1]!);
  last.toLastRestart();
  if (!first.next() || !last.next()) return EMPTY_BYTES;
  const most = Math.min(first.userKeyLength, last.userKeyLength);
  let length = 0;
  while (
    length < most &&
    first.block.bytes[first.restStart + length] === last.block.bytes[last.restStart + length]
  ) length++;
  return first.block.bytes.slice(first.restStart, first.restStart + length);
}
