/**
 * Divides the rate between sites while the crawl runs: every two seconds, and at once when a site
 * ends, a limit or a promise changes, a plan is made from what is left and what the servers give now.
 *
 * The plan's rates become shares (`plan/promise/fair-queue.ts`), which say who goes first; nobody is held below
 * what the line has left. A deadline that is out of reach is told at the start, and later as soon as
 * plans have agreed on it for a moment.
 */

import { CrawlError } from "../../base/errors.ts";
import { showBytes, showDuration } from "../../base/units.ts";
import type { Settings } from "../../config/schema.ts";
import { type Claimant, claimsAt, PLAN_SECONDS } from "../../plan/promise/rates-now.ts";
import { isLate, type PlanTask, type SiteTask } from "../../plan/plan.ts";
import { promisesOf, rateWithoutCaps } from "../../plan/promise/promises.ts";
import type { Shares } from "../../plan/promise/fair-queue.ts";
import { type Slots, slotsCapBps, withSlotsInTurn } from "../../plan/promise/slots.ts";
import { CautiousPlanner, type Divided, PASSED_SECONDS } from "./cautious-plan.ts";
import type { CrawlContext } from "../context.ts";
import type { Estimates, EstimatesContext } from "./estimate-sites.ts";
import type { Deadlines } from "./deadlines.ts";
import { PAGES_TO_KNOW, type Site, TRIED_PAGES } from "../site.ts";
import type { Forecast, PlanView } from "../../control/snapshot.ts";

/** Several sites may end in one moment. */
const SOON_MS = 50;
/** A plan takes at most a part of the time: nothing else is done meanwhile. */
const REST_TIMES = 20;
/** A deadline in or out of reach for so long is told. */
const SURE_AFTER_MS = 1500;

/** A site whose cap is at least this part of what its delay lets through is held by its delay. */
const HELD_SHARE = 0.99;

/** Share of the time left that trial requests to servers may take. */
const TRIED_SHARE = 0.01;
/** A server is not tried with pages that take longer than this with the line to themselves. */
const TRY_SECONDS_MAX = 0.25;

interface ReplannerParts {
  readonly deadlines: Deadlines;
  readonly estimates: Estimates;
  readonly shares: Shares;
  readonly limiter: {
    /** Whether the rates that servers give are being measured. */
    readonly isWarm: boolean;
    /** There are new shares. */
    share(): void;
  };
}

type ReplannerContext = EstimatesContext & Pick<CrawlContext, "log" | "hooks" | "team" | "emit">;

/** Whether anything was said that a plan is needed for. */
export function isPlanned(settings: Settings): boolean {
  const { deadlineMs, objective, sitesAtOnceMax, rateMinBps, sites } = settings;
  return (
    [deadlineMs, objective, sitesAtOnceMax, rateMinBps].some((said) => said !== undefined) ||
    sites.some((site) => site.deadlineMs !== undefined || site.priority !== 1)
  );
}

export class Replanner {
  readonly #context: ReplannerContext;
  readonly #parts: ReplannerParts;
  readonly #planner: CautiousPlanner;
  #forecasts = new Map<number, Forecast>();
  /** Those whose deadline was last said to be out of reach. */
  readonly #late = new Set<number>();
  /** Since when plans have said otherwise of a site than was told. */
  readonly #doubtedAtMs = new Map<number, number>();
  #hasStarted = false;
  #isActive = false;
  #cancelTimer: (() => void) | undefined;
  #cancelClaims: (() => void) | undefined;
  #isSoon = false;
  /** How long the last plan took. */
  #tookMs = 0;
  #plans = 0;
  #madeAtMs = 0;
  #neededBps = 0;

  constructor(context: ReplannerContext, parts: ReplannerParts) {
    this.#context = context;
    this.#parts = parts;
    this.#planner = new CautiousPlanner(context, parts.deadlines, parts.estimates);
  }

  /** Plans before anything is fetched; throws when the settings are strict and a deadline cannot be kept. */
  start(): void {
    if (!isPlanned(this.#context.settings)) return;
    this.#isActive = true;
    // Without a licence there is no rate that could be planned with: the first one asks for a plan.
    if (this.#context.team !== undefined) {
      this.#hasStarted = true;
      return;
    }
    this.#replanner();
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

  /** Something was deadlines: from now on there is a plan. */
  changed(): void {
    this.#isActive = true;
    this.#planner.changed();
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
    this.#cancelTimer = this.#context.clock.after(delayMs, () => this.#replanner());
  }

  #replanner(): void {
    this.#isSoon = false;
    const { clock } = this.#context;
    const { estimates, limiter } = this.#parts;
    const beganAtMs = clock.nowMs();
    const sites = this.#sitesAtWork();
    const divided = this.#planner.divide(sites);
    const { task, division } = divided;
    const slots = estimates.slotsOf(sites);
    // To try servers before what they give is measured would be for nothing.
    const headStart = limiter.isWarm ? pagesToTry(task, estimates.usualBytes, TRIED_PAGES) : 0;
    const claimants = withSlotsInTurn(division.order, slots).map((index) =>
      this.#claimantOf(sites[index] as Site, divided, {
        index,
        headStart,
        slots: slots[index] as Slots,
      }),
    );
    this.#foresee(sites, divided);
    this.#neededBps = rateNeeded(task);
    this.#tookMs = clock.nowMs() - beganAtMs;
    this.#madeAtMs = beganAtMs;
    this.#plans += 1;
    if (this.#isActive) this.#arm(Math.max(PLAN_SECONDS * 1000, this.#tookMs * REST_TIMES));
    this.#claim(claimants, task.rateBps);
  }

  /** Gives everybody what the plan gives them now, again and again as it goes on. */
  #claim(claimants: readonly Claimant[], wholeBps: number): void {
    const { clock, settings } = this.#context;
    const { shares, limiter } = this.#parts;
    this.#cancelClaims?.();
    const atSeconds = (clock.nowMs() - this.#madeAtMs) / 1000;
    const { claims, untilSeconds } = claimsAt(atSeconds, claimants, wholeBps);
    shares.set(claims, settings.sitesAtOnceMax);
    if (this.#isActive && untilSeconds < Infinity)
      this.#cancelClaims = clock.after(Math.ceil((untilSeconds - atSeconds) * 1000), () =>
        this.#claim(claimants, wholeBps),
      );
    // Whoever waits is judged again.
    limiter.share();
  }

  #sitesAtWork(): Site[] {
    return [...this.#context.sites.inMemory()].filter((site) => site.pending > 0);
  }

  #claimantOf(
    site: Site,
    { task, division }: Divided,
    {
      index,
      headStart,
      slots,
    }: { readonly index: number; readonly headStart: number; readonly slots: Slots },
  ): Claimant {
    const { bytes, capBps, deadlineSeconds } = task.sites[index] as SiteTask;
    // No promise can rest on a server of which nobody knows anything.
    const isSaid = this.#parts.deadlines.saidOf(site.key)?.capBps !== undefined;
    const isHeld = slots.seconds > 0 && capBps >= HELD_SHARE * slotsCapBps(bytes, slots);
    // A page that takes the line for long would delay the sites that have little time left.
    const isLong = this.#parts.estimates.pageBytesOf(site) > TRY_SECONDS_MAX * task.rateBps;
    const needsNone = deadlineSeconds === undefined || isSaid || isHeld || isLong;
    const untried = needsNone ? 0 : headStart - site.answered;
    return {
      siteId: site.id,
      planned: {
        segments: division.segments[index] ?? [],
        finishSeconds: division.finishSeconds[index] as number,
      },
      capBps,
      // Of a site that is held by its delay no measurement is needed: it takes no more than its slots.
      isSure: isSaid || isHeld || site.answered >= PAGES_TO_KNOW,
      headStart: Math.max(0, untried),
    };
  }

  #foresee(sites: readonly Site[], { task, division }: Divided): void {
    const { deadlines } = this.#parts;
    this.#forecasts = new Map();
    for (const [index, site] of sites.entries()) {
      const own = task.sites[index] as SiteTask;
      const finishSeconds = division.finishSeconds[index] as number;
      const forecast: Forecast = {
        deadlineInMs: deadlines.deadlineInMs(site),
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
    const nowMs = this.#context.clock.nowMs();
    const sinceMs = this.#doubtedAtMs.get(site.id) ?? nowMs;
    this.#doubtedAtMs.set(site.id, sinceMs);
    if (this.#hasStarted && nowMs - sinceMs < SURE_AFTER_MS) return;
    if (isLateNow) this.#late.add(site.id);
    else this.#late.delete(site.id);
    const { log, hooks } = this.#context;
    const message = isLateNow
      ? `${site.key} will miss its deadline by ${showDuration(finishInMs - deadlineInMs)}`
      : `${site.key} can meet its deadline again`;
    log.write({ level: isLateNow ? "warn" : "info", message, values: {} });
    hooks.onDeadline?.({ site: site.key, deadlineInMs, finishInMs, isLate: isLateNow });
  }

  #refuseIfStrict(): void {
    if (!this.#context.settings.strict) return;
    const sites = this.#sitesAtWork();
    const { verdicts } = this.#planner;
    const isSure = this.#context.settings.strict === "sure";
    const late = sites.filter(({ id }) => {
      const certainty = verdicts.get(id)?.certainty;
      return isSure ? certainty !== undefined && certainty !== "sure" : certainty === "late";
    });
    if (late.length === 0) return;
    const { minimumRateBps } = promisesOf(this.#parts.estimates.taskOf(sites, "hope"));
    const enough =
      minimumRateBps === undefined ? "" : ` ${showBytes(minimumRateBps)}/s would meet them all.`;
    throw new CrawlError(
      "DEADLINES_OUT_OF_REACH",
      `These deadlines cannot be ${isSure ? "promised without estimates" : "met"}: ${late.map(({ key }) => key).join(", ")}.${enough}`,
    );
  }
}

/** Number of trial pages per server: all together take a small share of the time left. */
function pagesToTry({ sites }: PlanTask, pageBytes: number, pagesMax: number): number {
  const promised = sites.filter(({ deadlineSeconds }) => deadlineSeconds !== undefined);
  const leftBytes = sites.reduce((sum, { bytes }) => sum + bytes, 0);
  const pages = Math.floor((TRIED_SHARE * leftBytes) / (promised.length * pageBytes || 1));
  return Math.min(pagesMax, Math.max(1, pages));
}

/** Of deadlines that have not passed: those that have need no rate any more. */
function rateNeeded(task: PlanTask): number {
  const sites = task.sites.filter(
    ({ deadlineSeconds = Infinity }) => deadlineSeconds > task.startupSeconds + PASSED_SECONDS,
  );
  return rateWithoutCaps({ ...task, sites });
}
