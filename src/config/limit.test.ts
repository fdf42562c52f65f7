import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { CrawlError } from "../base/errors.ts";
import { checkOrder, type Order, readOrder } from "./order.ts";
import { defaultSettings } from "./sources.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-bandwidth-"));
after(() => rmSync(folder, { recursive: true }));

function orderOf(...words: string[]): Promise<Order> {
  return readOrder(["http://a.test/", ...words], {});
}

async function mistakesIn(...words: string[]): Promise<string> {
  try {
    await orderOf(...words);
  } catch (error) {
    assert.ok(error instanceof CrawlError, String(error));
    assert.equal(error.code, "SETTINGS_INVALID");
    return error.message;
  }
  return "";
}

function fileOf(text: string): string {
  const file = join(folder, "weir.yaml");
  writeFileSync(file, text);
  return file;
}

test("without a word about it nothing is limited, and what is held is held our way", async () => {
  const { settings } = await orderOf();
  assert.equal(settings.limitBps, undefined);
  assert.equal(settings.limitAt, undefined);
  assert.equal(settings.siteLimitBps, undefined);
  assert.equal(settings.quota, undefined);
  assert.equal(settings.control, "paced");
  assert.equal(settings.searchDepthMax, 6);
  assert.equal(settings.waitMaxMs, 30_000);
  assert.equal(settings.packetOverhead, "auto");
  assert.equal(settings.goodNeighbour, false);
  assert.equal(settings.speedGain, 0.3);
  assert.equal(settings.speedSpreadMinutes, 120);
  assert.equal(settings.serversMax, 100_000);
});

test("flags and a file say the same about the line", async () => {
  const { settings } = await orderOf(
    "--limit=2MB/s",
    "--site-limit=8Mbit/s",
    "--quota=5 GB/day",
    "--packet-overhead=4.5%",
    "--time-zone=Europe/Rome",
    "--holidays=de-by",
    "--speed-spread=1.5h",
    "--good-neighbour",
  );
  const file = await orderOf(
    "--config",
    fileOf(
      "limit: 2MB/s\nsiteLimit: 8Mbit/s\nquota: 5GB/day\npacketOverhead: 4.5%\ntimeZone: Europe/Rome\nholidays: DE-BY\nspeedSpread: 90m\ngoodNeighbour: true\n",
    ),
  );
  for (const { limitBps, siteLimitBps, quota, packetOverhead, ...rest } of [
    settings,
    file.settings,
  ]) {
    assert.equal(limitBps, 2e6);
    assert.equal(siteLimitBps, 1e6);
    assert.deepEqual(quota, { bytes: 5e9, per: "day" });
    assert.equal(packetOverhead, 0.045);
    assert.equal(rest.timeZone, "Europe/Rome");
    assert.equal(rest.holidays, "DE-BY");
    assert.equal(rest.speedSpreadMinutes, 90);
    assert.equal(rest.goodNeighbour, true);
  }
});

test("none takes back what the file said", async () => {
  const file = fileOf("limit: 2MB/s\nquota: 5GB/day\nsiteLimit: 1MB/s\nholidays: IT\n");
  const words = ["--limit", "none", "--quota", "none", "--site-limit=none", "--holidays", "none"];
  const { settings } = await orderOf("--config", file, ...words);
  assert.equal(settings.limitBps, undefined);
  assert.equal(settings.quota, undefined);
  assert.equal(settings.siteLimitBps, undefined);
  assert.equal(settings.holidays, undefined);
  assert.match(await mistakesIn("--delay", "none"), /--delay "none": expects a duration/);
});

test("every slip about the line is told at once, each with what to write", async () => {
  const message = await mistakesIn(
    "--limit=2",
    "--site-limit=2MB",
    "--quota=5GB",
    "--limit-at=fruday=1MB/s",
    "--control=pace",
    "--packet-overhead=60%",
    "--time-zone=Europe/Roma",
    "--holidays=Italy",
    "--speed-gain=0",
    "--max-wait=5",
  );
  assert.match(message, /^10 mistakes/);
  for (const part of [
    '--limit "2": a rate needs a unit; write 2MB/s or 2Mbit/s',
    '--site-limit "2MB": a rate is per second; write 2MB/s',
    '--quota "5GB": needs a period; write 5GB/day or 5GB/month',
    '--limit-at "fruday=1MB/s": "fruday" is no day; the days are mon, tue',
    '--control "pace": expects one of paced, predict, onoff',
    '--packet-overhead "60%": expects auto, or a share from 0% to 50%',
    "did you mean Europe/Rome?",
    '--holidays "Italy": is no country whose holidays are known; did you mean IT?',
    '--speed-gain "0": expects a number from 0.01 to 1',
    '--max-wait "5": expects a duration',
  ])
    assert.ok(message.includes(part), `${part}\nis not in\n${message}`);
});

test("a quota is refused with the right spelling", async () => {
  for (const [text, told] of [
    ["5", "a quota needs a unit; write 5GB/day"],
    ["5/month", "a quota needs a unit; write 5GB/month"],
    ["0GB/day", "a quota of 0 allows no request; write none for no quota, or at least 1MB/day"],
    ["-5GB/day", "a quota is never negative; write it as 5GB/day or 200GB/month"],
    ["10KB/day", "is too little: one page may take more; write at least 1MB/day"],
    ["5GB/week", "a quota is per day or month; write 5GB/day"],
    ["5GB per month", "a quota is per day or month; write 5GB/month"],
    ["much", "is no quota; write it as 5GB/day or 200GB/month"],
    ["9999TB/day", "is more than any line carries; write none for no quota"],
  ] as const)
    assert.equal(await mistakesIn("--quota", text), `--quota "${text}": ${told}`);
});

test("a calendar must say all, or leave it to the limit; both at once is refused", async () => {
  const office = "mon-fri 08:00-18:00=1MB/s";
  assert.equal(
    await mistakesIn("--limit-at", office),
    "the calendar has no rate for mon-fri 00:00-08:00, mon-fri 18:00-24:00, sat-sun 00:00-24:00; add else=RATE, else=none, or give --limit",
  );
  assert.equal((await orderOf("--limit-at", office, "--limit", "8MB/s")).settings.limitBps, 8e6);
  assert.equal(
    await mistakesIn("--limit-at", `${office},else=8MB/s`, "--limit", "2MB/s"),
    "--limit 2.00 MB/s: the calendar leaves no time for it; leave its else out, or write --limit none",
  );
  const file = fileOf("limit: 2MB/s\n");
  await orderOf("--config", file, "--limit", "none", "--limit-at", `${office},else=8MB/s`);
  assert.match(await mistakesIn("--limit-at", "holiday=1MB/s,else=2MB/s"), /--holidays IT/);
  await orderOf("--limit-at", "holiday=1MB/s,else=2MB/s", "--holidays", "IT");
});

test("what is odd about the line but harmless is only remarked on", async () => {
  const file = fileOf("sites:\n  - url: http://b.test/\n    limit: 3MB/s\n");
  const words = ["--limit", "1MB/s", "--site-limit", "2MB/s", "--quota", "2MB/day"];
  const { remarks } = await orderOf("--config", file, ...words);
  assert.deepEqual(remarks, [
    "the site limit of 2.00 MB/s changes nothing: the limit for all sites is 1.00 MB/s",
    "the limit for http://b.test/ of 3.00 MB/s changes nothing: the limit for all sites is 1.00 MB/s",
    "a quota of 2.00 MB is less than one page may have (--body-max, 8.39 MB)",
  ]);
});

test("a program's plain numbers are held to the same least", () => {
  const settings = { ...defaultSettings(), urls: ["http://a.test/"] };
  assert.throws(
    () => checkOrder({ ...settings, limitBps: 0 }),
    /limit of 0 bytes\/s: at least 4000/,
  );
  assert.throws(
    () => checkOrder({ ...settings, siteLimitBps: Number.NaN }),
    /the site limit of NaN/,
  );
  assert.equal(checkOrder({ ...settings, limitBps: 4_000 }).seeds.length, 1);
});
