import assert from "node:assert/strict";
import { test } from "node:test";
import { below, pick, randomFrom } from "../../base/random.ts";
import { TimeZone } from "./local-time.ts";
import { type Quota, QuotaBook, type QuotaUsage, readUsage } from "./quota.ts";

const HOUR_MS = 3_600_000;
const DAILY: Quota = { bytes: 1_000, per: "day" };
const MONTHLY: Quota = { bytes: 5_000, per: "month" };
const NOON_MS = Date.UTC(2026, 9, 30, 12);

test("a quota shrinks with what comes and is whole again on the next day of its zone", () => {
  const book = new QuotaBook(new TimeZone("Europe/Rome"), undefined);
  assert.equal(book.roomBytes(NOON_MS, DAILY), 1_000);
  book.charge(NOON_MS, 900);
  assert.equal(book.roomBytes(NOON_MS, DAILY), 100);
  book.charge(NOON_MS, 300);
  assert.equal(book.roomBytes(NOON_MS, DAILY), 0);
  const renewalMs = book.renewsAtMs(NOON_MS, DAILY);
  assert.equal(renewalMs, Date.UTC(2026, 9, 30, 23));
  assert.equal(book.roomBytes(renewalMs - 1, DAILY), 0);
  assert.equal(book.roomBytes(renewalMs, DAILY), 1_000);
  assert.equal(book.roomBytes(renewalMs, MONTHLY), 3_800);
  assert.equal(book.roomBytes(book.renewsAtMs(renewalMs, MONTHLY), MONTHLY), 5_000);
});

test("what is used up says until when, and what to write", () => {
  const book = new QuotaBook(new TimeZone("Europe/Rome"), undefined);
  assert.deepEqual(book.usedUp(NOON_MS, { bytes: 5e9, per: "month" }), {
    what: "quota of 5.00 GB a month used up until 2026-11-01 00:00",
    remedy: "The same command resumes then; with --quota 10.0GB/month, or --quota none, at once",
  });
});

test("a clock set back refills nothing, and one that was years ahead delays nothing", () => {
  const zone = new TimeZone("UTC");
  const book = new QuotaBook(zone, undefined);
  book.charge(NOON_MS, 800);
  assert.equal(book.roomBytes(NOON_MS - 24 * HOUR_MS, DAILY), 200);
  const ahead: QuotaUsage = { date: "2036-01-01", dayBytes: 1_000, monthBytes: 1_000 };
  const late = new QuotaBook(zone, ahead);
  assert.equal(late.roomBytes(NOON_MS, DAILY), 0);
  assert.equal(late.roomBytes(NOON_MS + 12 * HOUR_MS, DAILY), 1_000);
});

test("days and months add up as if they were summed by hand, through any number of restarts", () => {
  for (let seed = 1; seed <= 40; seed++) {
    const random = randomFrom(seed);
    const zone = new TimeZone(pick(random, ["UTC", "America/Santiago", "Asia/Kathmandu"]));
    const byDate = new Map<string, number>();
    const byMonth = new Map<string, number>();
    let book = new QuotaBook(zone, undefined);
    let wallMs = Date.UTC(2026, below(random, 12), 1 + below(random, 28));
    for (let step = 0; step < 400; step++) {
      wallMs += below(random, 6 * HOUR_MS);
      const bytes = below(random, 100_000);
      const { date, month } = zone.at(wallMs);
      byDate.set(date, (byDate.get(date) ?? 0) + bytes);
      byMonth.set(month, (byMonth.get(month) ?? 0) + bytes);
      book.charge(wallMs, bytes);
      const usage = book.usage(wallMs);
      assert.deepEqual(
        usage,
        { date, dayBytes: byDate.get(date), monthBytes: byMonth.get(month) },
        `seed ${seed}, step ${step}`,
      );
      if (below(random, 10) === 0) book = new QuotaBook(zone, readUsage(JSON.stringify(usage)));
    }
  }
});
