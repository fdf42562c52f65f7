/** Settings about crawling again and again: when, and which pages. */

import type { FieldTable } from "./field.ts";
import * as read from "./readers.ts";
import { schedule, share } from "./readers-rounds.ts";

const DAY = 86_400_000;

export const REPEATING = {
  watch: {
    key: "watch",
    meaning:
      "Keep running and recrawl each site by its `schedule`. Ctrl-C stops; the same command resumes.",
    fallback: "false",
    reader: read.onOff,
  },
  schedule: {
    key: "schedule",
    meaning:
      "With --watch: `every 1h` from the start of one recrawl to the next, `daily 06:30` or `mon-fri 06:30`. Once by default.",
    fallback: undefined,
    reader: schedule,
    orNone: true,
  },
  revisitChance: {
    key: "revisitChance",
    meaning:
      "Skip a page in a recrawl if it is less likely than this to have changed; 0% fetches every page each time.",
    fallback: "10%",
    reader: share,
  },
  revisitMaxMs: {
    key: "revisitMax",
    meaning: "Fetch a page again after this time at the latest, even if it seldom changes.",
    fallback: "7d",
    reader: read.duration({ least: 0, most: 3650 * DAY }),
  },
} as const satisfies FieldTable;

/** What one site's entry may say beside. */
export const SITE_REPEATING = {
  schedule: {
    key: "schedule",
    meaning: "Schedule of this site and of the others on its registrable domain.",
    fallback: undefined,
    reader: schedule,
  },
} as const satisfies FieldTable;
