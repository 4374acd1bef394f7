/** The vectors that a real lakeFS made (`tests/golden`), as far as tests read them. */

import { readFileSync } from "node:fs";

export interface GoldenEntry {
  readonly key: string;
  readonly address: string;
  readonly address_type: 0 | 1 | 2;
  readonly size: number;
  readonly etag: string;
  readonly content_type?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly last_modified_seconds: number;
  readonly last_modified_nanos: number;
  readonly identity_hex: string;
  readonly entry_proto_hex?: string;
  readonly value_hex?: string;
}

export interface GoldenCase {
  readonly name: string;
  readonly params: {
    MinRangeSizeBytes: number;
    MaxRangeSizeBytes: number;
    RangeSizeEntriesRaggedness: number;
  };
  readonly entries_count: number;
  readonly entries_from?: string;
  readonly entries: readonly GoldenEntry[];
  readonly ranges: readonly { id: string; min_key: string; max_key: string; count: number }[];
  readonly metarange: { readonly id: string };
  readonly seed_ids: {
    readonly ranges: readonly { id: string; min_key: string; max_key: string; count: number }[];
    readonly metarange_id: string;
  };
}

export interface Golden {
  readonly ident: readonly { what: string; bytes_hex: string; sha256_hex: string }[];
  readonly cases: readonly GoldenCase[];
  readonly commits: readonly {
    readonly name: string;
    readonly committer: string;
    readonly message: string;
    readonly metarange_id: string;
    readonly creation_date_unix: number;
    readonly metadata: Readonly<Record<string, string>> | null;
    readonly parents: readonly string[];
    readonly preimage_hex: string;
    readonly commit_id: string;
  }[];
  readonly break_decisions: readonly {
    key_hex: string;
    break_at_raggedness_50000: boolean;
    break_at_raggedness_100: boolean;
  }[];
}

export const golden: Golden = JSON.parse(
  readFileSync(new URL("../golden/vectors.json", import.meta.url), "utf8"),
);

/** Returns the entries of a case, which may be the first ones of another. */
export function entriesOf(goldenCase: GoldenCase): readonly GoldenEntry[] {
  if (goldenCase.entries_from === undefined) return goldenCase.entries;
  const source = golden.cases.find(({ name }) => name === goldenCase.entries_from)!;
  return source.entries.slice(0, goldenCase.entries_count);
}

/** Returns the address of a golden file. */
export function goldenFile(goldenCase: GoldenCase, kind: "ranges" | "metaranges", id: string): URL {
  return new URL(`../golden/files/${goldenCase.name}/${kind}/${id}`, import.meta.url);
}
