/**
 * Random jobs with deadlines in virtual time, and what became of their promises.
 *
 * A job has 2 to 60 sites with delays of 0 to 2 s and pages of 2 KB to 2 MB. Some sizes are
 * configured and some are unknown, the line is above or below the limit, and some deadlines are
 * infeasible, by the rate or by a delay. The oracle plans with the true sizes, the true line and
 * the true servers; a deadline counts as possible if the oracle keeps it with a little to spare.
 */

import assert from "node:assert/strict";
import { windowFor } from "../../src/bandwidth/window.ts";
import { type Random, randomFrom } from "../../src/base/random.ts";
import { defaultsOf } from "../../src/config/resolve.ts";
import { type Settings, SITE_SETTINGS, type SiteSettings } from "../../src/config/schema.ts";
import type { CrawlResult } from "../../src/control/snapshot.ts";
import { runSim } from "../../src/lab/run-sim.ts";
import { SimClock } from "../../src/lab/sim-clock.ts";
import { siteNamed } from "../../src/lab/world.ts";
import { makeWorld } from "../../src/lab/world/plan.ts";
import { speedBpsAt } from "../../src/lab/world/site.ts";
import { isLate, type PlanTask } from "../../src/plan/plan.ts";
import { planOptimal } from "../../src/plan/optimum/optimal.ts";
import { slotsOf, withSlots } from "../../src/plan/promise/slots.ts";

export interface Job {
  readonly seed: number;
  readonly world: Parameters<typeof runSim>[0]["world"];
  readonly settings: Partial<Settings>;
  readonly linkBps: number;
  readonly sites: readonly SiteSettings[];
  /** Sites whose deadlines an oracle keeps. */
  readonly possible: ReadonlySet<string>;
  /** Sites whose configured sizes or pages show that their deadlines are infeasible. */
  readonly infeasible: ReadonlySet<string>;
}

/** Sums over jobs. */
export interface Tally {
  jobs: number;
  deadlines: number;
  /** Promised without a reserve (`✓`) and depending on an estimate (`✓?`), and the kept ones. */
  sure: number;
  sureKept: number;
  likely: number;
  likelyKept: number;
  possible: number;
  possibleKept: number;
  infeasible: number;
  infeasibleNamed: number;
}

export function newTally(): Tally {
  return {
    jobs: 0,
    deadlines: 0,
    sure: 0,
    sureKept: 0,
    likely: 0,
    likelyKept: 0,
    possible: 0,
    possibleKept: 0,
    infeasible: 0,
    infeasibleNamed: 0,
  };
}

const DELAYS_MS = [0, 0, 100, 300, 1000, 2000];
const LINE_TIMES = [3, 3, 1.5, 0.7, 0.45];
const BYTES_MEDIAN_MAX = [50_000, 200_000, 2_000_000];
const LIMIT_BPS_MIN = 100_000;
/** What the oracle leaves of the limit and of each deadline: packets, the start, and pages that are under way. */
const ORACLE_RATE_SHARE = 0.95;
const ORACLE_TIME_SHARE = 0.9;
const ORACLE_SECONDS = 3;
/** The default of the crawler. */
const CONCURRENCY_PER_SITE = 2;
/** robots.txt and the sitemap. */
const FILES = 2;

export async function jobOf(seed: number, sitesMax: number): Promise<Job> {
  const random = randomFrom(seed);
  const siteCount = Math.floor(2 * (sitesMax / 2) ** random.next());
  const sitesPerAddress = random.next() < 0.25 ? 2 : 1;
  const world = {
    siteCount,
    sitesPerAddress,
    pagesMin: 8,
    pagesMax: 60,
    bytesMedianMin: 2000,
    bytesMedianMax: drawn(random, BYTES_MEDIAN_MAX),
    bytesMax: 2_000_000,
    linksAwayShare: 0,
    copyShare: 0,
    crawlDelayShare: 0,
    latencyMsMin: 5,
    latencyMsMax: 150,
    speedBpsMin: 200_000,
    speedBpsMax: 10_000_000,
  };
  const plain = { delayMs: 0, addressDelayMs: 0, packetOverhead: 0, totalTimeoutMs: 3_600_000 };
  const free = await runSim({ seed, world, settings: plain });
  const found = free.result?.sites ?? [];
  const requests = Map.groupBy(free.log, ({ site }) => site);
  const wholeBytes = found.reduce((sum, { bytes }) => sum + bytes, 0);
  const limitBps = Math.max(LIMIT_BPS_MIN, wholeBytes / (60 + 180 * random.next()));
  const settings: Partial<Settings> = {
    limitBps,
    packetOverhead: 0,
    // A page of 2 MB from a slow server takes longer than the default.
    totalTimeoutMs: 3_600_000,
    addressDelayMs: sitesPerAddress > 1 ? 200 : 0,
    objective: "min-sum",
  };
  const linkBps = limitBps * drawn(random, LINE_TIMES);
  const sites = found.map(({ site, bytes }) => ({
    ...defaultsOf(SITE_SETTINGS),
    url: `${site}/`,
    delayMs: drawn(random, DELAYS_MS),
    sizeBytes: bytes,
    pagesExpected: Math.max(1, (requests.get(site)?.length ?? 0) - FILES),
  }));
  const addressOf = new Map(free.log.map(({ site, address }) => [site, address]));
  const oracle = oracleTask({ seed, world, settings, linkBps, sites }, addressOf);
  return withDeadlines({ seed, world, settings, linkBps, sites }, oracle, random);
}

type Plain = Omit<Job, "possible" | "infeasible">;

function oracleTask(
  { seed, world, settings, linkBps, sites }: Plain,
  addressOf: ReadonlyMap<string, string>,
): PlanTask {
  const made = makeWorld({ seed, ...world });
  const wallMs = new SimClock().wallMs();
  const slots = slotsOf(
    sites.map(({ url, pagesExpected = 1, delayMs = 0 }) => ({
      requests: pagesExpected + FILES,
      delaySeconds: delayMs / 1000,
      address: addressOf.get(url.slice(0, -1)) ?? url,
      addressDelaySeconds: (settings.addressDelayMs ?? 0) / 1000,
      deadlineSeconds: undefined,
    })),
  );
  const plain = sites.map(({ url, sizeBytes = 1, pagesExpected = 1 }) => {
    const site = siteNamed(made, new URL(url).host);
    assert.ok(site !== undefined);
    const pageBytes = sizeBytes / pagesExpected;
    const serverBps = 0.8 * speedBpsAt(site, wallMs);
    // A connection brings half a window each round trip, as in `sim-transport.ts`, and a request takes two.
    const rttSeconds = site.latencyMs / 1000;
    const windowBps = windowFor(settings.limitBps ?? Infinity) ?? Infinity;
    const streamBps = Math.min(windowBps / 2 / rttSeconds, serverBps);
    const pageSeconds = 2 * rttSeconds + pageBytes / streamBps;
    return {
      key: url,
      bytes: sizeBytes,
      deadlineSeconds: undefined,
      capBps: Math.min(serverBps, (CONCURRENCY_PER_SITE * pageBytes) / pageSeconds),
      weight: 1,
    };
  });
  return {
    sites: plain.map((site, index) => withSlots(site, slots[index] as (typeof slots)[number])),
    rateBps: ORACLE_RATE_SHARE * Math.min(settings.limitBps ?? Infinity, linkBps),
    sitesMax: Infinity,
    rateMinBps: 0,
    startupSeconds: 0,
  };
}

/** Of every seven sites five have a deadline; about a quarter of these are infeasible by construction. */
function withDeadlines(plain: Plain, oracle: PlanTask, random: Random): Job {
  const { plan } = planOptimal(oracle, "min-sum");
  const infeasible = new Set<string>();
  const deadlines = plain.sites.map(
    ({ url, sizeBytes = 0, pagesExpected = 0, delayMs = 0 }, at) => {
      const [isDated, kind, times] = [random.next() < 0.72, random.next(), random.next()];
      if (!isDated) return undefined;
      const byRate = (0.85 * sizeBytes) / (plain.settings.limitBps ?? 1);
      const byDelay = (0.8 * pagesExpected * delayMs) / 1000;
      if (kind < 0.13 && byRate > 1) {
        infeasible.add(url);
        return byRate;
      }
      if (kind < 0.35 && byDelay > 1) {
        infeasible.add(url);
        return byDelay;
      }
      return 3.5 + (plan.sites[at]?.finishSeconds ?? 0) * (0.9 + 1.6 * times);
    },
  );
  const aimed: PlanTask = {
    ...oracle,
    sites: oracle.sites.map((site, at) => {
      const seconds = deadlines[at];
      return {
        ...site,
        deadlineSeconds:
          seconds === undefined
            ? undefined
            : Math.max(0.01, ORACLE_TIME_SHARE * seconds - ORACLE_SECONDS),
      };
    }),
  };
  const kept = planOptimal(aimed, "min-sum").plan;
  const possible = aimed.sites.filter(
    (site, at) =>
      site.deadlineSeconds !== undefined &&
      !isLate(site, kept.sites[at]?.finishSeconds ?? Infinity),
  );
  const unknown = plain.sites.map(() => random.next());
  return {
    ...plain,
    possible: new Set(possible.map(({ key }) => key)),
    infeasible: new Set(
      plain.sites
        .filter(({ url }, at) => infeasible.has(url) && (unknown[at] ?? 0) < 0.65)
        .map(({ url }) => url),
    ),
    sites: plain.sites.map((site, at) => {
      const seconds = deadlines[at];
      const chance = unknown[at] ?? 0;
      return {
        ...site,
        deadlineMs: seconds === undefined ? undefined : Math.round(1000 * seconds),
        sizeBytes: chance < 0.65 ? site.sizeBytes : undefined,
        pagesExpected: chance < 0.8 ? site.pagesExpected : undefined,
      };
    }),
  };
}

/** Crawls a job and adds up what was promised at the start and what was kept. */
export async function runJob(
  job: Job,
  tally: Tally,
  report?: (line: string) => void,
): Promise<void> {
  const { seed, world, settings, linkBps, sites } = job;
  const { result, violations } = await runSim({
    seed,
    world: world ?? {},
    settings: { ...settings, sites },
    linkBps,
  });
  assert.deepEqual(
    violations.filter(({ rule }) => !rule.endsWith("-delay")),
    [],
    `seed ${seed}`,
  );
  tally.jobs += 1;
  for (const own of sites) {
    if (own.deadlineMs === undefined) continue;
    const done = siteIn(result, own.url);
    const promise = promiseOf(done);
    const isKept = done?.met === true;
    tally.deadlines += 1;
    count(tally, promise, isKept);
    if (job.possible.has(own.url)) {
      tally.possible += 1;
      if (isKept) tally.possibleKept += 1;
    }
    if (job.infeasible.has(own.url)) {
      tally.infeasible += 1;
      if (promise === "late") tally.infeasibleNamed += 1;
    }
    const isWrong =
      (promise === "sure" && !isKept) ||
      (job.possible.has(own.url) && !isKept) ||
      (job.infeasible.has(own.url) && promise !== "late");
    if (isWrong)
      report?.(
        `seed ${seed} ${sites.length} sites, line ${(linkBps / (settings.limitBps ?? 1)).toFixed(2)}: ${own.url} ${promise}, ` +
          `due ${own.deadlineMs / 1000} s, done ${done?.finishedSeconds} s, delay ${own.delayMs}, size ${own.sizeBytes}, ` +
          `pages ${own.pagesExpected}${job.possible.has(own.url) ? ", possible" : ""}${job.infeasible.has(own.url) ? ", infeasible" : ""}`,
      );
  }
}

function count(tally: Tally, promise: string, isKept: boolean): void {
  if (promise === "sure") {
    tally.sure += 1;
    if (isKept) tally.sureKept += 1;
  }
  if (promise === "likely") {
    tally.likely += 1;
    if (isKept) tally.likelyKept += 1;
  }
}

function promiseOf(done: CrawlResult["sites"][number] | undefined): string {
  return done?.promised?.certainty ?? "none";
}

function siteIn(
  result: CrawlResult | undefined,
  url: string,
): CrawlResult["sites"][number] | undefined {
  return result?.sites.find(({ site }) => `${site}/` === url);
}

function drawn<T>(random: Random, values: readonly T[]): T {
  return values[Math.floor(random.next() * values.length)] as T;
}
