/** What lakeFS's makers would like to know of its use: nothing is kept and nothing is told. */

import { z } from "zod";
import { CodedError } from "../../base/errors.ts";
import { empty, operation } from "../operation.ts";

const postStatsEvents = operation("postStatsEvents", {
  body: z.object({
    events: z.array(z.object({ class: z.string(), name: z.string(), count: z.number() })),
  }),
  async run() {
    return empty();
  },
});

const getUsageReportSummary = operation("getUsageReportSummary", {
  async run() {
    throw new CodedError("not_found", "no_usage_report", "Cannot find a usage report: none is kept");
  },
});

export const STATISTICS_OPERATIONS = [postStatsEvents, getUsageReportSummary];
