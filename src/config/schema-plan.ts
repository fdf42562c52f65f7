/** Settings about deadlines: what was promised, and how the rate is divided to keep it. */

import { ALGORITHMS, OBJECTIVES } from "../plan/plan.ts";
import type { FieldTable } from "./field.ts";
import * as line from "./readers-bandwidth.ts";
import * as plan from "./readers-plan.ts";
import * as read from "./readers.ts";

const HOUR = 3_600_000;

export const PLANNING = {
  deadlineMs: {
    key: "deadline",
    meaning:
      "When each starting site without a deadline of its own must be done, counted from the start. No deadline by default.",
    fallback: undefined,
    reader: plan.deadline,
    orNone: true,
  },
  objective: {
    key: "objective",
    meaning:
      "What to make small, deadlines kept: `min-sum`, the sum of all sites' finish times, weighted by priority; `min-max`, the time when the last one is done. By default min-sum where there is a deadline or a priority, otherwise all sites alike.",
    fallback: undefined,
    reader: read.oneOf(OBJECTIVES),
  },
  algorithm: {
    key: "algorithm",
    meaning:
      "Who divides the rate: `optimal`, ours; `m-maxt`, `m-sumt`, `cpq` and `mip` as in Zhu et al., for comparison.",
    fallback: "optimal",
    reader: read.oneOf(ALGORITHMS),
  },
  sitesAtOnceMax: {
    key: "maxSites",
    meaning: "Most sites crawled at the same time (m). Any number by default.",
    fallback: undefined,
    reader: read.integer({ least: 1, most: 1_000_000 }),
    orNone: true,
  },
  rateMinBps: {
    key: "minRate",
    meaning: "Least rate for a site that is being crawled (v*). None by default.",
    fallback: undefined,
    reader: read.rate({ least: 1, most: 1e11 }),
    orNone: true,
  },
  startupMs: {
    key: "startup",
    meaning: "How long a site takes to start before its first page comes (t), for plans.",
    fallback: "0",
    reader: read.duration({ least: 0, most: HOUR }),
  },
  strict: {
    key: "strict",
    meaning:
      "Promise everything or nothing: do not start when a deadline cannot be met (exit code 1) or a site's entry has a mistake (2). By default the others go on.",
    fallback: "false",
    reader: read.onOff,
  },
} as const satisfies FieldTable;

/** What one site's entry may say beside. */
export const SITE_PLANNING = {
  deadlineMs: {
    key: "deadline",
    meaning: "As `deadline`, for this site.",
    fallback: undefined,
    reader: plan.deadline,
  },
  sizeBytes: {
    key: "size",
    meaning: "How many bytes the site is expected to bring. By default it is estimated.",
    fallback: undefined,
    reader: plan.expectedSize,
  },
  pagesExpected: {
    key: "pages",
    meaning:
      "How many pages the site is expected to have, for plans: with a delay they decide when it can be done. It bounds nothing. By default it is estimated from the size.",
    fallback: undefined,
    reader: read.integer({ least: 1, most: 1_000_000_000 }),
  },
  priority: {
    key: "priority",
    meaning: "How much a second of this site's waiting counts against the others'.",
    fallback: "1",
    reader: plan.priority,
  },
  capBps: {
    key: "cap",
    meaning:
      "The most its servers give. By default what was measured, times the requests allowed at a time.",
    fallback: undefined,
    reader: plan.cap,
  },
  efficiency: {
    key: "efficiency",
    meaning: "How much longer the site takes than its bytes at its rate would (ξ).",
    fallback: "1",
    reader: line.decimal({ least: 0.01, most: 1000 }),
  },
} as const satisfies FieldTable;
