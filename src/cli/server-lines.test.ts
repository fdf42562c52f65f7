import assert from "node:assert/strict";
import { test } from "node:test";
import type { DayMoment } from "../bandwidth/clock/day-kind.ts";
import type { ServerRow } from "../bandwidth/history/speed-table.ts";
import { serverLines, serversAsJson, surveyed } from "./server-lines.ts";
import { paletteFor } from "./terminal.ts";

const MOMENT: DayMoment = { date: "2026-04-10", weekday: 4, minuteOfDay: 605, kind: "working" };
const NOW_MS = Date.UTC(2026, 3, 10, 8, 5);
const SCREEN = { columns: 140, rows: 20, palette: paletteFor({ isTTY: false }, {}) };

function server(address: string, workingCount: number, holidayCount = 0): ServerRow {
  const bps = Float32Array.from({ length: 48 }, (_, at) =>
    at < 24 ? (workingCount > 0 ? 1000 * (1 + at) : 0) : holidayCount > 0 ? 48_000 : 0,
  );
  const sites = ["https://one.example", "http://two.example:8080"];
  const lastAtMs = NOW_MS - 90_000;
  const row = { address, sites, lastAtMs, workingCount, holidayCount, bps };
  const hours = { workingHours: 0x7ff, holidayHours: holidayCount === 0 ? 0 : 0xffffff };
  return { ...row, ...hours, scatter: { mean: 0.25, most: 1 } };
}

test("a server is a line: how often and when it was measured, what it gives, its two days, its sites", () => {
  const servers = surveyed([server("192.0.2.1", 7), server("2001:db8::1", 1, 9)], MOMENT, 50);
  const [head, names, first, second, dots, last] = serverLines(servers, NOW_MS, SCREEN);
  assert.equal(head, "2 servers; it is 10:05 on a Friday, a working day");
  assert.match(
    names ?? "",
    /^address {6}measured +seen ago +gives now  a working day's 24 hours  a hol/,
  );
  // Ten measurements against seven, and the nearest hour is 10.
  assert.match(
    first ?? "",
    /^2001:db8::1 +10 +1 min 30 s +11\.0 KB\/s .*█{24}  one\.example http:/,
  );
  assert.match(
    second ?? "",
    /^192\.0\.2\.1 +7 +1 min 30 s +11\.0 KB\/s  ▁▁▁▂[▂-▄]+·{13}  ·{24}  one\.example/,
  );
  assert.match(dots ?? "", /^· not measured at this hour/);
  assert.match(last ?? "", /^expected rate of an unknown server: \d/);
});

test("only the most measured are kept, and the others are counted", () => {
  const rows = Array.from({ length: 500 }, (_, index) => server(`10.0.0.${index}`, 1 + index));
  const servers = surveyed(rows, MOMENT, 30);
  assert.deepEqual(
    servers.top.slice(0, 2).map((row) => row.measured),
    [500, 499],
  );
  assert.equal(servers.top.length, 30);
  const lines = serverLines(servers, NOW_MS, { ...SCREEN, rows: 12 });
  assert.equal(lines.length, 12);
  assert.equal(lines.at(-3), "and 493 servers more");
});

test("a file without servers says so, and nothing foreign reaches the terminal", () => {
  const empty = serverLines(surveyed([], MOMENT, 9), NOW_MS, SCREEN);
  assert.match(empty.join("\n"), /^0 servers; .*\nexpected rate of an unknown server/);
  const nasty = { ...server("192.0.2.1\x1b[2J", 1), sites: ["https://a\nb.example\x07"] };
  const text = serverLines(surveyed([nasty], MOMENT, 9), NOW_MS, SCREEN).join("");
  assert.doesNotMatch(text, /[\x00-\x1f]/);
});

test("a program gets the same in numbers, and null for a kind of day never measured", () => {
  const told = serversAsJson(surveyed([server("192.0.2.1", 7)], MOMENT, 9)) as {
    readonly count: number;
    readonly servers: readonly Record<string, unknown>[];
  };
  assert.equal(told.count, 1);
  assert.deepEqual(told.servers[0], {
    address: "192.0.2.1",
    sites: ["https://one.example", "http://two.example:8080"],
    measured: { working: 7, holiday: 0 },
    lastAt: "2026-04-10T08:03:30.000Z",
    nowBps: 11_000,
    scatter: 0.25,
    workingBps: Array.from({ length: 24 }, (_, hour) => 1000 * (1 + hour)),
    holidayBps: null,
    measuredHours: { working: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], holiday: [] },
  });
});
