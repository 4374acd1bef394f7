/**
 * The licence texts inside the compiled executable.
 *
 * Run from source there are none. The build (`scripts/build.ts`) puts a module of the same shape in the place of this one.
 */

export interface EmbeddedLicenses {
  /** Where they can be read from inside the executable. */
  readonly path: string;
}

export const embeddedLicenses: EmbeddedLicenses | undefined = undefined;
