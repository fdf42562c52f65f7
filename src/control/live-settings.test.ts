import assert from "node:assert/strict";
import { test } from "node:test";
import { CrawlError } from "../base/errors.ts";
import { defaultSettings } from "../config/sources.ts";
import { Changes, type Changing } from "./live-settings.ts";

/** Records the calls, as a crawl would apply them. */
function notes(): { readonly told: string[]; readonly crawl: Changing } {
  const told: string[] = [];
  const note =
    (name: string) =>
    (...values: readonly unknown[]): void => {
      told.push(`${name} ${values.map((value) => JSON.stringify(value) ?? "none").join(" ")}`);
    };
  const crawl: Changing = {
    hold: note("hold"),
    stop: note("stop"),
    setConnections: note("connections"),
    setDelay: note("delay"),
    setPages: note("pages"),
    setLimit: note("limit"),
    setCalendar: (calendar) => note("calendar")(calendar?.text),
    setSiteLimit: note("site-limit"),
    setQuota: note("quota"),
    setDeadline: note("deadline"),
    setPriority: note("priority"),
  };
  return { told, crawl };
}

function refusalOf(changes: Changes, key: string, text: string): string {
  try {
    changes.apply(key, text);
  } catch (error) {
    assert.ok(error instanceof CrawlError, String(error));
    assert.equal(error.code, "USAGE");
    return error.message;
  }
  throw new Error(`accepted: ${key} ${text}`);
}

test("each change is done and answered in words", () => {
  const { told, crawl } = notes();
  const changes = new Changes(crawl, defaultSettings());
  for (const [key, text, answer] of [
    ["limit", "500KB/s", "at most 500 KB/s for all sites together"],
    ["limit", "none", "no limit for all sites together"],
    ["site-limit", "8Mbit/s", "at most 1.00 MB/s for each site"],
    ["quota", "5GB/day", "at most 5.00 GB a day, what has come counted in"],
    ["quota", "none", "no quota"],
    ["pause", "true", "paused"],
    ["pause", "false", "running again"],
    ["stop", "now", "stopping: running requests finish"],
    ["connections", "3", "at most 3 connections"],
    ["delay", "2s", "2000 ms between two requests to a site"],
    ["pages", "10", "stops after 10 pages"],
    ["deadline", "https://News.example/=90s", "https://news.example: done within 1 min 30 s"],
    ["deadline", "https://news.example=none", "https://news.example: no deadline"],
    ["priority", "https://news.example=2.5", "https://news.example: priority 2.5"],
  ] as const)
    assert.equal(changes.apply(key, text), answer);
  assert.deepEqual(told, [
    "limit 500000",
    "limit none",
    "site-limit 1000000",
    'quota {"bytes":5000000000,"per":"day"}',
    "quota none",
    'hold "paused by the operator" true',
    'hold "paused by the operator" false',
    'stop "stopped by the operator"',
    "connections 3",
    "delay 2000",
    "pages 10",
    'deadline "https://news.example" 90000',
    'deadline "https://news.example" none',
    'priority "https://news.example" 2.5',
  ]);
});

test("more connections than the limit of open files allows are not set", () => {
  const { told, crawl } = notes();
  const changes = new Changes(crawl, defaultSettings(), 36);
  const answer = "at most 36 connections; the limit of open files allows no more";
  assert.equal(changes.apply("connections", "500"), answer);
  assert.equal(changes.apply("connections", "36"), "at most 36 connections");
  assert.deepEqual(told, ["connections 36", "connections 36"]);
});

test("a limit puts the calendar aside; a calendar leaves its holes to the limit", () => {
  const { told, crawl } = notes();
  const changes = new Changes(crawl, { ...defaultSettings(), limitBps: 2e6 });
  const toldFor = (key: string, text: string): [answer: string, told: string[]] => [
    changes.apply(key, text),
    told.splice(0),
  ];
  assert.deepEqual(toldFor("limit-at", "sat=1MB/s"), [
    "sat=1MB/s, else at most 2.00 MB/s",
    ['calendar "sat=1MB/s"'],
  ]);
  assert.deepEqual(toldFor("limit", "3MB/s"), [
    "at most 3.00 MB/s for all sites together; the calendar is ignored",
    ["limit 3000000"],
  ]);
  assert.deepEqual(toldFor("limit-at", "sat=1MB/s,else=none"), [
    "sat=1MB/s,else=none",
    ['calendar "sat=1MB/s,else=none"'],
  ]);
  assert.deepEqual(toldFor("limit-at", "none"), [
    "no calendar; at most 3.00 MB/s for all sites together",
    ["calendar none"],
  ]);
  changes.apply("limit", "none");
  assert.match(
    refusalOf(changes, "limit-at", "sat=1MB/s"),
    /has no rate for mon-fri,sun 00:00-24:00/,
  );
});

test("what cannot be read or changed is refused like a setting, and nothing is done", () => {
  const { told, crawl } = notes();
  const changes = new Changes(crawl, defaultSettings());
  assert.equal(
    refusalOf(changes, "limit", "2"),
    'limit "2": a rate needs a unit; write 2MB/s or 2Mbit/s',
  );
  assert.match(refusalOf(changes, "limit", "1B/s"), /at least 4KB\/s/);
  assert.match(refusalOf(changes, "limit-at", "mon=1MB/s,mon=2MB/s"), /speaks twice|both speak/);
  assert.match(refusalOf(changes, "limit-at", "holiday=1MB/s,else=none"), /--holidays IT/);
  assert.match(refusalOf(changes, "quota", "5GB"), /5GB\/day or 5GB\/month/);
  assert.match(refusalOf(changes, "connections", "none"), /expects a whole number/);
  assert.match(refusalOf(changes, "delay", "5"), /expects a duration/);
  assert.match(refusalOf(changes, "limt", "5"), /did you mean limit\?/);
  assert.match(refusalOf(changes, "warc", "false"), /these can: limit, limit-at, site-limit/);
  assert.deepEqual(told, []);
});
