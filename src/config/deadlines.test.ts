import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { CrawlError } from "../base/errors.ts";
import { checkPlanOrder, type Order, readOrder } from "./order.ts";
import { siteWishes } from "./site-wishes.ts";
import { gatherSettings } from "./sources.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-plan-"));
after(() => rmSync(folder, { recursive: true }));

function orderOf(text: string, ...words: string[]): Promise<Order> {
  const file = join(folder, "weir.yaml");
  writeFileSync(file, text);
  return readOrder(["--config", file, ...words], {});
}

/** The faults of a file's sites as remarks; checks that --strict refuses the same file. */
async function faultsIn(text: string, ...words: string[]): Promise<string> {
  const { remarks } = await orderOf(text, ...words);
  if (remarks.length > 0)
    await assert.rejects(orderOf(text, "--strict", ...words), (error) => {
      assert.ok(error instanceof CrawlError && error.code === "SETTINGS_INVALID", String(error));
      return true;
    });
  return remarks.join("\n");
}

function oneSite(...lines: string[]): string {
  return `sites:\n  - url: http://a.test/\n${lines.map((line) => `    ${line}\n`).join("")}  - http://b.test/\n`;
}

test("a file says what was promised of each site, and the rest holds for all", async () => {
  const text = oneSite("deadline: 30m", "size: 120MB", "priority: 2", "cap: 1MB/s");
  const { settings, seeds, remarks } = await orderOf(text, "--deadline", "2h", "--delay", "3s");
  assert.deepEqual(remarks, []);
  assert.deepEqual(siteWishes(settings, seeds), [
    {
      site: "http://a.test",
      deadlineSeconds: 1800,
      sizeBytes: 120e6,
      pagesExpected: undefined,
      capBps: 1e6,
      limitBps: undefined,
      weight: 2,
      efficiency: 1,
      concurrency: settings.concurrencyPerSite,
      delayMs: 3000,
    },
    {
      site: "http://b.test",
      deadlineSeconds: 7200,
      sizeBytes: undefined,
      pagesExpected: undefined,
      capBps: undefined,
      limitBps: undefined,
      weight: 1,
      efficiency: 1,
      concurrency: settings.concurrencyPerSite,
      delayMs: 3000,
    },
  ]);
});

test("a line of a site that cannot be read is told in its own terms, and left out unless strict", async () => {
  for (const [line, why] of [
    ["deadline: -5m", /weir\.yaml line 2: deadline "-5m": is in the past; .*ignored$/],
    ["deadline: 0", /"0": is over when the crawl starts/],
    ["deadline: 0s", /"0s": is over when the crawl starts/],
    ["deadline: 30", /needs a unit; write 30s, 30m or 30h/],
    ["deadline: 2026-05-01", /is a time of the clock; a deadline counts from the start/],
    ["deadline: 18:30", /is a time of the clock/],
    ["deadline: soon", /is no duration/],
    ["deadline: 500ms", /too soon to start anything/],
    ["deadline: 400d", /more than a year ahead/],
    ["size: 0", /size "0": is no size to plan for/],
    ["size: 0MB", /is no size to plan for/],
    ["size: 7", /needs a unit; write 7KB or 7MB/],
    ["size: 9000TB", /is too large/],
    ["size: big", /is no size; write it as/],
    ["priority: 0", /priority "0": would postpone the site forever/],
    ["priority: high", /where 1 is usual/],
    ["cap: 0", /permits nothing/],
    ["cap: fast", /such as 500KB\/s/],
    ["efficiency: 0", /efficiency "0": expects a number from 0.01/],
  ] as const)
    assert.match(await faultsIn(oneSite(line)), why, line);
  const { settings } = await orderOf(oneSite("deadline: 0", "size: 5MB"));
  assert.deepEqual([settings.sites[0]?.deadlineMs, settings.sites[0]?.sizeBytes], [undefined, 5e6]);
});

test("a pace that cannot be read, and an unknown line, stop everything", async () => {
  await assert.rejects(orderOf(oneSite("delay: 5")), /delay "5": expects a duration/);
  await assert.rejects(orderOf(oneSite("dedline: 5m")), /dedline is unknown/);
  await assert.rejects(orderOf("sites: [http://a.test/]", "--deadline", "0"), /--deadline "0"/);
});

test("settings that exclude each other are named with the remedy", async () => {
  for (const [text, words, why] of [
    [
      oneSite("deadline: 2h"),
      ["--time", "1h"],
      /^the deadline of http:\/\/a\.test, 2 h 0 min, is later than .*--time\); shorten it or give/,
    ],
    [
      oneSite("deadline: 20s"),
      ["--startup", "30s"],
      /over before the site has started.*lengthen it or shorten startup/,
    ],
    [
      oneSite("cap: 10KB/s"),
      ["--min-rate", "50KB/s"],
      /can take 10\.0 KB\/s at most \(cap\), less than minRate of 50\.0 KB\/s.*lower minRate/,
    ],
    [
      oneSite("limit: 10KB/s"),
      ["--min-rate", "50KB/s"],
      /at most \(limit\), less than minRate of 50\.0 KB\/s/,
    ],
    [
      oneSite("size: 900TB"),
      ["--limit", "100KB/s"],
      /900 TB of http:\/\/a\.test would take 285 years at 100 KB\/s; check its size/,
    ],
    [
      `${oneSite("deadline: 10m")}  - url: http://a.test/x\n    deadline: 20m\n`,
      [],
      /2 entries with different deadline lines \(10 min 0 s, 20 min 0 s\), of which the last one/,
    ],
    [
      oneSite("deadline: 1m"),
      ["--deadline", "1m", "--max-sites", "1", "--startup", "40s"],
      /2 sites have deadlines, but only 1 can start .*raise maxSites, or shorten startup/,
    ],
    [
      oneSite("deadline: 1m"),
      ["--deadline", "1m", "--startup", "40s", "--min-rate", "60KB/s", "--limit", "100KB/s"],
      /only 1 can start .*raise the limit or lower minRate/,
    ],
  ] as const)
    assert.match(await faultsIn(text, ...words), why);
  for (const [words, why] of [
    [["--min-rate", "2MB/s", "--limit", "1MB/s"], /no site could ever start; lower minRate/],
    [["--startup", "1m", "--time", "30s"], /no page would be fetched; shorten startup/],
  ] as const)
    await assert.rejects(orderOf(oneSite(), ...words), why);
});

test("many sites with the same fault are told in few lines", async () => {
  const sites = Array.from({ length: 500 }, (_, index) => `  - http://s${index}.test/\n`);
  const { remarks } = await orderOf(`sites:\n${sites.join("")}`, "--deadline=2h", "--time=1h");
  assert.equal(remarks.length, 11);
  assert.equal(remarks.at(-1), "and 490 more such");
});

test("a plan may be made for any address, and without saying who asks", async () => {
  const words = ["https://example.org/", "http://127.0.0.1:8000/"];
  const { settings } = await gatherSettings(words, {});
  assert.deepEqual(checkPlanOrder(settings).seeds, [
    "https://example.org/",
    "http://127.0.0.1:8000/",
  ]);
  await assert.rejects(readOrder(words, {}), /--contact/);
});
