import assert from "node:assert/strict";
import { test } from "node:test";
import { TimeZone } from "../bandwidth/clock/local-time.ts";
import { below, randomFrom } from "../base/random.ts";
import { nextDueMs, readSchedule, type Schedule } from "./schedule.ts";

const HOUR = 3_600_000;

function schedule(text: string): Schedule {
  const { schedule: read, mistake } = readSchedule(text);
  assert.ok(read !== undefined, `${text}: ${mistake}`);
  return read;
}

function next(text: string, fromText: string, zone = "UTC"): string {
  const dueMs = nextDueMs(schedule(text), Date.parse(fromText), new TimeZone(zone));
  return new Date(dueMs).toISOString();
}

test("an interval counts from the start of the last round", () => {
  assert.equal(next("every 1h", "2026-03-02T10:20:30Z"), "2026-03-02T11:20:30.000Z");
  assert.equal(next("every 90s", "2026-03-02T10:20:30Z"), "2026-03-02T10:22:00.000Z");
});

test("a time of day is the next one, today or on the next listed day", () => {
  // 2 March 2026 is a Monday.
  assert.equal(next("daily 06:30", "2026-03-02T05:00:00Z"), "2026-03-02T06:30:00.000Z");
  assert.equal(next("daily 06:30", "2026-03-02T06:30:00Z"), "2026-03-03T06:30:00.000Z");
  assert.equal(next("06:30", "2026-03-02T12:00:00Z"), "2026-03-03T06:30:00.000Z");
  assert.equal(next("mon-fri 6:30", "2026-03-06T07:00:00Z"), "2026-03-09T06:30:00.000Z");
  assert.equal(next("sat,sun 22:00", "2026-03-02T07:00:00Z"), "2026-03-07T22:00:00.000Z");
  assert.equal(next("mon at 06:30", "2026-03-02T06:30:00Z"), "2026-03-09T06:30:00.000Z");
  assert.equal(
    next("daily 06:30", "2026-03-02T05:00:00Z", "Asia/Tokyo"),
    "2026-03-02T21:30:00.000Z",
  );
});

test("at a change of clocks a skipped time is shifted by the change, and a repeated one is due once", () => {
  // Rome: on 29 March 02:00 becomes 03:00; on 25 October 03:00 becomes 02:00.
  assert.equal(
    next("daily 02:30", "2026-03-28T12:00:00Z", "Europe/Rome"),
    "2026-03-29T01:30:00.000Z",
  );
  assert.equal(
    next("daily 06:30", "2026-03-28T12:00:00Z", "Europe/Rome"),
    "2026-03-29T04:30:00.000Z",
  );
  assert.equal(
    next("daily 06:30", "2026-10-24T12:00:00Z", "Europe/Rome"),
    "2026-10-25T05:30:00.000Z",
  );
  const due = next("daily 02:30", "2026-10-24T12:00:00Z", "Europe/Rome");
  assert.ok(["2026-10-25T00:30:00.000Z", "2026-10-25T01:30:00.000Z"].includes(due), due);
});

test("the next time is the first later one with its minute and day", () => {
  const zones = ["UTC", "Europe/Rome", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"];
  for (let seed = 1; seed <= 300; seed++) {
    const random = randomFrom(seed);
    const zone = new TimeZone(zones[below(random, zones.length)]);
    const days = [0, 1, 2, 3, 4, 5, 6].filter(() => random.next() < 0.5);
    if (days.length === 0) days.push(below(random, 7));
    // Clocks never change at noon.
    const minuteOfDay = 12 * 60 + below(random, 240);
    const fromMs = Date.UTC(2026, 0, 1) + below(random, 366 * 24 * HOUR);
    const dueMs = nextDueMs({ kind: "at", text: "", days, minuteOfDay }, fromMs, zone);
    const local = zone.at(dueMs);
    assert.ok(dueMs > fromMs, `seed ${seed}`);
    assert.equal(local.minuteOfDay, minuteOfDay, `seed ${seed}`);
    assert.ok(days.includes(local.weekday), `seed ${seed}`);
    for (let atMs = dueMs - 24 * HOUR; atMs > fromMs; atMs -= 24 * HOUR)
      assert.ok(!days.includes(zone.at(atMs).weekday), `seed ${seed}: ${atMs} would do`);
  }
});

test("an invalid schedule is reported with a valid one", () => {
  const cases: Readonly<Record<string, RegExp>> = {
    "": /is empty; write every 1h/,
    "1h": /write every 1h/,
    every: /not a schedule/,
    "every 5": /needs a unit; write every 5m or every 5h/,
    "every hour": /write every 1h/,
    "every day": /write every 1d/,
    "every 10ms": /too often: write every 1s/,
    "every 400d": /longer than a year/,
    "every often": /"often" is not a duration/,
    daily: /has no time; write daily 06:30/,
    "mon-fri": /has no time; write mon-fri 06:30/,
    hourly: /write every 1h/,
    "daily 25:00": /25:00 is not a time of day/,
    "daily 06:61": /06:61 is not a time of day/,
    "funday 06:30": /"funday" is not a day of the week/,
    "holiday 06:30": /"holiday" is not a day of the week/,
    "* * * * *": /not a schedule; write every 1h, daily 06:30 or mon-fri 06:30/,
  };
  for (const [text, mistake] of Object.entries(cases)) {
    const reading = readSchedule(text);
    assert.equal(reading.schedule, undefined, text);
    assert.match(reading.mistake, mistake, text);
  }
});
