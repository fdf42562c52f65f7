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
      "Time after the start by which each seed's site must be done, unless it has its own deadline. No deadline by default.",
    fallback: undefined,
    reader: plan.deadline,
    orNone: true,
  },
  objective: {
    key: "objective",
    meaning:
      "Goal besides deadlines: `min-sum` minimises the sum of finish times, weighted by priority; `min-max` minimises the last finish time. By default min-sum if there is a deadline or a priority, otherwise all sites are equal.",
    fallback: undefined,
    reader: read.oneOf(OBJECTIVES),
  },
  algorithm: {
    key: "algorithm",
    meaning:
      "Planner: `optimal`, or `m-maxt`, `m-sumt`, `cpq`, `mip` of Zhu et al. for comparison.",
    fallback: "optimal",
    reader: read.oneOf(ALGORITHMS),
  },
  sitesAtOnceMax: {
    key: "maxSites",
    meaning: "Most sites crawled at the same time (m). No limit by default.",
    fallback: undefined,
    reader: read.integer({ least: 1, most: 1_000_000 }),
    orNone: true,
  },
  rateMinBps: {
    key: "minRate",
    meaning: "Least rate of a site that is being crawled (v*). None by default.",
    fallback: undefined,
    reader: read.rate({ least: 1, most: 1e11 }),
    orNone: true,
  },
  startupMs: {
    key: "startup",
    meaning: "Time from the start of a site to its first page (t), for plans.",
    fallback: "0",
    reader: read.duration({ least: 0, most: HOUR }),
  },
  strict: {
    key: "strict",
    meaning:
      "Do not start if a deadline cannot be met (exit code 1) or an entry of `sites:` is invalid (exit code 2). By default the other sites are crawled.",
    fallback: "false",
    reader: read.onOff,
  },
} as const satisfies FieldTable;

/** What one site's entry may say beside. */
export const SITE_PLANNING = {
  deadlineMs: {
    key: "deadline",
    meaning: "Deadline of this site.",
    fallback: undefined,
    reader: plan.deadline,
  },
  sizeBytes: {
    key: "size",
    meaning: "Expected bytes of the site. By default estimated.",
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
    meaning: "Weight of this site's finish time.",
    fallback: "1",
    reader: plan.priority,
  },
  capBps: {
    key: "cap",
    meaning:
      "Highest rate that its servers can deliver. By default the measured rate times the allowed concurrent requests.",
    fallback: undefined,
    reader: plan.cap,
  },
  efficiency: {
    key: "efficiency",
    meaning: "Actual crawl time divided by bytes / rate (ξ).",
    fallback: "1",
    reader: line.decimal({ least: 0.01, most: 1000 }),
  },
} as const satisfies FieldTable;
