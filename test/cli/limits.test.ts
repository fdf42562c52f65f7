import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { type Ended, run, start, temporaryFolder } from "./program.ts";
import { type SmallSite, startSite } from "./small-site.ts";

const LOCAL = ["--allow-private", "127.0.0.0/8"];
const PAGES = 40;
const PAGE_BYTES = 100_000;

/** A home page and forty pages of 100 KB, four megabytes in all. */
function startHeavySite(): Promise<SmallSite> {
  const special: Record<string, (response: ServerResponse) => void> = {};
  for (let number = 1; number <= PAGES; number++)
    special[`/page/${number}`] = (response) => {
      response.writeHead(200, { "content-type": "text/html" });
      // Other words on each page: of copies, only a sample is requested.
      const text = Array.from({ length: PAGE_BYTES / 6 }, (_, at) => `w${(at * number) % 997}`);
      response.end(`<title>${number}</title>${text.join(" ").padEnd(PAGE_BYTES)}`);
    };
  return startSite({ pageCount: PAGES, special });
}

function pagesAsked(site: SmallSite): number {
  return site.requests.filter((path) => path.startsWith("/page/")).length;
}

function resultOf({ stdout }: Ended): { pages: number; bytes: number; stoppedBy: string } {
  return JSON.parse(stdout) as { pages: number; bytes: number; stoppedBy: string };
}

test("every bad limit is refused at once, with exit code 2 and what to write, and nothing is created", async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "weir.yaml"), "siteLimit: 0\nlimitAt: mon=1MB/s,mon-fri=2MB/s\n");
  const words = ["crawl", "http://a.test/", "--config", "weir.yaml", "--limit", "2"];
  const { code, stdout, stderr } = await run([...words, "--quota", "5GB"], {
    folder: folder.path,
  });
  assert.equal(code, 2);
  assert.equal(stdout, "");
  for (const part of [
    "4 mistakes",
    '--limit "2": a rate needs a unit; write 2MB/s or 2Mbit/s',
    '--quota "5GB": needs a period; write 5GB/day or 5GB/month',
    'weir.yaml line 1: siteLimit "0": a quota of 0 allows no request; write none for no limit',
    'weir.yaml line 2: limitAt "mon=1MB/s,mon-fri=2MB/s": "mon" and "mon-fri" both speak of mon',
  ])
    assert.ok(stderr.includes(part), `${part}\nis not in\n${stderr}`);
  assert.deepEqual(readdirSync(folder.path), ["weir.yaml"]);
});

test("one bad limit is one line and its remedy", async () => {
  for (const [text, told] of [
    ["-2MB/s", "a limit is never negative; write 2MB/s"],
    ["2mbps", "is not clear; write 2Mbit/s or 2MB/s"],
    ["100B/s", "is too little: one request a second takes about 4 KB; write at least 4KB/s"],
  ]) {
    const { code, stderr } = await run(["crawl", "http://a.test/", "--limit", text ?? ""]);
    assert.equal(code, 2);
    assert.equal(stderr.split("\n")[0], `weir: --limit ${JSON.stringify(text)}: ${told}`);
  }
});

test("a change that cannot be read is refused before any crawl is looked for", async () => {
  using folder = temporaryFolder();
  for (const [key, value, told] of [
    ["limit", "500", /a rate needs a unit; write 500MB\/s or 500KB\/s or 500Mbit\/s/],
    ["limit-at", "mon 25:00-26:00=1MB/s", /25:00 is no time of day; the last one is 24:00/],
    ["site-limit", "0", /write none for no limit/],
    ["quota", "1KB/day", /write at least 1MB\/day/],
    ["siteLimit", "1MB/s", /did you mean site-limit\?/],
  ] as const) {
    const { code, stderr } = await run(["set", folder.path, key, value]);
    assert.equal(code, 2);
    assert.match(stderr, told);
  }
});

test("a quota stops with 3 and says until when, holds for the next run, and lets go when lifted", async () => {
  await using site = await startHeavySite();
  using folder = temporaryFolder();
  const words = ["crawl", site.origin, "--out", join(folder.path, "out"), "--json", ...LOCAL];
  const first = await run([...words, "--quota", "1MB/day"]);
  assert.equal(first.code, 3, first.stderr);
  const { pages, bytes, stoppedBy } = resultOf(first);
  assert.match(stoppedBy, /^quota of 1\.00 MB a day used up until \d{4}-\d\d-\d\d 00:00/);
  assert.match(stoppedBy, /--quota 2\.00MB\/day, or --quota none/);
  // What was under way when it was used up is finished.
  // Packets' headers count too, and are not among these bytes.
  assert.ok(bytes >= 0.85e6 && bytes < 1e6 + 4 * PAGE_BYTES, `${bytes} bytes`);

  const asked = site.requests.length;
  const second = await run([...words, "--quota", "1MB/day"]);
  assert.equal(second.code, 3, second.stderr);
  assert.match(resultOf(second).stoppedBy, /^quota of 1\.00 MB a day used up until/);
  assert.equal(site.requests.length, asked, "nothing is asked for without room");

  const third = await run([...words, "--quota", "none"]);
  assert.equal(third.code, 0, third.stderr);
  assert.ok(pages < PAGES && resultOf(third).pages === PAGES + 1);
});

test("what a killed crawl had used counts for the quota of the next one", async () => {
  await using site = await startHeavySite();
  using folder = temporaryFolder();
  const words = ["crawl", site.origin, "--out", join(folder.path, "out"), ...LOCAL];
  const crawl = start([...words, "--delay", "250ms", "--concurrency-per-site", "1"]);
  while (pagesAsked(site) < 20) await new Promise((resolve) => setTimeout(resolve, 20));
  crawl.process.kill("SIGKILL");
  await crawl.ended;
  // What came since the last commit is not known: at this pace, no more than a few pages.
  const asked = site.requests.length;
  const next = await run([...words, "--quota", "1MB/day", "--json"]);
  assert.equal(next.code, 3, next.stderr);
  assert.match(resultOf(next).stoppedBy, /^quota of 1\.00 MB a day used up until/);
  assert.equal(site.requests.length, asked, "twice the quota had come already");
});

test("a limit is changed while the crawl runs, and takes hold at once", async () => {
  await using site = await startHeavySite();
  using folder = temporaryFolder();
  const out = join(folder.path, "out");
  const words = ["crawl", site.origin, "--out", out, "--delay", "0", ...LOCAL];
  // Four megabytes at this rate would take more than three minutes.
  const crawl = start([...words, "--limit", "20KB/s", "--json"]);
  await crawl.saw("waiting");
  const lower = await run(["set", out, "limit", "10KB/s"]);
  assert.equal(lower.code, 0, lower.stderr);
  assert.equal(lower.stdout, "at most 10.0 KB/s for all sites together\n");
  assert.ok(pagesAsked(site) < PAGES / 2, "it is still held");
  const lifted = await run(["set", out, "limit", "none"]);
  assert.equal(lifted.stdout, "no limit for all sites together\n");
  const ended = await crawl.ended;
  assert.equal(ended.code, 0, ended.stderr);
  assert.equal(resultOf(ended).pages, PAGES + 1);
});

test("a calendar that allows nothing now holds the crawl until somebody says otherwise", async () => {
  await using site = await startHeavySite();
  using folder = temporaryFolder();
  const out = join(folder.path, "out");
  const today = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"][new Date().getUTCDay()];
  const words = ["crawl", site.origin, "--out", out, "--time-zone", "UTC", ...LOCAL];
  const crawl = start([...words, "--limit-at", `${today}=pause,else=none`, "--json"]);
  let status = await run(["status", out]);
  while (!status.stdout.includes("paused")) status = await run(["status", out]);
  assert.match(status.stdout, /the calendar allows nothing now/);
  assert.equal(pagesAsked(site), 0);
  const set = await run(["set", out, "limit", "none"]);
  assert.equal(set.stdout, "no limit for all sites together; the calendar is ignored\n");
  const ended = await crawl.ended;
  assert.equal(ended.code, 0, ended.stderr);
});
