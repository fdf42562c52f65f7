/**
 * The mixed integer program of Zhu, Li, Xu and Cui for more sites than can be crawled at once: what is
 * given to a solver, and the plan that its answer stands for. The solver itself is `solver/solve-mip.ts`.
 *
 * Time is cut into intervals of the same length t_f. Every site is crawled in exactly one of them, from
 * the end of the start-up time t to the end of the interval, so its rate is D / (t_f − t) and it is done
 * when its interval ends. With y = 1 where site i is crawled in interval k = 1, 2, …:
 *
 *   minimise   Σ k·t_f·y                     the sum of finish times
 *   such that  Σ_k y = 1                     every site once
 *              Σ_i y ≤ m                     for every interval
 *              Σ_i D_i·y ≤ U·(t_f − t)       for every interval; so Σv ≤ U as well
 *              y = 0 where k·t_f > t*_i      deadlines are kept
 *              D_i / (t_f − t) ≥ v*          which only the length of an interval decides
 *
 * The paper asks for exactly m sites in an interval, which has no answer for most inputs; at most m is meant.
 * It does not say how long an interval is, and everything hangs on that: short ones order the sites more
 * finely and pay the start-up more often, long ones make a small site wait for a large one's end. It knows no
 * caps and no priorities, and none are looked at.
 */

import { assert } from "../../base/assert.ts";
import type { Plan, PlanTask, SitePlan, SiteTask } from "../plan.ts";

export interface MipOptions {
  /** t_f. By default as many intervals as make about 2n / m, and as deadlines, sizes and v* allow. */
  readonly intervalSeconds?: number | undefined;
}

/** A site of the program; its number there is its place in `MipModel.sites`. */
export interface MipSite {
  /** In `task.sites`. */
  readonly index: number;
  /** What it takes of an interval's bytes. */
  readonly share: number;
  /** How many intervals, from the first, end by its deadline. */
  readonly intervals: number;
}

export interface MipModel {
  readonly sites: readonly MipSite[];
  readonly intervalSeconds: number;
  readonly intervals: number;
  /** m. */
  readonly sitesMax: number;
}

type MipQuestion =
  | { readonly kind: "model"; readonly model: MipModel }
  | { readonly kind: "impossible"; readonly why: string };

/** Sparse, by columns, as solvers want it; columns go through the sites, then through their intervals. */
interface MipMatrix {
  readonly costs: Float64Array;
  readonly starts: Int32Array;
  readonly rows: Int32Array;
  readonly values: Float64Array;
  readonly rowLower: Float64Array;
  readonly rowUpper: Float64Array;
}

/** Fewer intervals than this order the sites too coarsely to be worth a solver. */
const INTERVALS_MIN = 10;
/** Room for packings that are not perfect, beyond what the largest-first one needs. */
const SPARE_SHARE = 0.1;
const SPARE_INTERVALS = 2;
/** More would not be answered within a minute. */
const COLUMNS_MAX = 500_000;
const ROUNDING = 1e-9;

export function mipModel(task: PlanTask, options: MipOptions = {}): MipQuestion {
  const toCrawl = task.sites.flatMap((site, index) => (site.bytes > 0 ? [{ site, index }] : []));
  const lengths = lengthsFor(
    task,
    toCrawl.map(({ site }) => site),
  );
  if (typeof lengths === "string") return { kind: "impossible", why: lengths };
  const intervalSeconds = options.intervalSeconds ?? lengths.wanted;
  const wrong = unfit(lengths, intervalSeconds);
  if (wrong !== undefined) return { kind: "impossible", why: wrong };
  const bytesMax = task.rateBps * (intervalSeconds - task.startupSeconds);
  const shares = toCrawl.map(({ site }) => Math.min(1, site.bytes / bytesMax));
  const intervals = intervalsFor(shares, task.sitesMax);
  if (toCrawl.length * intervals > COLUMNS_MAX)
    return { kind: "impossible", why: tooLarge(toCrawl.length, intervals) };
  const sites = toCrawl.map(({ site: { deadlineSeconds }, index }, number): MipSite => {
    const due = Math.floor(((deadlineSeconds ?? Infinity) / intervalSeconds) * (1 + ROUNDING));
    return { index, share: shares[number] as number, intervals: Math.min(intervals, due) };
  });
  const sitesMax = Math.min(task.sitesMax, toCrawl.length);
  return { kind: "model", model: { sites, intervalSeconds, intervals, sitesMax } };
}

/** Rows: every site once, then places, then bytes of every interval. Costs count intervals, not seconds. */
export function matrixOf({ sites, intervals, sitesMax }: MipModel): MipMatrix {
  const columns = columnsOf(sites);
  const rowCount = sites.length + 2 * intervals;
  const matrix = {
    costs: new Float64Array(columns),
    starts: Int32Array.from({ length: columns + 1 }, (_, column) => 3 * column),
    rows: new Int32Array(3 * columns),
    values: new Float64Array(3 * columns).fill(1),
    rowLower: new Float64Array(rowCount).fill(-Infinity).fill(1, 0, sites.length),
    rowUpper: new Float64Array(rowCount).fill(1),
  };
  matrix.rowUpper.fill(sitesMax, sites.length, sites.length + intervals);
  let column = 0;
  for (const [number, { share, intervals: usable }] of sites.entries())
    for (let interval = 0; interval < usable; interval++) {
      matrix.costs[column] = interval + 1;
      const places = sites.length + interval;
      matrix.rows.set([number, places, places + intervals], 3 * column);
      matrix.values[3 * column + 2] = share;
      column++;
    }
  return matrix;
}

/**
 * What no division has a smaller sum than, sites counting the number of their interval: as if sites had no
 * deadlines and could be divided. The j-th site to be done is in no earlier interval than j places and the
 * j smallest sites need.
 */
export function simpleBound({ sites, sitesMax }: MipModel): number {
  let filled = 0;
  return sites
    .map(({ share }) => share)
    .toSorted((a, b) => a - b)
    .reduce((sum, share, place) => {
      filled += share;
      return sum + Math.ceil(Math.max(filled - ROUNDING, (place + 1) / sitesMax));
    }, 0);
}

export function columnsOf(sites: readonly MipSite[]): number {
  return sites.reduce((sum, { intervals }) => sum + intervals, 0);
}

/** The plan of an answer: for each site of the model its interval, counted from 0. */
export function planOfIntervals(
  task: PlanTask,
  { sites, intervalSeconds }: MipModel,
  intervalOf: readonly number[],
): Plan {
  const { startupSeconds } = task;
  const planned = task.sites.map(({ key }): SitePlan => ({ key, segments: [], finishSeconds: 0 }));
  for (const [number, { index }] of sites.entries()) {
    const { key, bytes } = task.sites[index] as SiteTask;
    const interval = intervalOf[number];
    assert(interval !== undefined && interval >= 0, "every site has its interval");
    const fromSeconds = interval * intervalSeconds + startupSeconds;
    const toSeconds = (interval + 1) * intervalSeconds;
    const rateBps = bytes / (toSeconds - fromSeconds);
    planned[index] = {
      key,
      segments: [{ fromSeconds, toSeconds, rateBps }],
      finishSeconds: toSeconds,
    };
  }
  return { sites: planned };
}

interface Lengths {
  readonly wanted: number;
  readonly least: number;
  readonly leastWhy: string;
  readonly most: number;
  readonly mostWhy: string;
}

/** How long an interval may be: the largest site must fit, the smallest have v*, deadlines be kept. */
function lengthsFor(task: PlanTask, sites: readonly SiteTask[]): Lengths | string {
  const { rateBps, startupSeconds, rateMinBps, sitesMax } = task;
  assert(sitesMax >= 1, "at least one site may be crawled");
  if (rateBps <= 0) return "there is no rate to divide";
  const bytes = sites.reduce((sum, site) => sum + site.bytes, 0);
  const largest = extreme(sites, (site) => site.bytes);
  const smallest = extreme(sites, (site) => -site.bytes);
  const first = extreme(sites, (site) => -(site.deadlineSeconds ?? Infinity));
  const least = startupSeconds + (largest?.bytes ?? 0) / rateBps;
  const slowSeconds = startupSeconds + (smallest?.bytes ?? Infinity) / rateMinBps;
  const dueSeconds = first?.deadlineSeconds ?? Infinity;
  const [most, mostWhy] =
    dueSeconds < slowSeconds
      ? [dueSeconds, `${first?.key} is due then`]
      : [slowSeconds, `${smallest?.key} would be slower than the least rate`];
  const wantedIntervals = Math.max(INTERVALS_MIN, (2 * sites.length) / sitesMax);
  const even = startupSeconds + bytes / rateBps / wantedIntervals;
  const wanted = Math.max(Math.min(even, most), least) || 1;
  return { wanted, least, leastWhy: `${largest?.key} does not fit into less`, most, mostWhy };
}

function unfit({ least, leastWhy, most, mostWhy }: Lengths, seconds: number): string | undefined {
  if (seconds < least * (1 - ROUNDING))
    return `an interval of ${short(seconds)} s is too short: ${leastWhy} than ${short(least)} s`;
  if (seconds > most * (1 + ROUNDING))
    return `an interval of ${short(seconds)} s is too long: ${mostWhy}, at ${short(most)} s; and ${leastWhy} than ${short(least)} s`;
  return undefined;
}

function extreme(
  sites: readonly SiteTask[],
  valueOf: (site: SiteTask) => number,
): SiteTask | undefined {
  let best = sites[0];
  for (const site of sites) if (best !== undefined && valueOf(site) > valueOf(best)) best = site;
  return best;
}

/** How many intervals there are to choose from. */
function intervalsFor(shares: readonly number[], sitesMax: number): number {
  const sum = shares.reduce((total, share) => total + share, 0);
  const fewest = Math.ceil(Math.max(sum, shares.length / sitesMax));
  // If even these are too many, their exact number does not matter.
  const packed = fewest * shares.length > COLUMNS_MAX ? fewest : largestFirst(shares, sitesMax);
  return Math.ceil(packed * (1 + SPARE_SHARE)) + SPARE_INTERVALS;
}

/** How many intervals it takes to put the largest first into the first that has room. */
function largestFirst(shares: readonly number[], sitesMax: number): number {
  const rooms: { share: number; places: number }[] = [];
  for (const share of shares.toSorted((a, b) => b - a)) {
    let room = rooms.find((one) => one.places > 0 && one.share >= share);
    if (room === undefined) {
      room = { share: 1, places: sitesMax };
      rooms.push(room);
    }
    room.share -= share;
    room.places -= 1;
  }
  return rooms.length;
}

function tooLarge(sites: number, intervals: number): string {
  return `${sites} sites in ${intervals} intervals are more than the solver can weigh; longer intervals or more places make it smaller`;
}

function short(seconds: number): string {
  return String(Number(seconds.toPrecision(4)));
}
