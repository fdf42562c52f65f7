import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../../base/random.ts";
import {
  type DayKind,
  type Moment,
  measuredHours,
  type ServerRow,
  SpeedTable,
} from "./speed-table.ts";

const PAPER = { gain: 0.3, spreadMinutes: 120, serversMax: 1000 };
const NOON: Moment = { minuteOfDay: 720, kind: "working" };

function at(hour: number, minute = 0, kind: DayKind = "working"): Moment {
  return { minuteOfDay: 60 * hour + minute, kind };
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

test("a measurement moves its hour by k, an hour 120 minutes off by k/e, and the far side to their mean", () => {
  const table = new SpeedTable(PAPER);
  table.learn("192.0.2.1", NOON, 1000, 0);
  for (const hour of [0, 5, 12, 23]) assert.equal(table.predictBps("192.0.2.1", at(hour)), 1000);

  table.learn("192.0.2.1", NOON, 2000, 0);
  assert.equal(rounded(table.predictBps("192.0.2.1", at(12))), 1300);
  // 0.3 · exp(−1) = 0.11036, and 0.3 · exp(−(60/120)²) = 0.23364.
  assert.equal(rounded(table.predictBps("192.0.2.1", at(14))), 1110.36);
  assert.equal(rounded(table.predictBps("192.0.2.1", at(10))), 1110.36);
  assert.equal(rounded(table.predictBps("192.0.2.1", at(11))), 1233.64);
  // Hours 10 to 14 are within 120 minutes: (1300 + 2 · 1233.64 + 2 · 1110.36) / 5.
  for (const far of [9, 15, 0])
    assert.equal(rounded(table.predictBps("192.0.2.1", at(far))), 1197.6);
});

test("hours within the spread of a download are measured, the others have the mean of these", () => {
  const table = new SpeedTable(PAPER);
  const hoursOf = (): readonly number[][] =>
    [...table.rows()].map((row) => measuredHours(row.workingHours));
  // What a crawl met first says nothing of hours that it never saw.
  table.learn("192.0.2.1", at(10), 10, 0);
  for (let page = 0; page < 100; page++) table.learn("192.0.2.1", at(10), 1_000_000, 0);
  assert.deepEqual(hoursOf(), [[8, 9, 10, 11, 12]]);
  const night = table.predictBps("192.0.2.1", at(3));
  assert.ok(night > 950_000, `${night}`);
  // The first download at a new hour moves it from there.
  table.learn("192.0.2.1", at(3), 500_000, 0);
  assert.deepEqual(hoursOf(), [[1, 2, 3, 4, 5, 8, 9, 10, 11, 12]]);
  const moved = table.predictBps("192.0.2.1", at(3));
  assert.ok(Math.abs(moved - (0.7 * night + 0.3 * 500_000)) < 1, `${moved}`);
});

test("with a narrow spread the nearest hour is measured all the same", () => {
  const table = new SpeedTable({ ...PAPER, spreadMinutes: 1 });
  table.learn("192.0.2.1", at(7, 29), 1000, 0);
  assert.deepEqual(
    [...table.rows()].map((row) => measuredHours(row.workingHours)),
    [[7]],
  );
});

test("the clock is round: 23:30 teaches hour 0 as much as hour 23", () => {
  const table = new SpeedTable(PAPER);
  table.learn("192.0.2.1", NOON, 1000, 0);
  table.learn("192.0.2.1", at(23, 30), 3000, 0);
  const midnight = table.predictBps("192.0.2.1", at(0));
  assert.equal(midnight, table.predictBps("192.0.2.1", at(23)));
  // 1000 + 2000 · 0.3 · exp(−(30/120)²)
  assert.equal(rounded(midnight), 1563.65);
});

test("a prediction reads the nearest hour", () => {
  const table = new SpeedTable({ ...PAPER, spreadMinutes: 10 });
  table.learn("192.0.2.1", at(23), 1000, 0);
  table.learn("192.0.2.1", at(0), 2000, 0);
  const near = table.predictBps("192.0.2.1", at(0));
  assert.ok(near > 1000);
  assert.equal(table.predictBps("192.0.2.1", at(23, 31)), near);
  assert.equal(table.predictBps("192.0.2.1", at(0, 29)), near);
  assert.equal(table.predictBps("192.0.2.1", at(23, 29)), 1000);
});

test("a kind of day never measured is as the other, and then goes its own way from there", () => {
  const table = new SpeedTable(PAPER);
  table.learn("192.0.2.1", NOON, 1000, 0);
  table.learn("192.0.2.1", NOON, 2000, 0);
  const holiday = at(12, 0, "holiday");
  assert.equal(rounded(table.predictBps("192.0.2.1", holiday)), 1300);
  table.learn("192.0.2.1", holiday, 2300, 0);
  assert.equal(rounded(table.predictBps("192.0.2.1", holiday)), 1600);
  assert.equal(rounded(table.predictBps("192.0.2.1", NOON)), 1300);
});

test("an unknown server is taken for the geometric mean of the known and the imagined one", () => {
  const table = new SpeedTable({ ...PAPER, priorBps: 1000 });
  assert.equal(rounded(table.predictBps("198.51.100.1", NOON)), 1000);
  table.learn("192.0.2.1", NOON, 100_000, 0);
  table.learn("192.0.2.2", NOON, 10_000, 0);
  assert.equal(rounded(table.predictBps("198.51.100.1", NOON)), 10_000);
  assert.equal(rounded(table.predictBps("198.51.100.1", at(12, 0, "holiday"))), 10_000);
  assert.equal(table.known("198.51.100.1"), false);
});

test("values stay between the least and the greatest rate measured at their server", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = randomFrom(seed);
    const gain = 0.01 + 0.99 * random.next();
    const table = new SpeedTable({ gain, spreadMinutes: 1 + below(random, 1000), serversMax: 5 });
    const hulls = new Map<string, [least: number, most: number]>();
    for (let step = 0; step < 400; step++) {
      const address = `10.0.0.${below(random, 5)}`;
      const rate = 10 ** (random.next() * 9);
      const [least, most] = hulls.get(address) ?? [Infinity, 0];
      hulls.set(address, [Math.min(least, rate), Math.max(most, rate)]);
      table.learn(address, momentFrom(random), rate, step);
    }
    for (const [address, [least, most]] of hulls)
      for (let minute = 0; minute < 1440; minute += 30)
        for (const kind of ["working", "holiday"] as const) {
          const bps = table.predictBps(address, { minuteOfDay: minute, kind });
          assert.ok(
            bps >= Math.fround(least) && bps <= Math.fround(most),
            `seed ${seed}: ${bps} outside ${least}..${most}`,
          );
        }
  }
});

test("turning the clock turns the estimates with it, and nothing else", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = randomFrom(seed);
    const turn = 60 * below(random, 24);
    const straight = new SpeedTable(PAPER);
    const turned = new SpeedTable(PAPER);
    const mirrored = new SpeedTable(PAPER);
    for (let step = 0; step < 50; step++) {
      const { minuteOfDay, kind } = momentFrom(random);
      const rate = 1 + below(random, 1e6);
      straight.learn("a", { minuteOfDay, kind }, rate, 0);
      turned.learn("a", { minuteOfDay: (minuteOfDay + turn) % 1440, kind }, rate, 0);
      mirrored.learn("a", { minuteOfDay: (1440 - minuteOfDay) % 1440, kind }, rate, 0);
    }
    for (let minute = 0; minute < 1440; minute += 60) {
      const expected = straight.predictBps("a", { minuteOfDay: minute, kind: "working" });
      const later = { minuteOfDay: (minute + turn) % 1440, kind: "working" } as const;
      assert.equal(turned.predictBps("a", later), expected, `seed ${seed}, turned by ${turn}`);
      const across = { minuteOfDay: (1440 - minute) % 1440, kind: "working" } as const;
      assert.equal(mirrored.predictBps("a", across), expected, `seed ${seed}, mirrored`);
    }
  }
});

test("the prior is the mean over the servers that are held, whoever came and went", () => {
  for (let seed = 1; seed <= 10; seed++) {
    const random = randomFrom(seed);
    const table = new SpeedTable({ ...PAPER, serversMax: 20, priorBps: 5000 });
    for (let step = 0; step < 2000; step++)
      table.learn(`s${below(random, 60)}`, momentFrom(random), 1 + below(random, 1e7), step);
    for (const [kind, offset] of [
      ["working", 0],
      ["holiday", 24],
    ] as const) {
      const held = [...table.rows()].filter((row) => countOf(row, kind) > 0);
      const logs = held.map((row) => Math.log(row.bps[offset + 7] as number));
      const mean = logs.reduce((sum, log) => sum + log, Math.log(5000)) / (logs.length + 1);
      const told = table.predictBps("nobody", at(7, 0, kind));
      assert.ok(Math.abs(Math.log(told) - mean) < 1e-9, `seed ${seed}: ${told}`);
    }
  }
});

test("the least useful server is forgotten: measured seldom, and not lately", () => {
  const table = new SpeedTable({ ...PAPER, serversMax: 3 });
  for (const address of ["often", "often", "often", "once", "twice", "twice"])
    table.learn(address, NOON, 1000, 0);
  table.learn("new", NOON, 1000, 0);
  assert.deepEqual([...table.rows()].map((row) => row.address).toSorted(), [
    "new",
    "often",
    "twice",
  ]);
});

test("servers without end never outgrow the limit, and the one just measured is always there", () => {
  for (let seed = 1; seed <= 5; seed++) {
    const random = randomFrom(seed);
    const serversMax = 1 + below(random, 300);
    const table = new SpeedTable({ ...PAPER, serversMax });
    for (let step = 0; step < 5000; step++) {
      const address = `s${Math.floor(random.next() ** 3 * 2000)}`;
      table.learn(address, momentFrom(random), 1 + below(random, 1e6), step);
      assert.ok(table.known(address) && table.size <= serversMax, `seed ${seed}, step ${step}`);
    }
    assert.equal(new Set([...table.rows()].map((row) => row.address)).size, table.size);
  }
});

test("a table restored from its rows predicts as before", () => {
  const random = randomFrom(11);
  const before = new SpeedTable(PAPER);
  for (let step = 0; step < 3000; step++)
    before.learn(`s${below(random, 200)}`, momentFrom(random), 1 + below(random, 1e7), step);
  before.name("s7", "https://example.org");
  const after = new SpeedTable(PAPER);
  after.restore(structuredClone([...before.rows()]));
  assert.deepEqual([...after.rows()], [...before.rows()]);
  for (let server = 0; server < 210; server++) {
    const moment = momentFrom(random);
    const [a, b] = [before, after].map((table) => table.predictBps(`s${server}`, moment));
    assert.ok(Math.abs((a as number) / (b as number) - 1) < 1e-9, `server ${server}`);
  }
  const first = [...after.rows()].find((row) => row.address === "s7");
  assert.deepEqual(first?.sites, ["https://example.org"]);
});

test("only what was measured after a revision is told again", () => {
  const table = new SpeedTable(PAPER);
  table.learn("a", NOON, 1000, 5);
  table.learn("b", NOON, 1000, 6);
  const saved = table.revision;
  assert.deepEqual([...table.rows(saved)], []);
  table.learn("a", NOON, 2000, 7);
  const changed = [...table.rows(saved)];
  assert.deepEqual(
    changed.map(({ address, lastAtMs, workingCount }) => ({ address, lastAtMs, workingCount })),
    [{ address: "a", lastAtMs: 7, workingCount: 2 }],
  );
});

function momentFrom(random: { next(): number }): Moment {
  return {
    minuteOfDay: below(random, 1440),
    kind: random.next() < 0.7 ? "working" : "holiday",
  };
}

function countOf(row: ServerRow, kind: DayKind): number {
  return kind === "working" ? row.workingCount : row.holidayCount;
}
