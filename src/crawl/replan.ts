/**
 * Divides the rate between sites while the crawl runs: every two seconds, and at once when a site
 * ends, a limit or a promise changes, a plan is made from what is left and what the servers give now.
 *
 * The plan's rates become shares (`plan/shares.ts`), which say who goes first; nobody is held below
 * what the line has left. A deadline that is out of reach is told at the start, and later as soon as
 * plans have agreed on it for a moment.
 */

import type { Clock } from "../base/clock.ts";
import { CrawlError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { showBytes, showDuration } from "../base/units.ts";
import type { Settings } from "../config/schema.ts";
import { Aims } from "../plan/aims.ts";
import { planBeforehand } from "../plan/beforehand.ts";
import {
  mostSlack,
  pagesToTry,
  PASSED_SECONDS,
  secondsAlone,
  type Slack,
  slackFor,
  withoutHope,
  withoutPassed,
  withSlack,
} from "../plan/caution.ts";
import { isLate, type PlanTask, type Segment, type SiteTask } from "../plan/plan.ts";
import { promisesOf, rateWithoutCaps } from "../plan/promises.ts";
import { type Claimant, claimsAt } from "../plan/claims.ts";
import type { Shares } from "../plan/shares.ts";
import { PLAN_SECONDS } from "../plan/steady.ts";
import { hasPlaces } from "../plan/work.ts";
import { type Division, Divider } from "./divider.ts";
import type { CrawlHooks } from "./hooks.ts";
import type { Outlook } from "./outlook.ts";
import type { Promised } from "./promised.ts";
import { PAGES_TO_KNOW, type Roster, type Site, TRIED_PAGES } from "./roster.ts";
import type { Sluice } from "./sluice.ts";
import type { PlanView } from "./snapshot.ts";

/** Several sites may end in one moment. */
const SOON_MS = 50;
/** A plan takes at most a part of the time: nothing else is done meanwhile. */
const REST_TIMES = 20;
/** How far all deadlines are stretched while sizes may be wrong, at most: to four times their time. */
const DOUBT_SHARE = -3;
/** Nobody is given up for less than this part of the time left: what servers give is not known better. */
const NOISE_SHARE = -0.1;
/** A deadline in or out of reach for so long is told. */
const SURE_AFTER_MS = 1500;

/** A division of the rate, and what it rests on. */
interface Divided {
  readonly task: PlanTask;
  readonly division: Division;
}

/** What the plan says of a site. */
export interface Forecast {
  /** Counted from now; less than zero once it has passed. */
  readonly deadlineInMs: number | undefined;
  /** When it will be done, counted from now. */
  readonly finishInMs: number;
  readonly rateBps: number;
  readonly leftBytes: number;
  /** When it is to get how much, counted from when the plan was made. */
  readonly segments: readonly Segment[];
  readonly isLate: boolean;
}

export interface ReplanParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: Settings;
  readonly hooks: CrawlHooks;
  readonly roster: Roster;
  readonly promised: Promised;
  readonly outlook: Outlook;
  readonly shares: Shares;
  readonly sluice: Pick<Sluice, "isWarm" | "share">;
  readonly onFault: (fault: unknown) => void;
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
  readonly #divider: Divider;
  #forecasts = new Map<number, Forecast>();
  /** Those whose deadline was last said to be out of reach. */
  readonly #late = new Set<number>();
  /** Since when plans have said otherwise of a site than was told. */
  readonly #doubtedAtMs = new Map<number, number>();
  #hasStarted = false;
  #isActive = false;
  readonly #aims = new Aims();
  /** Nothing was told yet of what is promised now. */
  #isToldAnew = true;
  #cancelTimer: (() => void) | undefined;
  #cancelClaims: (() => void) | undefined;
  #isSoon = false;
  /** How long the last plan took. */
  #tookMs = 0;
  #plans = 0;
  #madeAtMs = 0;
  #neededBps = 0;

  constructor(parts: ReplanParts) {
    this.#parts = parts;
    this.#divider = new Divider(parts);
  }

  /** Plans before anything is fetched; throws when told to be strict and something cannot be kept. */
  start(): void {
    if (!isPlanned(this.#parts.settings)) return;
    this.#isActive = true;
    this.#replan();
    // The first takes longest and kept nobody waiting.
    this.#tookMs = 0;
    this.#hasStarted = true;
    this.#refuseIfStrict();
  }

  stop(): void {
    this.#isActive = false;
    this.#cancelTimer?.();
    this.#cancelClaims?.();
  }

  /** Something has changed that a plan rests on. */
  soon(): void {
    if (!this.#isActive || this.#isSoon) return;
    this.#isSoon = true;
    this.#arm(Math.max(SOON_MS, this.#tookMs * REST_TIMES));
  }

  /** Something was promised: from now on there is a plan. */
  changed(): void {
    this.#isActive = true;
    this.#aims.forget();
    this.#isToldAnew = true;
    this.soon();
  }

  forecastOf({ id }: Site): Forecast | undefined {
    return this.#forecasts.get(id);
  }

  /** What it takes to keep the deadlines that can still be kept; 0 without any. */
  get neededBps(): number {
    return this.#isActive ? this.#neededBps : 0;
  }

  /** The last plan; undefined when there is none. */
  made(nowMs: number): PlanView | undefined {
    if (this.#plans === 0) return undefined;
    return { number: this.#plans, madeAgoMs: nowMs - this.#madeAtMs };
  }

  #arm(delayMs: number): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#parts.clock.after(delayMs, () => this.#replan());
  }

  #replan(): void {
    this.#isSoon = false;
    const { clock, outlook, sluice } = this.#parts;
    const beganAtMs = clock.nowMs();
    const sites = this.#sitesAtWork();
    const divided = this.#divide(sites);
    const { task, division } = divided;
    // To try servers before what they give is measured would be for nothing.
    const headStart = sluice.isWarm ? pagesToTry(task, outlook.usualBytes, TRIED_PAGES) : 0;
    const claimants = division.order.map((index) =>
      this.#claimantOf(sites[index] as Site, divided, { index, headStart }),
    );
    this.#foresee(sites, task, division);
    this.#neededBps = rateNeeded(task);
    this.#tookMs = clock.nowMs() - beganAtMs;
    this.#madeAtMs = beganAtMs;
    this.#plans += 1;
    if (this.#isActive) this.#arm(Math.max(PLAN_SECONDS * 1000, this.#tookMs * REST_TIMES));
    this.#claim(claimants, task.rateBps);
  }

  /** Gives everybody what the plan gives them now, again and again as it goes on. */
  #claim(claimants: readonly Claimant[], wholeBps: number): void {
    const { clock, shares, settings, sluice } = this.#parts;
    this.#cancelClaims?.();
    const atSeconds = (clock.nowMs() - this.#madeAtMs) / 1000;
    const { claims, untilSeconds } = claimsAt(atSeconds, claimants, wholeBps);
    shares.set(claims, settings.sitesAtOnceMax);
    if (this.#isActive && untilSeconds < Infinity)
      this.#cancelClaims = clock.after(Math.ceil((untilSeconds - atSeconds) * 1000), () =>
        this.#claim(claimants, wholeBps),
      );
    // Whoever waits is judged again.
    sluice.share();
  }

  #sitesAtWork(): Site[] {
    return [...this.#parts.roster.inMemory()].filter((site) => site.pending > 0);
  }

  /** Servers are as slow as they may be if all can be in time even so, and else as fast as they may be. */
  #divide(sites: readonly Site[]): Divided {
    const { outlook, settings } = this.#parts;
    const hopeful = outlook.taskOf(sites, "hope");
    // The paper's algorithms are for comparison, and know of no such care.
    if (settings.algorithm !== "optimal")
      return { task: hopeful, division: this.#divider.divide(hopeful) };
    const careful = outlook.taskOf(sites, "care");
    const hopeless = this.#hopelessOf(hopeful, sites);
    const open = withoutHope(careful, ({ key }) => hopeless.has(key));
    const wanted = this.#slackFor(careful, sites);
    const inTime = this.#divideAsAimed(open, wanted, sites) ?? this.#divideInTime(open, wanted, 0);
    if (inTime !== undefined) return { task: careful, division: inTime };
    return { task: hopeful, division: this.#divideWithHope(hopeful, sites) };
  }

  /** With what was once decided to be kept in hand; undefined where sizes are not known, or somebody would be late. */
  #divideAsAimed(task: PlanTask, wanted: Slack, sites: readonly Site[]): Division | undefined {
    if (sites.length === 0 || hasPlaces(task)) return undefined;
    if (sites.some((site) => this.#parts.outlook.isUnsaid(site))) return undefined;
    if (!this.#aims.knows(task, wanted)) this.#decide(task, wanted, sites);
    // Where not all could be kept nothing was decided.
    if (!this.#aims.knows(task, wanted)) return undefined;
    const aims = this.#aims.of(task);
    return aims === undefined ? undefined : this.#divider.divide(aims);
  }

  /** At first just what is told beforehand, so that the crawl begins with that plan and no other. */
  #decide(task: PlanTask, wanted: Slack, sites: readonly Site[]): void {
    const { outlook, settings } = this.#parts;
    if (!this.#isToldAnew) {
      const slack = mostSlack(task, wanted, 0);
      if (slack !== undefined) this.#aims.decide(task, withSlack(task, slack), wanted);
      return;
    }
    this.#isToldAnew = false;
    const now = this.#hasStarted ? task : outlook.toldTask(sites);
    const told = planBeforehand(now, wanted, settings.objective ?? "min-sum");
    if (told.aims !== now) this.#aims.decide(now, told.aims, wanted);
    this.#divider.begin(now, told);
  }

  /**
   * Keeps a part of the time in hand, as much of it as there is. Nobody is given up for bytes that
   * nobody has seen: while sizes are only said or foreseen, all deadlines are stretched alike
   * instead, as little as will do. Who cannot be in time counts more, to be done soon, and no longer
   * takes from what the others have in hand.
   */
  #divideWithHope(task: PlanTask, sites: readonly Site[]): Division {
    const { outlook } = this.#parts;
    const isInDoubt = sites.some((site, index) =>
      outlook.isInDoubt(site, task.sites[index]?.bytes ?? 0),
    );
    const wanted = this.#slackFor(task, sites);
    const open = withoutPassed(task);
    const kept = this.#divideInTime(open, wanted, isInDoubt ? DOUBT_SHARE : NOISE_SHARE);
    if (kept !== undefined) return kept;
    const division = this.#divider.divide(open);
    const late = new Set(
      open.sites.filter((site, index) => isLate(site, division.finishSeconds[index] ?? 0)),
    );
    const hopeful = withoutHope(open, (site) => late.has(site));
    return this.#divideInTime(hopeful, wanted, 0) ?? division;
  }

  /** Those that would not be in time with the line to themselves, unless it is not known how much they have. */
  #hopelessOf(task: PlanTask, sites: readonly Site[]): ReadonlySet<string> {
    const { outlook } = this.#parts;
    const hopeless = task.sites.filter((own, index) => {
      const { bytes, deadlineSeconds = Infinity } = own;
      if (deadlineSeconds >= secondsAlone(task, own)) return false;
      return deadlineSeconds < PASSED_SECONDS || !outlook.isInDoubt(sites[index] as Site, bytes);
    });
    return new Set(hopeless.map(({ key }) => key));
  }

  #slackFor(task: PlanTask, sites: readonly Site[]): Slack {
    const { outlook, promised } = this.#parts;
    return slackFor({
      sizes: !sites.some((site) => outlook.isUnsaid(site)),
      speeds: !task.sites.some(
        ({ key, capBps, deadlineSeconds }) =>
          deadlineSeconds !== undefined &&
          capBps < task.rateBps &&
          promised.saidOf(key)?.capBps === undefined,
      ),
    });
  }

  /** With as much in hand as there is; undefined when the least share is still too much. */
  #divideInTime(task: PlanTask, wanted: Slack, leastShare: number): Division | undefined {
    const slack = mostSlack(task, wanted, leastShare);
    if (slack === undefined) return undefined;
    // With places and least rates a plan may need more than what is feasible without them.
    for (const share of [slack.share, leastShare]) {
      const cautious = withSlack(task, { ...slack, share });
      const division = this.#divider.divide(cautious);
      const isKept = cautious.sites.every(
        (site, index) => !isLate(site, division.finishSeconds[index] ?? 0),
      );
      if (isKept) return division;
    }
    return undefined;
  }

  #claimantOf(
    site: Site,
    { task, division }: Divided,
    { index, headStart }: { readonly index: number; readonly headStart: number },
  ): Claimant {
    const { capBps, deadlineSeconds } = task.sites[index] as SiteTask;
    // No promise can rest on a server of which nobody knows anything.
    const isSaid = this.#parts.promised.saidOf(site.key)?.capBps !== undefined;
    const untried = deadlineSeconds === undefined || isSaid ? 0 : headStart - site.answered;
    return {
      siteId: site.id,
      planned: {
        segments: division.segments[index] ?? [],
        finishSeconds: division.finishSeconds[index] as number,
      },
      capBps,
      isSure: isSaid || site.answered >= PAGES_TO_KNOW,
      headStart: Math.max(0, untried),
    };
  }

  #foresee(sites: readonly Site[], task: PlanTask, division: Division): void {
    const { promised } = this.#parts;
    this.#forecasts = new Map();
    for (const [index, site] of sites.entries()) {
      const own = task.sites[index] as SiteTask;
      const finishSeconds = division.finishSeconds[index] as number;
      const forecast: Forecast = {
        deadlineInMs: promised.deadlineInMs(site),
        finishInMs: finishSeconds * 1000,
        rateBps: division.ratesBps[index] as number,
        leftBytes: own.bytes,
        segments: division.segments[index] ?? [],
        isLate: isLate(own, finishSeconds),
      };
      this.#forecasts.set(site.id, forecast);
      this.#announce(site, forecast);
    }
    for (const known of [this.#late, this.#doubtedAtMs])
      for (const siteId of known.keys()) if (!this.#forecasts.has(siteId)) known.delete(siteId);
  }

  /** Told at the start, and once plans have said so for a while: one alone may rest on a hiccup. */
  #announce(site: Site, { deadlineInMs, finishInMs, isLate: isLateNow }: Forecast): void {
    if (deadlineInMs === undefined || this.#late.has(site.id) === isLateNow)
      return void this.#doubtedAtMs.delete(site.id);
    const nowMs = this.#parts.clock.nowMs();
    const sinceMs = this.#doubtedAtMs.get(site.id) ?? nowMs;
    this.#doubtedAtMs.set(site.id, sinceMs);
    if (this.#hasStarted && nowMs - sinceMs < SURE_AFTER_MS) return;
    if (isLateNow) this.#late.add(site.id);
    else this.#late.delete(site.id);
    const { log, hooks } = this.#parts;
    const message = isLateNow
      ? `${site.key} will miss its deadline by ${showDuration(finishInMs - deadlineInMs)}`
      : `${site.key} can meet its deadline again`;
    log.write({ level: isLateNow ? "warn" : "info", message, values: {} });
    hooks.onDeadline?.({ site: site.key, deadlineInMs, finishInMs, isLate: isLateNow });
  }

  #refuseIfStrict(): void {
    if (!this.#parts.settings.strict) return;
    const sites = this.#sitesAtWork();
    const late = sites.filter((site) => this.#late.has(site.id));
    if (late.length === 0) return;
    const { minimumRateBps } = promisesOf(this.#parts.outlook.taskOf(sites, "hope"));
    const enough =
      minimumRateBps === undefined ? "" : ` ${showBytes(minimumRateBps)}/s would meet them all.`;
    throw new CrawlError(
      "DEADLINES_OUT_OF_REACH",
      `These deadlines cannot be met: ${late.map(({ key }) => key).join(", ")}.${enough}`,
    );
  }
}

/** Of deadlines that have not passed: those that have need no rate any more. */
function rateNeeded(task: PlanTask): number {
  const sites = task.sites.filter(
    ({ deadlineSeconds = Infinity }) => deadlineSeconds > task.startupSeconds + PASSED_SECONDS,
  );
  return rateWithoutCaps({ ...task, sites });
}
