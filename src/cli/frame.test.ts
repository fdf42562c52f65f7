import assert from "node:assert/strict";
import { test } from "node:test";
import { Books } from "../bandwidth/history/ledger.ts";
import { below, pick, randomFrom, type Random } from "../base/random.ts";
import type { CrawlState, SiteView, Snapshot } from "../control/snapshot.ts";
import { showDuration } from "../base/units.ts";
import { NO_TOTALS } from "../store/store.ts";
import { showRate } from "./amounts.ts";
import { frameOf, gauge, progressBar, sparkline } from "./frame.ts";
import { plainLine } from "./plain-view.ts";
import { fitted, paletteFor } from "./terminal.ts";

const plain = paletteFor({ isTTY: false }, {});
const coloured = paletteFor({ isTTY: true }, {});
const HOSTILE = [
  "\u001b[2J",
  "\u001b]0;owned\u0007",
  "\u001b]8;;http://x\u001b\\",
  "\u009b31m",
  "\r\n",
  "\u202e",
  "\u200b",
  "漢字",
  "e\u0301",
  "\ud800",
];

function snapshotWith(changes: Partial<Snapshot>): Snapshot {
  return {
    state: "running",
    because: "",
    processId: 1,
    elapsedMs: 42_000,
    resumed: false,
    totals: NO_TOTALS,
    pending: 0,
    rateBps: 0,
    pagesPerSecond: 0,
    recentBps: [],
    limitBps: undefined,
    predictedBps: 0,
    waitingReaders: 0,
    ledger: new Books().byPurpose(),
    remainingMs: undefined,
    connectionsOpen: 0,
    connectionsMax: 64,
    plan: undefined,
    siteCount: 0,
    sites: [],
    unreachable: 0,
    troubles: [],
    ...changes,
  };
}

const NO_NEWS = { changed: 0, unchanged: 0, fresh: 0, gone: 0, left: 0 };
const FIRST_ROUND = { number: 1, news: NO_NEWS, nextInMs: undefined };

test("a frame tells rate, pages, sites, errors and time left", () => {
  const site: SiteView = {
    site: "https://docs.example",
    known: 400,
    pages: 300,
    bytes: 8_000_000,
    pending: 100,
    inFlight: 2,
    state: "fetching",
    nextInMs: 0,
    round: FIRST_ROUND,
    priority: 1,
    forecast: undefined,
    deadlineMs: undefined,
    finishedMs: undefined,
  };
  const totals = { ...NO_TOTALS, pages: 1234, failed: 7, bytes: 56.8e6, outcomes: { http_404: 7 } };
  const frame = frameOf(
    snapshotWith({
      totals,
      pending: 3500,
      rateBps: 1.24e6,
      pagesPerSecond: 58.3,
      recentBps: [1, 2, 4, 8],
      remainingMs: 62_000,
      siteCount: 3,
      sites: [site],
      troubles: [{ url: "https://docs.example/gone", reason: "http_404", detail: "" }],
    }),
    { columns: 110, rows: 30, palette: plain },
  ).join("\n");
  assert.match(frame, /▁▂▄█ {2}1.24 MB\/s {2}58.3 pages\/s {2}0\/64 requests open/);
  assert.match(frame, /1,234 pages {2}56.8 MB {2}3,500 waiting {2}7 failed/);
  assert.match(frame, /about 1 min 2 s left/);
  assert.match(frame, /docs.example {2}█+░+ +300\/400 +8.00 MB {2}fetching/);
  assert.match(frame, /and 2 sites more/);
  assert.match(frame, /http_404 7/);
  assert.match(frame, /http_404 +https:\/\/docs.example\/gone/);
});

test("with a limit a frame tells the rate against it, what is predicted and what is held back", () => {
  const books = new Books();
  books.receive(1000);
  books.book(700, "page");
  books.book(200, "redirect");
  const snapshot = snapshotWith({
    rateBps: 1.96e6,
    limitBps: 2e6,
    predictedBps: 1.99e6,
    waitingReaders: 3,
    connectionsOpen: 12,
    recentBps: [1e6, 2e6, 2.2e6],
    ledger: books.byPurpose(),
  });
  const frame = frameOf(snapshot, { columns: 120, rows: 30, palette: plain }).join("\n");
  assert.match(frame, /█+░?│░+ {2}1.96 MB\/s of 2.00 \(98 %\) {2}predicted 1.99 MB\/s/);
  assert.match(frame, /25 % held by the limit/);
  assert.match(frame, /▄██ {2}0.0 pages\/s/);
  assert.match(frame, /page 700 B {2}redirect 200 B/);
  assert.match(plainLine(snapshot), /rate 1.96 MB\/s of 2.00 \(98 %\)/);
});

function siteWith(changes: Partial<SiteView>): SiteView {
  return {
    site: "http://127.1.0.2:8673",
    known: 12_000,
    pages: 9_000,
    bytes: 812_000_000,
    pending: 3_000,
    inFlight: 2,
    state: "polite delay",
    nextInMs: 900,
    round: FIRST_ROUND,
    priority: 1,
    forecast: undefined,
    deadlineMs: 120_000,
    finishedMs: undefined,
    ...changes,
  };
}

function forecastWith(finishInMs: number, deadlineInMs: number): SiteView["forecast"] {
  const isLate = finishInMs > deadlineInMs;
  return { deadlineInMs, finishInMs, rateBps: 1e6, leftBytes: 1e6, segments: [], isLate };
}

test("80 columns show each verdict whole, with name, bar and count, and leave out the state", () => {
  const sites = [
    siteWith({ forecast: forecastWith(68_000, 130_000) }),
    siteWith({ site: "https://departments.university.example", forecast: forecastWith(99e3, 9e3) }),
    siteWith({ site: "http://done.example", pending: 0, state: "idle", finishedMs: 110_000 }),
  ];
  const snapshot = snapshotWith({ sites, siteCount: 3 });
  const narrow = frameOf(snapshot, { columns: 80, rows: 24, palette: plain }).join("\n");
  assert.match(
    narrow,
    /^127.1.0.2:8673 +█+░+ +9,000\/12,000 .*done in 1 min 8 s, due in 2 min 10 s$/m,
  );
  assert.match(narrow, /^departments.+… +█+░+ +9,000\/12,000 .*late by 1 min 30 s$/m);
  assert.match(narrow, /^done.example +█+ +9,000\/9,000 .*✓ 1 min 50 s of 2 min 0 s$/m);
  assert.doesNotMatch(narrow, /polite|http:/);
  const wide = frameOf(snapshot, { columns: 140, rows: 24, palette: plain }).join("\n");
  assert.match(wide, /^http:\/\/127.1.0.2:8673 .*812 MB {2}polite delay 0.9 s +done in 1 min 8 s/m);
});

test("from 60 columns on, no screen cuts a verdict or the time left", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = randomFrom(seed);
    const finishInMs = below(random, 400 * 3_600_000);
    const deadlineInMs = below(random, 400 * 3_600_000);
    const late = finishInMs > deadlineInMs;
    const verdict = late
      ? `late by ${showDuration(finishInMs - deadlineInMs)}`
      : `done in ${showDuration(finishInMs)}, due in ${showDuration(deadlineInMs)}`;
    const site = siteWith({
      site: `https://${"x".repeat(1 + below(random, 60))}.example`,
      pages: below(random, 1e7),
      pending: 1 + below(random, 1e7),
      round: { ...FIRST_ROUND, number: 1 + below(random, 9), nextInMs: below(random, 1e9) },
      forecast: forecastWith(finishInMs, deadlineInMs),
    });
    const columns = 60 + below(random, 100);
    const pending = below(random, 1e8);
    const totals = { ...NO_TOTALS, pages: below(random, 1e8), failed: below(random, 1e8) };
    const snapshot = snapshotWith({ sites: [site], totals, pending, remainingMs: 3_720_000 });
    const frame = frameOf(snapshot, { columns, rows: 24, palette: plain });
    const at = `seed ${seed}: ${columns} columns\n${frame.join("\n")}`;
    assert.ok(
      frame.some((line) => line.endsWith(verdict)),
      at,
    );
    if (pending > 0)
      assert.ok(
        frame.some((line) => line.endsWith("about 1 h 2 min left")),
        at,
      );
  }
});

test("a rate is told in the unit of its limit, or the limit in its own", () => {
  assert.equal(showRate(5e5, undefined), "500 KB/s");
  assert.equal(showRate(5e5, 2e6), "500 KB/s of 2.00 MB/s (25 %)");
  assert.equal(showRate(0, 0), "0 B/s, paused by the calendar");
});

test("a bar and a sparkline keep their width", () => {
  assert.equal(progressBar(0.5, 10), "█████░░░░░");
  assert.equal(progressBar(7, 4), "████");
  assert.equal(progressBar(-1, 4), "░░░░");
  assert.equal(gauge(0.5, 10), "████░░░░│░");
  assert.equal(gauge(1.1, 10), "█████████░");
  assert.equal(gauge(9, 10), "██████████");
  assert.equal(gauge(1, -3), "");
  assert.equal(sparkline([0, 1, 8], 10), " ▁█");
  assert.equal(sparkline([], 10), "");
  assert.equal(sparkline([0, 4, 8, 9], 10, 8), " ▄██");
  assert.equal(sparkline(Array<number>(100).fill(5), 60).length, 60);
});

test("a line is cut to its columns, wide letters count twice and colours nothing", () => {
  assert.equal(fitted("abcdef", 4), "abcd");
  assert.equal(fitted("漢字漢字", 5), "漢字");
  assert.equal(fitted("e\u0301e\u0301e\u0301", 2), "e\u0301e\u0301");
  assert.equal(fitted(coloured.bad("abcdef"), 3), "\u001b[31mabc\u001b[39m");
});

test("colour is for terminals, and NO_COLOR and dumb ones are respected", () => {
  assert.equal(coloured.bold("x"), "\u001b[1mx\u001b[22m");
  assert.equal(paletteFor({ isTTY: true }, { NO_COLOR: "1" }).bold("x"), "x");
  assert.equal(paletteFor({ isTTY: true }, { NO_COLOR: "" }).bold("x"), "\u001b[1mx\u001b[22m");
  assert.equal(paletteFor({ isTTY: true }, { TERM: "dumb" }).bold("x"), "x");
  assert.equal(plain.bold("x"), "x");
});

test("no frame is higher or wider than its screen, nor obeys foreign text", () => {
  for (let seed = 1; seed <= 300; seed++) {
    const random = randomFrom(seed);
    const columns = 1 + below(random, 150);
    const rows = 1 + below(random, 50);
    const frame = frameOf(randomSnapshot(random), { columns, rows, palette: plain });
    assert.ok(frame.length <= Math.max(1, rows - 1), `seed ${seed}: ${frame.length} of ${rows}`);
    for (const line of frame) {
      const letters = [...line.replaceAll(/\p{Mark}/gu, "")].length;
      assert.ok(letters <= columns, `seed ${seed}: ${letters} of ${columns}`);
      assert.doesNotMatch(line, /[\p{Cc}\p{Surrogate}\u202e\u200b]/u, `seed ${seed}`);
    }
  }
});

function randomSnapshot(random: Random): Snapshot {
  const foreign = (): string => pick(random, HOSTILE) + "x".repeat(below(random, 400));
  const states: readonly CrawlState[] = ["starting", "running", "paused", "stopping", "done"];
  return snapshotWith({
    state: pick(random, states),
    because: foreign(),
    totals: {
      ...NO_TOTALS,
      pages: below(random, 1e9),
      outcomes: { http_404: below(random, 9), robots_denied: below(random, 9) },
    },
    pending: below(random, 1e9),
    remainingMs: random.next() * 1e12,
    limitBps: pick(random, [undefined, 0, 1e6]),
    rateBps: random.next() * 2e6,
    waitingReaders: below(random, 9),
    connectionsOpen: below(random, 9),
    ledger: { ...new Books().byPurpose(), page: below(random, 1e12), retry: below(random, 1e12) },
    recentBps: Array.from({ length: 60 }, () => random.next() * 1e9),
    siteCount: below(random, 1e6),
    sites: Array.from({ length: below(random, 50) }, () => ({
      site: foreign(),
      known: below(random, 1e6),
      pages: below(random, 1e6),
      bytes: below(random, 1e12),
      pending: below(random, 1e6),
      inFlight: below(random, 8),
      state: "back-off",
      nextInMs: below(random, 1e6),
      round: { ...FIRST_ROUND, number: 1 + below(random, 9), nextInMs: below(random, 1e9) },
      priority: 1,
      forecast: undefined,
      deadlineMs: undefined,
      finishedMs: undefined,
    })),
    troubles: Array.from({ length: below(random, 20) }, () => ({
      url: foreign(),
      reason: "http_404",
      detail: foreign(),
    })),
  });
}
