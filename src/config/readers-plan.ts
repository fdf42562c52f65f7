/** The ways to read what was promised of a site: each says what is wrong in the promise's own terms. */

import { readBytes, readDurationMs } from "../base/units.ts";
import type { Reader } from "./field.ts";
import * as line from "./readers-bandwidth.ts";
import * as read from "./readers.ts";

const SECOND_MS = 1000;
const DAY_MS = 86_400_000;
const SIZE_BYTES_MOST = 1e15;

const NEGATIVE = /^-/;
const ZERO = /^\+?0+([.,]0*)?\s*([a-z]+(\/s)?)?$/i;
const BARE_NUMBER = /^\d+([.,]\d+)?$/;
const A_DATE = /^\d{4}-\d|^\d{1,2}:\d\d|^(mon|tue|wed|thu|fri|sat|sun)/i;

export const deadline: Reader<number> = {
  ...read.duration({ least: SECOND_MS, most: 366 * DAY_MS }),
  explain(text) {
    const written = text.trim();
    const ms = readDurationMs(written);
    if (NEGATIVE.test(written))
      return ["lies in the past; a deadline counts from the start, such as 30m or 2h"];
    if (ZERO.test(written))
      return [
        "is over when the crawl starts; write how long it may take, or leave it out for none",
      ];
    if (A_DATE.test(written))
      return ["is a time of the clock; a deadline counts from the start, such as 30m or 2h"];
    if (BARE_NUMBER.test(written))
      return [`needs a unit; write ${written}s, ${written}m or ${written}h`];
    if (ms === undefined) return ["is no duration; write it as 90s, 30m, 2h or 1d"];
    if (ms < SECOND_MS) return ["is too soon to start anything; write at least 1s"];
    return ["is more than a year ahead; leave it out for no deadline"];
  },
};

export const expectedSize: Reader<number> = {
  ...read.size({ least: 1, most: SIZE_BYTES_MOST }),
  explain(text) {
    const written = text.trim();
    const bytes = readBytes(written);
    if (NEGATIVE.test(written) || ZERO.test(written))
      return ["is no size to plan for; write what it may bring, or leave it out to be estimated"];
    if (BARE_NUMBER.test(written)) return [`needs a unit; write ${written}KB or ${written}MB`];
    if (bytes === undefined) return ["is no size; write it as 500KB, 120MB or 2GiB"];
    if (bytes > SIZE_BYTES_MOST)
      return ["is more than any site holds; at most 1000TB, or leave it out to be estimated"];
    return ["is less than a byte; leave it out to be estimated"];
  },
};

export const priority: Reader<number> = {
  ...line.decimal({ least: 0.001, most: 1000 }),
  explain(text) {
    if (NEGATIVE.test(text) || ZERO.test(text.trim()))
      return ["would let the site wait for ever; write 0.001 or more, where 1 is usual"];
    return ["expects a number from 0.001 to 1000, where 1 is usual and 2 counts twice"];
  },
};

export const cap: Reader<number> = {
  ...read.rate({ least: 1, most: 1e11 }),
  explain(text) {
    if (NEGATIVE.test(text) || ZERO.test(text.trim()))
      return ["permits nothing; write the highest rate of its servers, or omit it"];
    return [
      "expects a rate from 1 B/s to 100 GB/s, such as 500KB/s; leave it out for what was measured",
    ];
  },
};
