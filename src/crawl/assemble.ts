/** Puts the loops of one crawl together; each gets only the parts it needs. */

import type { Meter } from "../bandwidth/meter.ts";
import type { CrawlError } from "../base/errors.ts";
import { Courtesy, COURTESY_DEFAULTS } from "../frontier/politeness.ts";
import { type ScoreFunction, SCORES } from "../frontier/priority.ts";
import { Sieve } from "../frontier/sieve.ts";
import { TRAP_DEFAULTS, Traps } from "../frontier/traps.ts";
import { Workbench } from "../frontier/workbench.ts";
import { NearIndex } from "../page/near-duplicate.ts";
import { fingerprintOf } from "../url/fingerprint.ts";
import { Scope } from "../url/scope.ts";
import type { CrawlParts } from "./crawler.ts";
import { Errands } from "./errands.ts";
import { FetchLoop } from "./fetch-loop.ts";
import { Intake } from "./intake.ts";
import type { Job } from "./job.ts";
import { Notebook } from "./notebook.ts";
import { Pace } from "./pace.ts";
import { PageDesk } from "./page-desk.ts";
import { PageReader } from "./reading.ts";
import { movedSeeds, Recorder } from "./record.ts";
import { Refill } from "./refill.ts";
import { Roster } from "./roster.ts";
import { Settler } from "./settle.ts";
import { Tally } from "./tally.ts";

const MIB = 2 ** 20;
/** What each part may take of the memory that was granted, at about these bytes an entry. */
const SIEVE_SHARE = 1 / 8;
const SIEVE_ENTRY_BYTES = 8;
const WAITING_SHARE = 1 / 4;
const WAITING_ENTRY_BYTES = 600;
const SITE_SHARE = 1 / 8;
const SITE_BYTES = 4096;
const NEAR_SHARE = 1 / 16;
const NEAR_ENTRY_BYTES = 64;
const URLS_PER_SITE_IN_MEMORY = 64;
/** A crawl gives a dead host this many rests, each twice as long, before it goes on without it. */
const RESTS_MAX = 5;

export interface Surroundings {
  readonly meter: Meter;
  readonly signal: AbortSignal;
  readonly resumed: boolean;
  readonly allowance: () => number;
  readonly onTrouble: (trouble: CrawlError | undefined) => void;
  readonly onIdle: () => void;
  readonly onFault: (fault: unknown) => void;
}

export interface Loops {
  readonly tally: Tally;
  readonly pace: Pace;
  readonly courtesy: Courtesy;
  readonly workbench: Workbench<Job>;
  readonly roster: Roster;
  readonly notebook: Notebook;
  readonly settler: Settler;
  readonly refill: Refill;
  readonly fetchLoop: FetchLoop;
  admitSeeds(): void;
  setDelay(delayMs: number): void;
  /** Look-ups of names under way, for which nothing is on the workbench yet. */
  errandsUnderWay(): number;
}

export function assemble(parts: CrawlParts, around: Surroundings): Loops {
  const { settings, clock, random, store, seeds } = parts;
  const memoryBytes = settings.memoryBytes;
  const tally = new Tally(store.totals);
  const pace = new Pace();
  const courtesy = new Courtesy({
    ...COURTESY_DEFAULTS,
    siteConcurrencyMax: settings.concurrencyPerSite,
    addressConcurrencyMax: settings.concurrencyPerAddress,
    delayMaxMs: Math.max(
      COURTESY_DEFAULTS.delayMaxMs,
      settings.delayMs ?? 0,
      settings.addressDelayMs ?? 0,
    ),
    restsMax: RESTS_MAX,
  });
  const workbench = new Workbench<Job>(courtesy);
  const traps = new Traps({
    ...TRAP_DEFAULTS,
    hopsMax: settings.depthMax ?? TRAP_DEFAULTS.hopsMax,
    shapeUrlsMax: settings.patternUrlsMax,
    siteUrlsMax: settings.siteUrlsMax,
    trustedDomainUrlsMax: settings.domainUrlsMax,
  });
  const sitesMax = Math.floor((memoryBytes * SITE_SHARE) / SITE_BYTES);
  const roster = new Roster(store, traps, sitesMax);
  const notebook = new Notebook({
    clock,
    store,
    roster,
    tally,
    marks: () => parts.output?.marks() ?? {},
    onCommit: () => {
      refill.refillHungry();
      fetchLoop.pump();
    },
    onTrouble: around.onTrouble,
    onFault: around.onFault,
  });
  const settler = new Settler({
    clock,
    notebook,
    tally,
    roster,
    workbench,
    onSettled(url, reason, detail) {
      pace.count(clock.nowMs());
      parts.log.write({ level: "debug", message: "settled", values: { url, reason, detail } });
    },
  });
  const refill = new Refill({
    store,
    roster,
    workbench,
    notebook,
    settler,
    limits: {
      perSiteMax: URLS_PER_SITE_IN_MEMORY,
      entriesMax: Math.floor((memoryBytes * WAITING_SHARE) / WAITING_ENTRY_BYTES),
      sitesAwakeMax: Math.floor(sitesMax / 2),
    },
    prepare: (site) => errands.prepare(site),
    isUnderWay: (urlId) => fetchLoop.isUnderWay(urlId),
  });
  const scope = new Scope({
    kind: settings.scope,
    seeds: [...seeds, ...movedSeeds(store)],
    include: settings.include,
    exclude: settings.exclude,
  });
  const sieve = new Sieve(Math.max(MIB / 16, (memoryBytes * SIEVE_SHARE) / SIEVE_ENTRY_BYTES));
  const intake = new Intake({
    store,
    notebook,
    roster,
    refill,
    sieve,
    traps,
    tally,
    scope,
    score: scoreOf(parts),
    depthMax: settings.depthMax ?? Infinity,
    onLink: parts.hooks.onLink,
  });
  const errands = new Errands({
    ...parts,
    roster,
    workbench,
    courtesy,
    refill,
    intake,
    notebook,
    tally,
    meter: around.meter,
    signal: around.signal,
    resumed: around.resumed,
    pump: () => fetchLoop.pump(),
    onFault: around.onFault,
  });
  const desk = new PageDesk({
    store,
    output: parts.output,
    hooks: parts.hooks,
    reader: new PageReader(settings),
    intake,
    sieve,
    traps,
    notebook,
    settler,
    tally,
    roster,
    near: settings.nearDuplicates
      ? new NearIndex(Math.floor((memoryBytes * NEAR_SHARE) / NEAR_ENTRY_BYTES))
      : undefined,
    countsBacklinks: settings.order === "backlinks" && parts.hooks.score === undefined,
  });
  const recorder = new Recorder({
    ...parts,
    desk,
    intake,
    scope,
    notebook,
    settler,
    tally,
    roster,
    workbench,
    meter: around.meter,
    signal: around.signal,
  });
  const fetchLoop = new FetchLoop(
    {
      clock,
      random,
      workbench,
      roster,
      refill,
      fetchUrl: (site, row, ended) => {
        errands.refreshRobotsIfOld(site);
        return recorder.fetchUrl(site, row, ended);
      },
      runErrand: (site, errand, ended) => errands.run(site, errand, ended),
      onGivenUp: (site, reason) => refill.settleAll(site, reason, "the site no longer answers"),
      allowance: around.allowance,
      onIdle: around.onIdle,
      onFault: around.onFault,
    },
    settings.connectionsMax,
  );

  return {
    tally,
    pace,
    courtesy,
    workbench,
    roster,
    notebook,
    settler,
    refill,
    fetchLoop,
    admitSeeds() {
      intake.admit(
        seeds.map((url) => ({ url, ...fingerprintOf(url) })),
        { depth: 0, from: undefined, fromDomain: undefined, redirectedFromId: 0, redirects: 0 },
      );
    },
    setDelay: (delayMs) => errands.setDelay(delayMs),
    errandsUnderWay: () => errands.underWay,
  };
}

function scoreOf({ settings, hooks }: CrawlParts): ScoreFunction {
  return hooks.score ?? SCORES[settings.order];
}
