import assert from "node:assert/strict";
import { test } from "node:test";
import { Books } from "../bandwidth/history/ledger.ts";
import type { Second } from "../bandwidth/history/series.ts";
import { below, randomFrom } from "../base/random.ts";
import { NO_TOTALS } from "../store/store.ts";
import { deadlinePlot } from "./deadline-plot.ts";
import { highest, type ReportData } from "./gather.ts";
import { ratePlot } from "./rate-plot.ts";
import { reportHtml as madeHtml } from "./report.ts";

const NOON = Date.UTC(2026, 4, 4, 12);
const HOSTILE = `</td><script>alert("1")</script><img src=x onerror=alert(2)>\u001b[2J`;

const reportHtml = (data: ReportData): string => madeHtml(data, (reason) => `means ${reason}`);

test("a report shows bytes, rates, sites, deadlines and failures", () => {
  const html = reportHtml(dataWith({}));
  for (const part of [
    "<h1>example.org</h1>",
    "running, as of 2026-05-04 12:01 UTC",
    "<dd>1,234</dd>",
    "Mean share of limit</dt><dd>98.0 %",
    "Seconds over 105 %</dt><dd>0",
    "Rate, limit and prediction",
    "9.00 KB received, by purpose",
    ">under way<",
    "Working days",
    "<td>docs.example:443</td>",
    "<td>http_404</td><td>failed</td><td>means http_404</td><td>7</td>",
    "1 of 2 deadlines were met.",
    "<td>limit</td><td>1.00 MB/s</td>",
    "And 2 sites with fewer bytes.",
    "<td>https://a.example</td><td>95</td><td>95.0 %</td>",
  ])
    assert.ok(html.includes(part), part);
  assert.doesNotMatch(html, /Weekends and holidays/);
});

test("deadlines that were open when the crawl stopped are not counted as missed", () => {
  const open = { site: "https://open.example", deadlineMs: 600_000, finishedMs: undefined };
  const html = reportHtml(
    dataWith({ promises: [...dataWith({}).promises, { ...open, isOpen: true }] }),
  );
  assert.match(html, /1 of 2 deadlines met, 1 deadline still open\./);
  assert.match(html, /not done<\/td><td>open/);
});

test("text from pages and servers is escaped in the report", () => {
  const html = reportHtml(
    dataWith({
      name: HOSTILE,
      sites: [{ ...siteNamed(HOSTILE), bytes: 1 }],
      servers: [{ ...SERVER, address: HOSTILE, sites: [HOSTILE] }],
      troubles: [{ url: HOSTILE, reason: HOSTILE, detail: HOSTILE }],
      mirrors: [{ site: HOSTILE, of: HOSTILE, pagesShared: 40, share: 0.9 }],
      promises: [{ site: HOSTILE, deadlineMs: 1000, finishedMs: undefined, isOpen: true }],
      flows: [{ name: HOSTILE, sent: [1] }],
      topics: { locality: 0.5, byTopic: { [HOSTILE]: { own: 1, imported: 1 } } },
      settings: [{ key: HOSTILE, text: HOSTILE }],
      totals: { ...NO_TOTALS, outcomes: { [HOSTILE]: 3 }, remarks: { [HOSTILE]: 1 } },
    }),
  );
  assert.doesNotMatch(html, /<script|<img|\u001b/);
  assert.match(html, /default-src 'none'/);
});

test("a crawl without any data has a report without NaN or undefined", () => {
  const html = reportHtml(
    dataWith({
      totals: NO_TOTALS,
      ledger: new Books().byPurpose(),
      sites: [],
      siteCount: 0,
      rates: { minutes: [], seconds: [] },
      servers: [],
      serverCount: 0,
      troubles: [],
      mirrors: [],
      promises: [],
      settings: [],
    }),
  );
  assert.match(html, /No rates of this crawl are recorded yet/);
  assert.doesNotMatch(html, /NaN|undefined|Infinity/);
});

test("processes are shown side by side, with their common metrics", () => {
  const totals = {
    ...NO_TOTALS,
    known: 90,
    done: 60,
    skipped: 20,
    pages: 55,
    outcomes: { sent: 20 },
  };
  const processes = [{ name: "proc-1", totals }];
  const metrics = {
    procs: 2,
    downloaded: 110,
    unique: 100,
    overlap: 0.1,
    urlsExchanged: 44,
    communicationOverhead: 0.4,
  };
  const html = reportHtml(dataWith({ parallel: { processes, metrics } }));
  assert.match(html, /Overlap<\/dt><dd>0\.100/);
  assert.match(
    html,
    /<td>proc-1<\/td><td>55<\/td><td>10<\/td><td>0<\/td><td>0 B<\/td><td>20<\/td>/,
  );
  assert.doesNotMatch(html, /Coverage|undefined/);
  const measured = { ...metrics, coverage: 0.5, quality: 0.25 };
  const compared = reportHtml(dataWith({ parallel: { processes, metrics: measured } }));
  assert.match(compared, /Coverage<\/dt><dd>50\.0 %.*Quality<\/dt><dd>25\.0 %/);
});

test("topics are shown with own and imported pages, and URLs sent between processes as a matrix", () => {
  const byTopic = { science: { own: 200, imported: 31 }, arts: { own: 9, imported: 0 } };
  const html = reportHtml(
    dataWith({
      topics: { locality: 0.64, byTopic },
      parallel: {
        processes: [],
        metrics: {
          procs: 2,
          downloaded: 240,
          unique: 240,
          overlap: 0,
          urlsExchanged: 7,
          communicationOverhead: 0.03,
        },
      },
      flows: [
        { name: "proc-1", sent: [0, 7] },
        { name: "proc-2", sent: [0, 0] },
      ],
    }),
  );
  assert.match(html, /Locality of links<\/dt><dd>64\.0 %/);
  assert.match(html, /<td>science<\/td><td>200<\/td><td>31<\/td>/);
  assert.match(html, /240 pages by topic/);
  assert.match(html, /URLs sent, from the row to the column/);
});

test("a deadline's bar ends when its site was done, and an unfinished late site's bar ends now", () => {
  const rows = [
    { name: "a.example", deadlineSeconds: 60, finishedSeconds: 30 },
    { name: "b.example", deadlineSeconds: 60, finishedSeconds: undefined },
  ];
  const svg = deadlinePlot({ title: "Deadlines", rows, nowSeconds: 90, width: 500 });
  const widths = [...svg.matchAll(/class="f(\d)"[^>]* width="([\d.]+)"/g)];
  assert.deepEqual(
    widths.map(([, colour]) => colour),
    ["2", "1"],
  );
  assert.equal((Number(widths[1]?.[2]) / Number(widths[0]?.[2])).toFixed(1), "3.0");
  assert.match(svg, /b\.example: due after 60 s, not done/);
});

test("a pause is a gap, and pauses longer than the crawled time are left out", () => {
  const seconds = [...secondsFrom(NOON, 20), ...secondsFrom(NOON + 25_000, 20)];
  const short = ratePlot({ minutes: [], seconds }, 800);
  assert.match(short, /Time \(UTC, from 2026-05-04\)/);
  assert.equal(pathsOf(short)[0]?.match(/M/g)?.length, 2);
  const days = [...secondsFrom(NOON, 20), ...secondsFrom(NOON + 40_000_000, 20)];
  const long = ratePlot({ minutes: [], seconds: days }, 800);
  assert.match(long, /Time crawled, pauses left out \(s\)/);
  assert.equal(pathsOf(long)[0]?.match(/M/g)?.length, 2);
});

test("the highest items are found and all items counted", () => {
  for (let seed = 1; seed <= 50; seed++) {
    const random = randomFrom(seed);
    const items = Array.from({ length: below(random, 500) }, () => below(random, 1000));
    const countMax = 1 + below(random, 40);
    const { kept, count } = highest(items, countMax, (item) => item);
    assert.deepEqual(kept, items.toSorted((a, b) => b - a).slice(0, countMax), `seed ${seed}`);
    assert.equal(count, items.length, `seed ${seed}`);
  }
});

const SERVER: ReportData["servers"][number] = {
  address: "192.0.2.7",
  sites: ["https://docs.example:443"],
  lastAtMs: NOON,
  workingCount: 5,
  holidayCount: 0,
  workingHours: 1 << 7,
  holidayHours: 0,
  bps: Float32Array.from({ length: 48 }, (_, hour) => 1e5 * (1 + hour)),
  scatter: undefined,
};

function dataWith(changes: Partial<ReportData>): ReportData {
  const site = siteNamed("https://docs.example:443");
  return {
    name: "example.org",
    madeAtMs: NOON + 60_000,
    state: "running",
    totals: { ...NO_TOTALS, pages: 1234, bytes: 9000, failed: 7, outcomes: { http_404: 7 } },
    pending: 0,
    ledger: site.ledger,
    sites: [site],
    siteCount: 3,
    rates: { minutes: [], seconds: secondsFrom(NOON, 60) },
    servers: [SERVER],
    serverCount: 1,
    parallel: undefined,
    troubles: [{ url: "https://docs.example/gone", reason: "http_404", detail: "" }],
    mirrors: [{ site: "https://b.example", of: "https://a.example", pagesShared: 95, share: 0.95 }],
    promises: [
      { site: "https://docs.example", deadlineMs: 60_000, finishedMs: 42_000, isOpen: false },
      { site: "https://news.example", deadlineMs: 90_000, finishedMs: 100_000, isOpen: false },
    ],
    flows: [],
    topics: undefined,
    settings: [{ key: "limit", text: "1.00 MB/s" }],
    ...changes,
  };
}

function siteNamed(site: string): ReportData["sites"][number] {
  const books = new Books();
  books.receive(8000);
  books.book(7000, "page");
  books.book(1000, "error");
  return { site, known: 10, pending: 2, pages: 5, bytes: 8000, ledger: books.byPurpose() };
}

function secondsFrom(startMs: number, count: number): Second[] {
  return Array.from({ length: count }, (_, index) => ({
    atMs: startMs + index * 1000,
    bytes: 980_000,
    predictedBps: 990_000,
    limitBps: 1_000_000,
  }));
}

function pathsOf(svg: string): string[] {
  return Array.from(svg.matchAll(/<path[^>]* d="([^"]*)"/g), ([, path]) => path ?? "");
}
