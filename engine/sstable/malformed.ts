/** How the codecs of this folder say that bytes do not decode. */

import { corrupt } from "../../base/errors.ts";

/** Where bytes stand, for errors. */
export interface Place {
  readonly file: string;
  readonly offset: number;
}

/** Bytes that do not decode. Codecs throw it because they know neither the file nor the place in it. */
export class MalformedError extends Error {
  override name = "MalformedError";
}

/** Throws a {@link MalformedError}. */
export function malformed(why: string): never {
  throw new MalformedError(why);
}

/** Runs a codec on the bytes at a place; a {@link MalformedError} becomes `corrupt` with that place. */
export function decodeAt<T>(place: Place, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    if (error instanceof MalformedError) corrupt(place.file, place.offset, error.message);
    throw error;
  }
}
