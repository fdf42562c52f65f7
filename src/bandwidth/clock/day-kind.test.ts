import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../../base/random.ts";
import { Almanac } from "./day-kind.ts";
import { TimeZone } from "./local-time.ts";

const ROME = new TimeZone("Europe/Rome");
const MINUTE_MS = 60_000;
const isPublicHoliday = (date: string): boolean => date.endsWith("1");

test("weekends and the days of the calendar are holidays, the others are working days", () => {
  const almanac = new Almanac(ROME, (date) => date === "2026-04-06");
  const noon = (day: number): string => almanac.at(Date.UTC(2026, 3, day, 10)).kind;
  assert.deepEqual([3, 4, 5, 6, 7].map(noon), [
    "working",
    "holiday",
    "holiday",
    "holiday",
    "working",
  ]);
});

test("a moment is told in its zone: late on Friday in New York it is Saturday in Rome", () => {
  const wallMs = Date.UTC(2026, 3, 10, 23, 15);
  assert.deepEqual(new Almanac(ROME).at(wallMs), {
    date: "2026-04-11",
    weekday: 5,
    minuteOfDay: 75,
    kind: "holiday",
  });
  assert.deepEqual(new Almanac(new TimeZone("America/New_York")).at(wallMs), {
    date: "2026-04-10",
    weekday: 4,
    minuteOfDay: 19 * 60 + 15,
    kind: "working",
  });
});

test("the hour that clocks leap over is never told, and the one that they repeat is told twice", () => {
  const almanac = new Almanac(ROME);
  const hours = (wallMs: number): number[] =>
    [0, 1, 2, 3].map((hour) => almanac.at(wallMs + hour * 60 * MINUTE_MS).minuteOfDay / 60);
  assert.deepEqual(hours(Date.UTC(2026, 2, 28, 23)), [0, 1, 3, 4]);
  assert.deepEqual(hours(Date.UTC(2026, 9, 24, 23)), [1, 2, 2, 3]);
});

test("what was answered before changes no answer, whatever the clock does", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = randomFrom(seed);
    const almanac = new Almanac(ROME, isPublicHoliday);
    let wallMs = Date.UTC(2026, 0, 1);
    for (let step = 0; step < 300; step++) {
      wallMs += below(random, 4) === 0 ? below(random, 40) * 3_600_000 : below(random, 90_000);
      if (below(random, 10) === 0) wallMs -= below(random, 86_400_000);
      const fresh = new Almanac(ROME, isPublicHoliday).at(wallMs);
      assert.deepEqual(almanac.at(wallMs), fresh, `seed ${seed}, step ${step}`);
    }
  }
});
