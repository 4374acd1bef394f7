/** What a merge driver is: something that makes one file of the two sides of a conflict. */

/** Larger files stay conflicts: drivers hold all sides in memory. */
export const MAX_DRIVER_BYTES = 64 * 1024 * 1024;

/** The bytes of a conflict's three sides; a missing side has none. */
export interface DriverSides {
  readonly base: Uint8Array | undefined;
  readonly source: Uint8Array | undefined;
  readonly destination: Uint8Array | undefined;
}

/** Merged bytes, or why the conflict stays. */
export type DriverResult = Uint8Array | { readonly conflict: string };

export interface MergeDriver {
  /** As the user names it. */
  readonly name: string;
  /** Merges the sides of a path. Never guesses: what is not clear stays a conflict. */
  merge(sides: DriverSides, path: string): DriverResult | Promise<DriverResult>;
}

/** Returns both sides where neither is missing; drivers that merge contents have nothing to say about a deletion. */
export function bothSides(
  { source, destination }: DriverSides,
): { source: Uint8Array; destination: Uint8Array } | undefined {
  return source && destination && { source, destination };
}

export const DELETED_ON_ONE_SIDE = { conflict: "one side deleted it" };
