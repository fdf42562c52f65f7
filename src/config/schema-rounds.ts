/** Settings about crawling again and again: when, and which pages. */

import type { FieldTable } from "./field.ts";
import * as read from "./readers.ts";
import { schedule, share } from "./readers-rounds.ts";

const DAY = 86_400_000;

export const REPEATING = {
  watch: {
    key: "watch",
    meaning:
      "Stay and begin a new round of each site when its `schedule` says so; Ctrl-C ends it, and the same command goes on.",
    fallback: "false",
    reader: read.onOff,
  },
  schedule: {
    key: "schedule",
    meaning:
      "With --watch, when sites are crawled again: `every 1h` from the start of one round to the next, `daily 06:30` or `mon-fri 06:30`. Once by default.",
    fallback: undefined,
    reader: schedule,
    orNone: true,
  },
  revisitChance: {
    key: "revisitChance",
    meaning:
      "A page that is less likely than this to have changed is left out of a round; 0% asks for every page in every round.",
    fallback: "10%",
    reader: share,
  },
  revisitMaxMs: {
    key: "revisitMax",
    meaning: "A page is asked for after this time at the latest, however seldom it changes.",
    fallback: "7d",
    reader: read.duration({ least: 0, most: 3650 * DAY }),
  },
} as const satisfies FieldTable;

/** What one site's entry may say beside. */
export const SITE_REPEATING = {
  schedule: {
    key: "schedule",
    meaning: "As `schedule`, for this site and the others of its registrable domain.",
    fallback: undefined,
    reader: schedule,
  },
} as const satisfies FieldTable;
