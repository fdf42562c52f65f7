import assert from "node:assert/strict";
import { test } from "node:test";
import { below, pick, type Random, randomFrom } from "../../base/random.ts";
import { readCalendar } from "./calendar-text.ts";
import {
  type Calendar,
  type CalendarMoment,
  DAY_NAMES,
  holesOf,
  limitAt,
  minutesToChange,
} from "./calendar.ts";

function calendarOf(text: string): Calendar {
  const { calendar, mistakes } = readCalendar(text);
  assert.ok(calendar !== undefined, mistakes.join("\n"));
  return calendar;
}

/** `fri 17:59`, with ` holiday` behind it on a public holiday. */
function at(text: string): CalendarMoment {
  const [day = "", time = "", holiday] = text.split(" ");
  const [hour, minute] = time.split(":").map(Number);
  const weekday = DAY_NAMES.findIndex((name) => name === day);
  const kind = holiday === undefined && weekday < 5 ? "working" : "holiday";
  return { weekday, minuteOfDay: (hour ?? 0) * 60 + (minute ?? 0), kind };
}

test("office hours are slow and the rest is fast", () => {
  const calendar = calendarOf("mon-fri 08:00-18:00=1MB/s,else=8MB/s");
  for (const [moment, limitBps, minutes] of [
    ["mon 07:59", 8e6, 1],
    ["mon 08:00", 1e6, 600],
    ["fri 17:59", 1e6, 1],
    ["fri 18:00", 8e6, 360],
    ["sat 12:00", 8e6, 720],
  ] as const) {
    assert.equal(limitAt(calendar, at(moment), undefined), limitBps, moment);
    assert.equal(minutesToChange(calendar, at(moment)), minutes, moment);
  }
});

test("a night belongs to the day it begins on", () => {
  const calendar = calendarOf("fri 22:00-06:00=none; sun 23:00-01:00=pause; else=1MB/s");
  assert.equal(limitAt(calendar, at("fri 23:00"), 5e6), undefined);
  assert.equal(limitAt(calendar, at("sat 05:59"), 5e6), undefined);
  assert.equal(limitAt(calendar, at("fri 05:59"), 5e6), 1e6);
  assert.equal(limitAt(calendar, at("mon 00:30"), 5e6), 0);
});

test("a holiday has its own rules where there are some, on working days only", () => {
  const calendar = calendarOf("weekdays 08:00-18:00=1MB/s, holiday 10:00-12:00=2MB/s, else=8MB/s");
  assert.equal(limitAt(calendar, at("mon 09:00 holiday"), undefined), 8e6);
  assert.equal(limitAt(calendar, at("mon 11:00 holiday"), undefined), 2e6);
  assert.equal(limitAt(calendar, at("sat 11:00 holiday"), undefined), 8e6);
  const plain = calendarOf("weekdays 08:00-18:00=1MB/s, else=8MB/s");
  assert.equal(limitAt(plain, at("mon 09:00 holiday"), undefined), 1e6);
});

test("a limit of its own fills the holes, and the holes are named", () => {
  const calendar = calendarOf("mon-fri 08:00-18:00=1MB/s, sat 00:00-18:00=2MB/s");
  assert.equal(limitAt(calendar, at("sun 12:00"), 3e6), 3e6);
  assert.deepEqual(holesOf(calendar), [
    "mon-fri 00:00-08:00",
    "mon-sat 18:00-24:00",
    "sun 00:00-24:00",
  ]);
  assert.deepEqual(holesOf(calendarOf("daily=1MB/s,holiday 08:00-24:00=2MB/s")), [
    "holiday 00:00-08:00",
  ]);
  assert.deepEqual(holesOf(calendarOf("weekdays=1MB/s,weekend=2MB/s")), []);
});

test("days and times are read as people write them", () => {
  for (const [written, plain] of [
    ["Mon-Fri 8-18=1MB/s; else=2MB/s", "mon-fri 08:00-18:00=1MB/s,else=2MB/s"],
    ["monday, friday 8:00 – 18:00 = 1MB/s, ELSE = 2MB/s", "mon,fri 08:00-18:00=1MB/s,else=2MB/s"],
    [
      "08:00-12:00,14:00-18:00=1MB/s,else=2MB/s",
      "daily 08:00-12:00=1MB/s;daily 14:00-18:00=1MB/s;else=2MB/s",
    ],
    ["fri-mon=1MB/s\nelse=unlimited", "mon,fri,sat,sun=1MB/s,else=none"],
    ["weekend=0KB/s,else=1MB/s", "sat,sun 00:00-24:00=pause,else=1MB/s"],
  ] as const)
    assert.deepEqual({ ...calendarOf(written), text: "" }, { ...calendarOf(plain), text: "" });
});

test("every mistake is told at once, with what to write", () => {
  for (const [text, ...told] of [
    ["", "is empty; write it as mon-fri 08:00-18:00=1MB/s,else=8MB/s"],
    [
      "mon-fri 08:00-18:00=1MB/s, mon 17:00-20:00=2MB/s",
      '"mon-fri 08:00-18:00" and "mon 17:00-20:00" both speak of mon 17:00-18:00; leave it to one of them',
    ],
    [
      "fri 22:00-06:00=1MB/s, sat=2MB/s",
      '"fri 22:00-06:00" and "sat" both speak of sat 00:00-06:00; leave it to one of them',
    ],
    ["mon,mon-fri=1MB/s", '"mon,mon-fri" speaks twice of mon 00:00-24:00'],
    [
      "fruday 25:00-26:00=2,mon 08.00-18.00=1B/s",
      'in "fruday 25:00-26:00=2": a rate needs a unit; write 2MB/s or 2Mbit/s',
      '"fruday" is no day; the days are mon, tue, wed, thu, fri, sat, sun, mon-fri, daily, weekdays, weekend, holiday',
      '"25:00-26:00": 25:00 is no time of day; the last one is 24:00',
      '"25:00-26:00": 26:00 is no time of day; the last one is 24:00',
      'in "mon 08.00-18.00=1B/s": is too little: one request a second takes about 4 KB; write at least 4KB/s',
      '"08.00-18.00" is no time of day; write it as 08:00-18:00',
    ],
    [
      "mon 10:00-10:00=1MB/s",
      '"10:00-10:00" is no time at all; write 00:00-24:00 for the whole day',
    ],
    ["mon", '"mon" says no rate; write mon=2MB/s'],
    ["=1MB/s", '"=1MB/s" says not when; write daily=1MB/s'],
    ["else=1MB/s,else=2MB/s", "else is said twice"],
    [
      "holiday 22:00-06:00=none",
      '"holiday 22:00-06:00" reaches into the day after the holiday; end it at 24:00',
    ],
    ["daily=pause", "nothing is ever fetched; give some time a rate, or none for no limit"],
  ] as const)
    assert.deepEqual(readCalendar(text).mistakes, told, text);
});

test("whatever is read holds to the minute, and does not change before it says", () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = randomFrom(seed);
    const { text, limits } = randomWeek(random);
    const calendar = calendarOf(text);
    for (let weekday = 0; weekday < 7; weekday++) {
      let heldUntil = 0;
      for (let minuteOfDay = 0; minuteOfDay < 1440; minuteOfDay++) {
        const moment: CalendarMoment = { weekday, minuteOfDay, kind: "working" };
        const limitBps = limitAt(calendar, moment, 9e6);
        assert.equal(
          limitBps,
          limits[weekday * 1440 + minuteOfDay] ?? 9e6,
          `seed ${seed}: ${text}`,
        );
        if (
          minuteOfDay > 0 &&
          limitBps !== limitAt(calendar, { ...moment, minuteOfDay: minuteOfDay - 1 }, 9e6)
        )
          assert.ok(minuteOfDay >= heldUntil, `seed ${seed}: ${text}`);
        heldUntil = minuteOfDay + minutesToChange(calendar, moment);
      }
    }
  }
});

test("no text makes it throw", () => {
  const parts = [
    "mon",
    "-",
    "fri",
    " ",
    ",",
    ";",
    "=",
    "08:00",
    "24:00",
    "1MB/s",
    "else",
    "holiday",
    "–",
    "\u0000",
    "9",
  ];
  for (let seed = 1; seed <= 3_000; seed++) {
    const random = randomFrom(seed);
    const text = Array.from({ length: below(random, 12) }, () => pick(random, parts)).join("");
    const { calendar, mistakes } = readCalendar(text);
    assert.equal(calendar === undefined, mistakes.length > 0, `seed ${seed}: ${text}`);
  }
});

/** Rules that keep out of each other's way, some of them overnight, and what they say by the minute. */
function randomWeek(random: Random): { text: string; limits: (number | undefined)[] } {
  const limits: (number | undefined)[] = Array.from({ length: 7 * 1440 });
  const rules: string[] = [];
  for (let start = below(random, 900); start < 7 * 1440 - 1;) {
    const length = Math.min(1 + below(random, 1_400), 7 * 1440 - 1 - start);
    const megabytes = 1 + below(random, 8);
    const end = (start % 1440) + length;
    const span = `${clock(start % 1440)}-${clock(end > 1440 ? end - 1440 : end)}`;
    rules.push(`${DAY_NAMES[Math.floor(start / 1440)]} ${span}=${megabytes}MB/s`);
    limits.fill(megabytes * 1e6, start, start + length);
    start += length + below(random, 900);
  }
  return { text: rules.join(pick(random, [",", "; ", "\n"])), limits };
}

function clock(minute: number): string {
  const two = [Math.floor(minute / 60), minute % 60].map((part) => String(part).padStart(2, "0"));
  return two.join(":");
}
