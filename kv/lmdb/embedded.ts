/**
 * LMDB's native part inside the compiled executable.
 *
 * Run from source there is none, and the package finds its own. The build (`scripts/build.ts`) puts a module of the same
 * shape in the place of this one.
 */

export interface EmbeddedNative {
  /** Where the bytes can be read from inside the executable. */
  readonly path: string;
  /** A file name that no other content has. */
  readonly name: string;
  /** In lower-case hex. */
  readonly sha256: string;
}

export const embeddedNative: EmbeddedNative | undefined = undefined;
