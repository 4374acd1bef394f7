/** Counts for Prometheus. Labels are operation IDs and statuses: bounded, whatever clients send. */

import process from "node:process";

const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60] as const;

interface Durations {
  readonly buckets: number[];
  sum: number;
  count: number;
}

export class Metrics {
  readonly #requests = new Map<string, Map<number, number>>();
  readonly #durations = new Map<string, Durations>();
  #inFlight = 0;

  /** How many requests are being answered. */
  get inFlight(): number {
    return this.#inFlight;
  }

  begin(): void {
    this.#inFlight++;
  }

  end(): void {
    this.#inFlight--;
  }

  answered(operation: string, { status, seconds }: { status: number; seconds: number }): void {
    let byStatus = this.#requests.get(operation);
    if (!byStatus) this.#requests.set(operation, byStatus = new Map());
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
    let durations = this.#durations.get(operation);
    if (!durations) {
      durations = { buckets: BUCKETS_SECONDS.map(() => 0), sum: 0, count: 0 };
      this.#durations.set(operation, durations);
    }
    const bucket = BUCKETS_SECONDS.findIndex((limit) => seconds <= limit);
    if (bucket >= 0) durations.buckets[bucket]!++;
    durations.sum += seconds;
    durations.count++;
  }

  /** Returns Prometheus' text form. */
  text(): string {
    const lines = [
      "# HELP tarn_requests_in_flight Requests that are being answered.",
      "# TYPE tarn_requests_in_flight gauge",
      `tarn_requests_in_flight ${this.#inFlight}`,
      "# HELP process_resident_memory_bytes Resident memory of the server's process.",
      "# TYPE process_resident_memory_bytes gauge",
      `process_resident_memory_bytes ${process.memoryUsage.rss()}`,
      "# HELP tarn_requests_total Requests answered, by operation and status.",
      "# TYPE tarn_requests_total counter",
    ];
    for (const [operation, byStatus] of this.#requests) {
      for (const [status, count] of byStatus) {
        lines.push(`tarn_requests_total{operation="${operation}",status="${status}"} ${count}`);
      }
    }
    lines.push(
      "# HELP tarn_request_duration_seconds Time until an answer began.",
      "# TYPE tarn_request_duration_seconds histogram",
    );
    for (const [operation, durations] of this.#durations) lines.push(...histogram(operation, durations));
    return `${lines.join("\n")}\n`;
  }
}

function histogram(operation: string, { buckets, sum, count }: Durations): string[] {
  const name = "tarn_request_duration_seconds", label = `operation="${operation}"`;
  let below = 0;
  return [
    ...buckets.map((inBucket, i) =>
      `${name}_bucket{${label},le="${BUCKETS_SECONDS[i]}"} ${below += inBucket}`
    ),
    `${name}_bucket{${label},le="+Inf"} ${count}`,
    `${name}_sum{${label}} ${sum}`,
    `${name}_count{${label}} ${count}`,
  ];
}
