/** The pieces that requests of several tags are made of. */

import { z } from "zod";

/** A boolean as a query has it, in all the ways in which lakeFS and its clients write one. */
export const flag = z.string().regex(/^(?:1|t|true|0|f|false|)$/i, "must be true or false")
  .transform((value) => /^[1t]/i.test(value));

/** A parameter that may be given several times. */
export const texts = z.union([z.string().transform((value) => [value]), z.array(z.string())]);

const MAX_PER_PAGE = 1000;
const DEFAULT_PER_PAGE = 100;

/** How many results: -1 for as many as a page may have. */
const amount = z.string().regex(/^-?[0-9]{1,9}$/, "must be a whole number").transform(Number)
  .refine((value) => value >= -1 && value <= MAX_PER_PAGE, `must be -1 to ${MAX_PER_PAGE}`)
  .transform((value) => value < 0 ? MAX_PER_PAGE : value === 0 ? DEFAULT_PER_PAGE : value)
  .default(DEFAULT_PER_PAGE);

/** The query of every listing. */
export const paging = z.object({
  after: z.string().default(""),
  amount,
});

export const prefixedPaging = paging.extend({ prefix: z.string().default("") });

/** Metadata of commits and objects. */
export const metadata = z.record(z.string(), z.string());

export const pathQuery = z.object({ path: z.string() });

/** A page of results in the API's form; `nameOf` gives what the next page comes after. */
export function pageJson<T>(
  results: readonly T[],
  { hasMore, nameOf }: { hasMore: boolean; nameOf: (result: T) => string },
): { pagination: Record<string, unknown>; results: readonly T[] } {
  const last = results.at(-1);
  return {
    pagination: {
      has_more: hasMore,
      next_offset: hasMore && last !== undefined ? nameOf(last) : "",
      results: results.length,
      max_per_page: MAX_PER_PAGE,
    },
    results,
  };
}

/** Takes up to `amount` items out of pages, and tells whether there were more. */
export async function takePage<T>(
  pages: AsyncIterable<readonly T[]>,
  amount: number,
): Promise<{ items: T[]; hasMore: boolean }> {
  const items: T[] = [];
  for await (const page of pages) {
    for (const item of page) {
      if (items.length === amount) return { items, hasMore: true };
      items.push(item);
    }
  }
  return { items, hasMore: false };
}
