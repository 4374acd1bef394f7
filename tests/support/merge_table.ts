/**
 * The table of merges: contents in base, source and destination (X is a missing file), and the result without a strategy,
 * where the source wins, and where the destination wins.
 */

export type MergeRow = readonly [row: string, plain: string, sourceWins: string, destWins: string];

export const MERGE_TABLE: readonly MergeRow[] = [
  ["AAA", "A", "A", "A"],
  ["ABB", "B", "B", "B"],
  ["ABC", "conflict", "B", "C"],
  ["AAB", "B", "B", "B"],
  ["ABA", "B", "B", "B"],
  ["AXX", "X", "X", "X"],
  ["ABX", "conflict", "B", "X"],
  ["AXB", "conflict", "X", "B"],
  ["AAX", "X", "X", "X"],
  ["AXA", "X", "X", "X"],
  ["XAA", "A", "A", "A"],
  ["XAX", "A", "A", "A"],
  ["XXA", "A", "A", "A"],
  ["XAB", "conflict", "A", "B"],
];
