/** Limits that hold everywhere. What goes beyond one is refused with the limit named. */

export const MAX_PARTITION_BYTES = 255;
export const MAX_KEY_BYTES = 1024;
export const MAX_VALUE_BYTES = 256 * 1024;
export const MAX_COMMIT_TEXT_BYTES = 128 * 1024;
export const MAX_OBJECT_METADATA_BYTES = 64 * 1024;
/** Bounds on what a table file may make a reader allocate. */
export const MAX_BLOCK_BYTES = 64 * 1024 * 1024;
export const MAX_TABLE_KEY_BYTES = 64 * 1024;
