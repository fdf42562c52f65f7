import assert from "node:assert/strict";
import { test } from "node:test";
import { below, pick, randomFrom } from "../../base/random.ts";
import { TimeZone } from "./local-time.ts";

const HOUR_MS = 3_600_000;
const ZONES = [
  "UTC",
  "Europe/Rome",
  "America/New_York",
  "America/Santiago",
  "America/St_Johns",
  "Africa/Cairo",
  "Asia/Kathmandu",
  "Australia/Lord_Howe",
  "Pacific/Apia",
  "Pacific/Kiritimati",
];

test("a moment has a date, a weekday and a minute, each of its zone", () => {
  const wallMs = Date.UTC(2026, 9, 21, 22, 30);
  assert.deepEqual(new TimeZone("UTC").at(wallMs), {
    date: "2026-10-21",
    month: "2026-10",
    weekday: 2,
    minuteOfDay: 22 * 60 + 30,
  });
  assert.deepEqual(new TimeZone("Europe/Rome").at(wallMs), {
    date: "2026-10-22",
    month: "2026-10",
    weekday: 3,
    minuteOfDay: 30,
  });
});

test("the machine's own zone is the one that the runtime names", () => {
  const named = new TimeZone(Intl.DateTimeFormat().resolvedOptions().timeZone);
  const own = new TimeZone();
  for (let day = 0; day < 400; day++) {
    const wallMs = Date.UTC(2026, 0, 1) + day * 86_400_000 + day * 61_000;
    assert.deepEqual(own.at(wallMs), named.at(wallMs));
  }
});

test("a day is as long as its clocks make it: 23 and 25 hours in Rome, none at 00:00 in Cairo", () => {
  const rome = new TimeZone("Europe/Rome");
  const spring = rome.nextStartMs(Date.UTC(2026, 2, 28, 12), "date");
  assert.equal(rome.nextStartMs(spring, "date") - spring, 23 * HOUR_MS);
  const autumn = rome.nextStartMs(Date.UTC(2026, 9, 24, 12), "date");
  assert.equal(rome.nextStartMs(autumn, "date") - autumn, 25 * HOUR_MS);
  const cairo = new TimeZone("Africa/Cairo");
  const skipped = cairo.nextStartMs(Date.UTC(2026, 3, 23, 12), "date");
  assert.deepEqual(cairo.at(skipped), {
    date: "2026-04-24",
    month: "2026-04",
    weekday: 4,
    minuteOfDay: 60,
  });
});

test("the next day or month begins where the name changes, and is the very next one", () => {
  for (let seed = 1; seed <= 300; seed++) {
    const random = randomFrom(seed);
    const name = pick(random, ZONES);
    const zone = new TimeZone(name);
    const wallMs =
      Date.UTC(2012, 0, 1) + below(random, 25 * 365) * 86_400_000 + below(random, 86_400_000);
    for (const unit of ["date", "month"] as const) {
      const startMs = zone.nextStartMs(wallMs, unit);
      assert.ok(startMs > wallMs, `seed ${seed}: ${name}`);
      assert.notEqual(zone.at(startMs)[unit], zone.at(startMs - 1)[unit], `seed ${seed}: ${name}`);
      assert.equal(zone.at(startMs - 1)[unit], zone.at(wallMs)[unit], `seed ${seed}: ${name}`);
    }
  }
});
