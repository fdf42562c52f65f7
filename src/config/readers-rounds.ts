/** The ways to read when a site is crawled again. */

import { readSchedule, type Schedule } from "../frontier/schedule.ts";
import type { Reader } from "./field.ts";

export const schedule: Reader<Schedule> = {
  placeholder: "WHEN",
  expects: "a schedule, such as 'every 1h', 'daily 06:30' or 'mon-fri 06:30'",
  read: (text) => readSchedule(text).schedule,
  explain: (text) => [readSchedule(text).mistake],
};

export const share: Reader<number> = {
  placeholder: "SHARE",
  expects: "a share from 0% to 100%, such as 10%",
  read(text) {
    const match = /^(\d{1,3}(?:\.\d{1,4})?)\s*%$/.exec(text.trim());
    const value = Number(match?.[1] ?? Number.NaN) / 100;
    return value <= 1 ? value : undefined;
  },
};
