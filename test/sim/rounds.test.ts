/** Rounds in virtual time: days of them, pages that change at known rates, kills, late rounds. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { LogEntry } from "../../src/base/log.ts";
import type { SiteSettings } from "../../src/config/schema.ts";
import type { CrawlParts } from "../../src/crawl/context.ts";
import { readSchedule } from "../../src/frontier/schedule.ts";
import { Ageing } from "../../src/lab/ageing.ts";
import type { RequestEntry } from "../../src/lab/request-log.ts";
import { runSim, type SimPlan, type SimReport } from "../../src/lab/run-sim.ts";

const HOUR = 3_600_000;

/** One site, or some, of a known number of pages, without copies or errors. */
function worldOf(siteCount: number, pages: number): SimPlan["world"] {
  const nothingOdd = { copyShare: 0, nearCopyShare: 0, movedShare: 0, goneShare: 0 };
  const oneSize = { pagesMin: pages, pagesMax: pages, bytesMedianMax: 2_000, bytesMax: 20_000 };
  return { siteCount, ...oneSize, ...nothingOdd, forbiddenShare: 0, sitemapShare: 0 };
}

function settingsFor(schedule: string, timeMaxMs: number): SimPlan["settings"] {
  return {
    watch: true,
    schedule: readSchedule(schedule).schedule,
    timeMaxMs,
    delayMs: 1_000,
    addressDelayMs: 0,
  };
}

interface Begin {
  readonly site: string;
  readonly round: number;
  readonly atMs: number;
}

/** Runs it, and notes when rounds began and what was said of late ones. */
async function watch(
  plan: Partial<SimPlan> & { readonly seed: number },
): Promise<SimReport & { readonly begins: Begin[]; readonly late: LogEntry[] }> {
  const begins: Begin[] = [];
  const late: LogEntry[] = [];
  const plant = (parts: CrawlParts): CrawlParts => ({
    ...parts,
    log: {
      write(entry) {
        const round = /^recrawl (\d+) of (\S+) starts$/.exec(entry.message);
        if (round !== null)
          begins.push({
            round: Number(round[1]),
            site: String(round[2]),
            atMs: parts.clock.nowMs(),
          });
        if (entry.message.includes("is due")) late.push(entry);
      },
    },
  });
  return { ...(await runSim({ plant, ...plan })), begins, late };
}

function pagesOf(log: readonly RequestEntry[]): RequestEntry[] {
  return log
    .filter(({ path }) => path !== "/robots.txt" && !path.startsWith("/sitemap"))
    .toSorted((a, b) => a.startMs - b.startMs);
}

/** A site's requests, by the round in which they were made; the first round is 1. */
function byRound(report: SimReport & { readonly begins: readonly Begin[] }): RequestEntry[][] {
  const rounds: RequestEntry[][] = [];
  for (const entry of pagesOf(report.log)) {
    const begun = report.begins.filter(
      ({ site, atMs }) => site === entry.site && atMs <= entry.startMs,
    );
    const round = 1 + begun.length;
    (rounds[round] ??= []).push(entry);
  }
  return Array.from(rounds, (round) => round ?? []);
}

/** A tenth of the pages changes about every hour, a quarter about twice a day, the others never. */
function mixedAges(): NonNullable<SimPlan["versionAt"]> {
  const ageings = new Map<string, Ageing>();
  return (url, ageMs) => {
    let ageing = ageings.get(url);
    if (ageing === undefined) {
      const number = Number(/-(\d+)/.exec(url)?.[1] ?? 0);
      const everyMs = number % 10 === 9 ? HOUR : number % 4 === 1 ? 12 * HOUR : Infinity;
      ageings.set(url, (ageing = new Ageing(number + 1, everyMs)));
    }
    return ageing.versionAt(ageMs);
  };
}

test("a day of hourly rounds: each page at most once a round, politely, and the likeliest first", async () => {
  const report = await watch({
    seed: 3,
    world: worldOf(1, 100),
    settings: settingsFor("every 1h", 24 * HOUR - 1),
    versionAt: mixedAges(),
  });
  assert.deepEqual(report.violations, []);
  const rounds = byRound(report);
  assert.equal(rounds.length - 1, 24);
  const breadth = new Map(rounds[1]?.map(({ path }, place) => [path, place]));
  assert.equal(breadth.size, 100);
  let ranks = 0;
  let breadthRanks = 0;
  let changed = 0;
  for (const [number, round] of rounds.entries()) {
    assert.equal(new Set(round.map(({ path }) => path)).size, round.length, `round ${number}`);
    if (number < 6) continue;
    const inBreadth = round.toSorted((a, b) => placeOf(a) - placeOf(b));
    for (const [place, entry] of round.entries()) {
      if (entry.status !== 200) continue;
      changed += 1;
      ranks += place / round.length;
      breadthRanks += inBreadth.indexOf(entry) / round.length;
    }
  }
  // By chance a page stands in the middle: breadth first knows nothing of changes.
  const mean = ranks / changed;
  const breadthMean = breadthRanks / changed;
  assert.ok(changed > 100, `${changed} changes seen`);
  assert.ok(mean < 0.6 * breadthMean, `${mean} of a round, breadth first ${breadthMean}`);
  assert.ok(report.log.length < 0.6 * 24 * 100, `${report.log.length} requests`);

  function placeOf({ path }: RequestEntry): number {
    return breadth.get(path) ?? Infinity;
  }
});

test("what a round is expected to bring is near what it brings", async () => {
  let rounds = 0;
  let came = 0;
  let expected = 0;
  await watch({
    seed: 4,
    world: worldOf(1, 100),
    settings: settingsFor("every 1h", 24 * HOUR - 1),
    versionAt: mixedAges(),
    plant: (parts) => {
      // Looks on as the row of a finished round is replaced by that of the next.
      const commit = (batch: Parameters<CrawlParts["store"]["commit"]>[0]): void => {
        const before = parts.store.siteByKey(batch.sites[0]?.key ?? "");
        const row = batch.sites[0];
        parts.store.commit(batch);
        if (before?.round === undefined || row?.round?.number !== before.round.number + 1) return;
        const { number, expectedBytes, surplus, bytesBefore } = before.round;
        if (expectedBytes === undefined || number < 6) return;
        rounds += 1;
        came += row.round.bytesBefore - bytesBefore;
        expected += expectedBytes * surplus;
      };
      const store = new Proxy(parts.store, {
        get: (target, name) => {
          if (name === "commit") return commit;
          const value: unknown = Reflect.get(target, name, target);
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
      return { ...parts, store };
    },
  });
  assert.ok(rounds >= 15, `${rounds} rounds`);
  const share = expected / came;
  assert.ok(share > 0.8 && share < 1.25, `expected ${share} of what came`);
});

test("a round that is due while the one before goes on is said to be late, and begins when that is done", async () => {
  const report = await watch({
    seed: 5,
    world: worldOf(1, 20),
    settings: { ...settingsFor("every 10s", 90_000), revisitChance: 0 },
  });
  assert.deepEqual(report.violations, []);
  assert.ok(report.late.length >= 3, `${report.late.length} late`);
  assert.match(report.late[0]?.message ?? "", /^recrawl 2 of http:\S+ is due; it starts when/);
  const rounds = byRound(report);
  // Twenty pages a second apart: a round takes as long, and the next follows without a pause.
  assert.ok(rounds.length >= 4 && rounds.length <= 6, `${rounds.length - 1} rounds`);
  for (const round of rounds.slice(1, -1)) assert.equal(round.length, 20);
  for (const [index, round] of rounds.slice(2).entries()) {
    const doneAtMs = rounds[index + 1]?.at(-1)?.endMs ?? 0;
    assert.ok((round[0]?.startMs ?? 0) - doneAtMs < 2_000);
  }
});

test("only the sites with a schedule are crawled again, and one site's rounds hold up no other", async () => {
  const scheduled = "http://s1.example";
  const world = worldOf(3, 15);
  const plain = await runSim({ seed: 6, world, settings: { delayMs: 1_000 } });
  const sites = [...new Set(plain.log.map(({ site }) => site))].toSorted();
  const chosen = sites[1] ?? scheduled;
  const { schedule } = readSchedule("every 1m");
  const own: SiteSettings = {
    url: `${chosen}/`,
    schedule,
    delayMs: undefined,
    concurrency: undefined,
    limitBps: undefined,
    deadlineMs: undefined,
    sizeBytes: undefined,
    pagesExpected: undefined,
    priority: 1,
    capBps: undefined,
    efficiency: 1,
  };
  const settings = {
    ...settingsFor("every 1h", 10 * 60_000),
    schedule: undefined,
    sites: [own],
    revisitChance: 0,
  };
  const report = await watch({ seed: 6, world, settings });
  assert.deepEqual(report.violations, []);
  for (const site of sites) {
    const requests = pagesOf(report.log).filter((entry) => entry.site === site);
    const asked = requests.length / new Set(requests.map(({ path }) => path)).size;
    if (site === chosen) assert.equal(asked, 10, site);
    else assert.equal(asked, 1, site);
  }
});

test("30 watches, killed and resumed in stormy weather, keep their accounts and ask once a round", async () => {
  let kills = 0;
  let roundsMost = 0;
  for (let seed = 1; seed <= 30; seed++) {
    const report = await watch({
      seed,
      world: { ...worldOf(2, 12), goneShare: 0.1, movedShare: 0.1, copyShare: 0.1 },
      settings: {
        ...settingsFor("every 6s", 40_000),
        delayMs: 100,
        concurrencyPerSite: 2,
      },
      versionAt: (url, ageMs) => (url.length % 2 === 0 ? 0 : Math.floor(ageMs / 9_000)),
      faultShare: 0.03,
      diskFullShare: 0.01,
      crashes: 4,
      wallJumps: 1,
    });
    assert.deepEqual(report.violations, [], `seed ${seed}`);
    assertOnceARound(report, seed);
    kills += report.crashedAtMs.length;
    roundsMost = Math.max(roundsMost, ...report.begins.map(({ round }) => round));
    assertNumbered(report.begins, seed);
  }
  assert.ok(kills > 60, `only ${kills} kills`);
  assert.ok(roundsMost > 4, `only ${roundsMost} rounds`);
});

/** Twice only across a kill, which may have come before the end was stored. */
function assertOnceARound(
  report: SimReport & { readonly begins: readonly Begin[] },
  seed: number,
): void {
  for (const [number, round] of byRound(report).entries()) {
    const answeredAtMs = new Map<string, number>();
    for (const entry of round) {
      const isAnswer = entry.whole && entry.status !== 429 && entry.status < 500;
      if (!isAnswer) continue;
      const url = entry.site + entry.path;
      const beforeMs = answeredAtMs.get(url);
      answeredAtMs.set(url, entry.endMs);
      if (beforeMs === undefined) continue;
      const isAcrossKill = report.crashedAtMs.some(
        (atMs) => atMs >= beforeMs && atMs <= entry.startMs,
      );
      assert.ok(isAcrossKill, `seed ${seed}: ${url} twice in round ${number}`);
    }
  }
}

/** A kill may undo a beginning that was not stored, so a number may come twice, but none is left out. */
function assertNumbered(begins: readonly Begin[], seed: number): void {
  const last = new Map<string, number>();
  for (const { site, round } of begins) {
    const before = last.get(site) ?? 1;
    assert.ok(round === before + 1 || round === before, `seed ${seed}: ${before}, then ${round}`);
    last.set(site, round);
  }
}
