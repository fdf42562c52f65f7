/**
 * Divides the rate between sites while the crawl runs: every two seconds, and at once when a site
 * ends, a limit or a promise changes, a plan is made from what is left and what the servers give now.
 *
 * The plan's rates become shares (`plan/shares.ts`), which say who goes first; nobody is held below
 * what the line has left. A deadline that comes out of reach is told when that is first seen.
 */

import type { Moment, SpeedTable } from "../bandwidth/speed-table.ts";
import type { Clock } from "../base/clock.ts";
import { CrawlError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { showBytes, showDuration } from "../base/units.ts";
import { visible } from "../base/visible.ts";
import type { Settings, SiteSettings } from "../config/schema.ts";
import { bytesLeft, capBps, meanBytesOf } from "../plan/estimate.ts";
import { isLate, type PlanTask, type SiteTask } from "../plan/plan.ts";
import { promisesOf } from "../plan/promises.ts";
import type { Claim, Shares } from "../plan/shares.ts";
import { siteOf } from "../url/site.ts";
import type { CanonicalUrl } from "../url/url.ts";
import { settingsBySite } from "./errands.ts";
import type { CrawlHooks } from "./hooks.ts";
import type { Line } from "./line.ts";
import { type Division, Divider } from "./divider.ts";
import type { Roster, Site } from "./roster.ts";

const REPLAN_EVERY_MS = 2000;
/** Several sites may end in one moment. */
const SOON_MS = 50;
/** What can be promised of a limit: it is filled to 98 % and more. */
const FILLED_SHARE = 0.98;
/** Without a limit the best second so far, and somewhat more, is what the line gives. */
const GROWTH_SHARE = 1.2;
const UNKNOWN_LINE_BPS = 1e9;
/** What a page brings before any has come; it counts as so many pages. */
const USUAL_BYTES = 30_000;
const USUAL_WEIGHT = 3;
/** Who is given this part of what it could take is given all of it. */
const ALL_SHARE = 0.98;
/** Promises need slack: a server that hesitates once must not break one. */
const CAP_SHARE = 0.9;
/** Of the time that is left; tried in turn. */
const SLACK_SHARES = [0.15, 0.05, 0];
const STRETCH_SHARES = [-0.15, -0.4, -0.8, -1.5];
/** More than this many times what waits is not known, but said or foreseen. */
const DOUBT_SHARE = 1.5;
/** A promise can rest on a server's speed after so many of its pages. */
const TRIED_PAGES = 8;
/** New URLs for each that ends are counted over about so many. */
const LATELY_SETTLED = 50;
/** A deadline that has passed: whoever has it is late, but still wants to be done soon. */
const PASSED_SECONDS = 0.001;

/** What the plan says of a site. */
export interface Forecast {
  /** Counted from now; less than zero once it has passed. */
  readonly deadlineInMs: number | undefined;
  /** When it will be done, counted from now. */
  readonly finishInMs: number;
  readonly rateBps: number;
  readonly leftBytes: number;
  readonly isLate: boolean;
}

export interface ReplanParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: Settings;
  readonly seeds: readonly CanonicalUrl[];
  readonly hooks: CrawlHooks;
  readonly roster: Roster;
  readonly line: Line;
  readonly speeds: SpeedTable;
  readonly moment: () => Moment;
  readonly shares: Shares;
  /** When the time began that a site's deadline counts from. */
  readonly beganAtMs: (site: Site) => number;
  /** The best second so far. */
  readonly bestBps: () => number;
  /** The shares have changed: whoever waits is judged again. */
  readonly onShares: () => void;
}

/** What is remembered of a site from one plan to the next. */
interface Watched {
  known: number;
  settled: number;
  newPerSettled: number;
  isLate: boolean;
}

/** Whether anything was said that a plan is needed for. */
export function isPlanned(settings: Settings): boolean {
  const { deadlineMs, objective, sitesAtOnceMax, rateMinBps, sites } = settings;
  return (
    [deadlineMs, objective, sitesAtOnceMax, rateMinBps].some((said) => said !== undefined) ||
    sites.some((site) => site.deadlineMs !== undefined || site.priority !== 1)
  );
}

export class Replan {
  readonly #parts: ReplanParts;
  readonly #own: ReadonlyMap<string, SiteSettings>;
  readonly #seeds: ReadonlySet<string>;
  readonly #divider: Divider;
  readonly #watched = new Map<number, Watched>();
  readonly #deadlinesMs = new Map<string, number | undefined>();
  readonly #priorities = new Map<string, number>();
  #forecasts = new Map<number, Forecast>();
  #isActive = false;
  #usualBytes = USUAL_BYTES;
  #cancelTimer: (() => void) | undefined;
  #isSoon = false;

  constructor(parts: ReplanParts) {
    this.#parts = parts;
    this.#own = settingsBySite(parts.settings.sites);
    this.#seeds = new Set(parts.seeds.map(siteOf));
    this.#divider = new Divider(parts.settings, parts.log);
  }

  get isActive(): boolean {
    return this.#isActive;
  }

  /** Plans before anything is fetched; throws when told to be strict and something cannot be kept. */
  start(): void {
    if (!isPlanned(this.#parts.settings)) return;
    this.#isActive = true;
    this.#replan();
    this.#refuseIfStrict();
  }

  stop(): void {
    this.#isActive = false;
    this.#cancelTimer?.();
  }

  /** Something has changed that a plan rests on. */
  soon(): void {
    if (!this.#isActive || this.#isSoon) return;
    this.#isSoon = true;
    this.#arm(SOON_MS);
  }

  forecastOf({ id }: Site): Forecast | undefined {
    return this.#forecasts.get(id);
  }

  /** Counted from the start of the site's round; undefined when it has none. */
  deadlineMsOf(key: string): number | undefined {
    if (this.#deadlinesMs.has(key)) return this.#deadlinesMs.get(key);
    const own = this.#own.get(key)?.deadlineMs;
    return own ?? (this.#seeds.has(key) ? this.#parts.settings.deadlineMs : undefined);
  }

  /** What was promised of a site, and when it was done: both counted from the start of its time. */
  keptBy(site: Site): {
    readonly deadlineMs: number | undefined;
    readonly finishedMs: number | undefined;
  } {
    const { pending, finishedAtMs } = site;
    const isDone = pending === 0 && finishedAtMs !== undefined;
    return {
      deadlineMs: this.deadlineMsOf(site.key),
      finishedMs: isDone ? finishedAtMs - this.#parts.beganAtMs(site) : undefined,
    };
  }

  setDeadline(key: string, deadlineMs: number | undefined): void {
    this.#refuseStranger(key);
    this.#deadlinesMs.set(key, deadlineMs);
    this.#changed();
  }

  setPriority(key: string, priority: number): void {
    this.#refuseStranger(key);
    this.#priorities.set(key, priority);
    this.#changed();
  }

  #refuseStranger(key: string): void {
    for (const site of this.#parts.roster.inMemory()) if (site.key === key) return;
    throw new CrawlError("USAGE", `this crawl has no site ${visible(key, 200)}`);
  }

  #changed(): void {
    this.#isActive = true;
    this.soon();
  }

  #arm(delayMs: number): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#parts.clock.after(delayMs, () => this.#replan());
  }

  #replan(): void {
    this.#isSoon = false;
    const sites = [...this.#parts.roster.inMemory()].filter((site) => site.pending > 0);
    this.#usualBytes = this.#meanBytes();
    const task = this.#taskOf(sites);
    const division = this.#divideWithSlack(task, sites);
    const { shares, settings, onShares } = this.#parts;
    const claims = division.order.map((index) =>
      this.#claimOf(sites[index] as Site, task.sites[index] as SiteTask, {
        rateBps: division.ratesBps[index] as number,
        wholeBps: task.rateBps,
      }),
    );
    shares.set(
      claims.toSorted((a, b) => Number(b.rateBps > 0) - Number(a.rateBps > 0)),
      settings.sitesAtOnceMax,
    );
    this.#foresee(sites, task, division);
    if (this.#isActive) this.#arm(REPLAN_EVERY_MS);
    onShares();
  }

  /**
   * Keeps a part of the time in hand, as long as all can be kept even so. Nobody is given up for
   * bytes that nobody has seen: while sizes are only said or foreseen, all deadlines are stretched
   * alike instead.
   */
  #divideWithSlack(task: PlanTask, sites: readonly Site[]): Division {
    const isInDoubt = sites.some((site, index) => this.#isInDoubt(site, task.sites[index]?.bytes));
    for (const slackShare of isInDoubt ? [...SLACK_SHARES, ...STRETCH_SHARES] : SLACK_SHARES) {
      const division = this.#divideInTime(task, slackShare);
      if (division !== undefined) return division;
    }
    return this.#divider.divide(task);
  }

  #divideInTime(task: PlanTask, slackShare: number): Division | undefined {
    const sites = task.sites.map((site) => ({
      ...site,
      deadlineSeconds:
        site.deadlineSeconds === undefined ? undefined : site.deadlineSeconds * (1 - slackShare),
    }));
    const division = this.#divider.divide({ ...task, sites });
    const isKept = sites.every((site, index) => !isLate(site, division.finishSeconds[index] ?? 0));
    return isKept ? division : undefined;
  }

  /** Whether a good part of what is planned for has not been found yet. */
  #isInDoubt(site: Site, bytes = 0): boolean {
    if (this.deadlineMsOf(site.key) === undefined) return false;
    return bytes > DOUBT_SHARE * site.pending * meanBytesOf(this.#factsOf(site));
  }

  #claimOf(
    site: Site,
    { capBps: ownBps, deadlineSeconds }: SiteTask,
    { rateBps, wholeBps }: { readonly rateBps: number; readonly wholeBps: number },
  ): Claim {
    const isAll = rateBps >= ALL_SHARE * Math.min(ownBps, wholeBps);
    const isUntried = site.answered < TRIED_PAGES && deadlineSeconds !== undefined;
    const isSaid = this.#own.get(site.key)?.capBps !== undefined;
    return {
      siteId: site.id,
      rateBps: isAll ? Infinity : rateBps,
      headStart: isUntried && !isSaid ? TRIED_PAGES : 0,
    };
  }

  #taskOf(sites: readonly Site[]): PlanTask {
    const { settings } = this.#parts;
    return {
      sites: sites.map((site) => this.#siteTask(site)),
      rateBps: this.#rateBps(),
      sitesMax: settings.sitesAtOnceMax ?? Infinity,
      rateMinBps: settings.rateMinBps ?? 0,
      // Who has been started need not be again; what starting costs is in what is measured.
      startupSeconds: 0,
    };
  }

  #rateBps(): number {
    const { line, bestBps } = this.#parts;
    const heldToBps = line.payloadBps;
    if (heldToBps !== undefined) return heldToBps * FILLED_SHARE;
    return bestBps() > 0 ? bestBps() * GROWTH_SHARE : UNKNOWN_LINE_BPS;
  }

  #siteTask(site: Site): SiteTask {
    const own = this.#own.get(site.key);
    const facts = this.#factsOf(site);
    const { settings, line } = this.#parts;
    const limits = [own?.capBps, own?.limitBps ?? line.siteLimitBps];
    const saidBps = Math.min(...limits.map((bps) => bps ?? Infinity));
    const deadlineInMs = this.#deadlineInMs(site);
    return {
      key: site.key,
      bytes: Math.max(1, bytesLeft(facts)) * (own?.efficiency ?? 1),
      deadlineSeconds:
        deadlineInMs === undefined ? undefined : Math.max(PASSED_SECONDS, deadlineInMs / 1000),
      capBps: capBps({
        downloadBps: this.#downloadBps(site),
        concurrency: site.to?.concurrencyMax ?? settings.concurrencyPerSite,
        delayMs: site.to?.delayMs ?? 0,
        meanBytes: meanBytesOf(facts),
        saidBps,
      }),
      weight: this.#priorities.get(site.key) ?? own?.priority ?? 1,
    };
  }

  /** What its server gives now, or gave at such hours as far as anybody knows. */
  #downloadBps({ to, answered, gaveBytes, gaveMs }: Site): number | undefined {
    const { speeds, moment } = this.#parts;
    if (answered >= TRIED_PAGES) return ((gaveBytes * 1000) / gaveMs) * CAP_SHARE;
    if (to?.address === undefined || speeds.measured(to.address) < TRIED_PAGES) return undefined;
    return speeds.predictBps(to.address, moment()) * CAP_SHARE;
  }

  #factsOf(site: Site): Parameters<typeof bytesLeft>[0] {
    const settled = site.known - site.pending;
    const before = this.#watched.get(site.id);
    const watched = before ?? { known: site.known, settled, newPerSettled: 1, isLate: false };
    const ended = settled - watched.settled;
    if (ended > 0) {
      const share = Math.min(1, ended / LATELY_SETTLED);
      const rate = Math.max(0, site.known - watched.known) / ended;
      watched.newPerSettled += share * (rate - watched.newPerSettled);
      watched.settled = settled;
      watched.known = site.known;
    }
    this.#watched.set(site.id, watched);
    return {
      pending: site.pending,
      settled,
      newPerSettled: watched.newPerSettled,
      receivedBytes: site.books.bytes,
      expectedBytes: this.#own.get(site.key)?.sizeBytes,
      usualBytes: this.#usualBytes,
    };
  }

  /** What an address brings, of all sites in memory. */
  #meanBytes(): number {
    let bytes = USUAL_WEIGHT * USUAL_BYTES;
    let settled = USUAL_WEIGHT;
    for (const site of this.#parts.roster.inMemory()) {
      bytes += site.books.bytes;
      settled += site.known - site.pending;
    }
    return bytes / settled;
  }

  #deadlineInMs(site: Site): number | undefined {
    const deadlineMs = this.deadlineMsOf(site.key);
    if (deadlineMs === undefined) return undefined;
    return this.#parts.beganAtMs(site) + deadlineMs - this.#parts.clock.nowMs();
  }

  #foresee(sites: readonly Site[], task: PlanTask, division: Division): void {
    this.#forecasts = new Map();
    for (const [index, site] of sites.entries()) {
      const own = task.sites[index] as SiteTask;
      const finishSeconds = division.finishSeconds[index] as number;
      const forecast: Forecast = {
        deadlineInMs: this.#deadlineInMs(site),
        finishInMs: finishSeconds * 1000,
        rateBps: division.ratesBps[index] as number,
        leftBytes: own.bytes,
        isLate: isLate(own, finishSeconds),
      };
      this.#forecasts.set(site.id, forecast);
      this.#announce(site, forecast);
    }
    for (const siteId of this.#watched.keys())
      if (!this.#forecasts.has(siteId)) this.#watched.delete(siteId);
  }

  /** Told when it is first seen, and when it is no longer so. */
  #announce(site: Site, forecast: Forecast): void {
    const watched = this.#watched.get(site.id);
    const { deadlineInMs, finishInMs } = forecast;
    if (watched === undefined || deadlineInMs === undefined) return;
    if (watched.isLate === forecast.isLate) return;
    watched.isLate = forecast.isLate;
    const { log, hooks } = this.#parts;
    const values = { site: site.key, deadlineInMs, finishInMs };
    const message = forecast.isLate
      ? `${site.key} will miss its deadline by ${showDuration(finishInMs - deadlineInMs)}`
      : `${site.key} can meet its deadline again`;
    log.write({ level: forecast.isLate ? "warn" : "info", message, values });
    hooks.onDeadline?.({ ...values, isLate: forecast.isLate });
  }

  #refuseIfStrict(): void {
    const { settings, roster } = this.#parts;
    if (!settings.strict) return;
    const sites = [...roster.inMemory()].filter((site) => site.pending > 0);
    const late = sites.filter((site) => this.#forecasts.get(site.id)?.isLate === true);
    if (late.length === 0) return;
    const { minimumRateBps } = promisesOf(this.#taskOf(sites));
    const enough =
      minimumRateBps === undefined ? "" : ` ${showBytes(minimumRateBps)}/s would meet them all.`;
    throw new CrawlError(
      "DEADLINES_OUT_OF_REACH",
      `These deadlines cannot be met: ${late.map(({ key }) => key).join(", ")}.${enough}`,
    );
  }
}
