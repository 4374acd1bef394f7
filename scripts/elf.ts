/**
 * Takes what only debuggers read out of a shared library of Linux (ELF, 64 bit, little-endian): the section headers, and
 * all that lies behind the last segment that is loaded. LMDB's native part becomes a fifth of its size, and it is read
 * and compared at every start.
 */

const PROGRAM_HEADERS_AT = 0x20;
const SECTION_HEADERS_AT = 0x28;
const PROGRAM_HEADER_SIZE_AT = 0x36;
const PROGRAM_HEADER_COUNT_AT = 0x38;
const SECTION_HEADER_COUNT_AT = 0x3c;
const SECTION_NAMES_AT = 0x3e;

/** Returns the library without its debugging information; anything that is no such library comes back as it is. */
export function withoutDebugging(library: Uint8Array): Uint8Array {
  if (!isElf(library)) return library;
  const view = new DataView(library.buffer, library.byteOffset, library.byteLength);
  const end = endOfSegments(view);
  const out = library.slice(0, end);
  const header = new DataView(out.buffer);
  header.setBigUint64(SECTION_HEADERS_AT, 0n, true);
  header.setUint16(SECTION_HEADER_COUNT_AT, 0, true);
  header.setUint16(SECTION_NAMES_AT, 0, true);
  return out;
}

/** Returns whether the bytes are a file of Linux's format for programs and libraries, of 64 bits and little-endian. */
export function isElf(bytes: Uint8Array): boolean {
  const isMarked = bytes[0] === 0x7f && bytes[1] === 0x45 && bytes[2] === 0x4c && bytes[3] === 0x46;
  return bytes.length > 64 && isMarked && bytes[4] === 2 && bytes[5] === 1;
}

/** Each program header has the segment's offset at byte 8 and its size in the file at byte 32. */
function endOfSegments(view: DataView): number {
  const first = Number(view.getBigUint64(PROGRAM_HEADERS_AT, true));
  const size = view.getUint16(PROGRAM_HEADER_SIZE_AT, true);
  const count = view.getUint16(PROGRAM_HEADER_COUNT_AT, true);
  let end = first + size * count;
  for (let i = 0; i < count; i++) {
    const header = first + i * size;
    const segmentEnd = view.getBigUint64(header + 8, true) + view.getBigUint64(header + 32, true);
    end = Math.max(end, Number(segmentEnd));
  }
  return end;
}
