/** Objects: what values mean. Entries, identities, addresses, and the bytes behind them. */

export { isOwnAddress, millisecondsOfId, newAddress, newId, newIdAfter } from "./address.ts";
export { CheckedFiles } from "./checked_files.ts";
export { addressKey, downloadObject } from "./download.ts";
export {
  type AddressType,
  decodeEntry,
  DEFAULT_CONTENT_TYPE,
  encodeEntry,
  type Entry,
  entryIdentity,
  entryRecord,
  entryWeight,
  sameContent,
} from "./entry.ts";
export { EntryReader } from "./entry_reader.ts";
export { LateFlush } from "./late_flush.ts";
export { flushNamed } from "./named.ts";
export { TypedStream } from "./typed_stream.ts";
export { uploadObject, uploadObjects, type UploadOptions } from "./upload.ts";
export { pathKey } from "./path.ts";
export { ReadyAddresses } from "./ready_address.ts";
