/** Objects: what values mean. Entries, identities, addresses, and the bytes behind them. */

export { newAddress, newId } from "./address.ts";
export { downloadObject } from "./download.ts";
export {
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
export { TypedStream } from "./typed_stream.ts";
export { uploadObject, uploadObjects, type UploadOptions } from "./upload.ts";
export { checkObjectMetadata, pathKey } from "./path.ts";
