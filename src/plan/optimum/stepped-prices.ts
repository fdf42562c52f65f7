/**
 * A better bound where deadlines press: prices of the line's time that fall in steps of any height.
 *
 * The prices of `prices.ts` fall ever more slowly, so that every site finds its best start at once. Before a
 * tight deadline the line is dear, though, and right after it cheap, and such a curve cannot say so. Here the price
 * is constant from knot to knot, deadlines are knots, and it may fall there by any amount. A site still runs
 * without a break, as late is never dearer than early; its best start is a knot or the last moment, because
 * between knots the cost has no bend upwards. The same ascent, begun from the other prices. O(n k) a step.
 */

import { neverRising } from "./never-rising.ts";
import { columnOf, withDeadlines, type Work } from "../schedule/columns.ts";

const DEADLINES_MAX = 120;
/** A step that gains less was in vain; after so many of them others are tried, half as long when it is their turn again. */
const GAIN_MIN = 1e-5;
const PATIENCE = 7;
const STEP_MIN = 1e-4;
/** What is missing is taken for this part of the goal at least. */
const MISSING_MIN = 1e-3;
const MOMENTUM = 0.7;
/** As long as more than this part is missing, so many times as many steps are taken. */
const MISSING_MUCH = 0.015;
const TIMES_MORE = 24;
/** How fast the mean of starts follows them. */
const MEAN_GAIN = 0.05;
/** A bound must not be too high by what is rounded in sums over all sites. */
const ROUNDING = 1e-12;
/**
 * Deadlines are a little later here: a schedule may miss them by rounding (`score.ts`), and where they can only just be
 * kept, no price is too high for the moment that is then missing.
 */
const LATER_SHARE = 2e-9;

/** What it takes from the smooth prices. */
export interface SmoothPrices {
  readonly knots: Float64Array;
  meanPrice(fromSeconds: number, toSeconds: number): number;
}

interface SteppedBound {
  /** No schedule that keeps the deadlines has a smaller sum of weighted finishing times. */
  readonly sumSeconds: number;
  /** When each site would begin at these prices. */
  readonly starts: Float64Array;
  /** When it began in the mean of the last steps. */
  readonly meanStarts: Float64Array;
}

/**
 * `goalSeconds`: a sum that some schedule reaches; the farther it is above the bound, the longer the steps (Polyak 1969).
 *
 * Steps are of two kinds. One raises the price of each stretch by itself, the other that of all stretches up to a knot;
 * where one gets stuck the other often does not, so they take turns.
 */
export function steppedBound(
  work: Work,
  smooth: SmoothPrices,
  steps: number,
  goalSeconds: number,
): SteppedBound {
  const deadlineSeconds = work.deadlineSeconds.map((seconds) => seconds * (1 + LATER_SHARE));
  const later = withDeadlines(work, deadlineSeconds);
  const knots = knotsWith(later, smooth.knots);
  const prices = new SteppedPrices(later, knots);
  const stretches = knots.length - 1;
  let at: Float64Array = Float64Array.from({ length: stretches }, (_, knot) =>
    smooth.meanPrice(knots[knot] as number, knots[knot + 1] as number),
  );
  let best = { prices: at, sumSeconds: Number.NEGATIVE_INFINITY };
  const direction = new Float64Array(stretches);
  let [turn, other]: [Turn, Turn] = [
    { next: afterKnots, stepLength: 1 },
    { next: afterStretches, stepLength: 1 },
  ];
  let inVain = 0;
  const meanStarts = new Float64Array(work.count);
  const isFar = () => best.sumSeconds < goalSeconds * (1 - MISSING_MUCH);
  for (let step = 0; step < steps || (step < TIMES_MORE * steps && isFar()); step++) {
    let sumSeconds = prices.ask(at);
    follow(meanStarts, prices.starts, Math.max(MEAN_GAIN, 1 / (step + 1)));
    inVain = sumSeconds > best.sumSeconds + GAIN_MIN * goalSeconds ? 0 : inVain + 1;
    if (sumSeconds > best.sumSeconds) best = { prices: at, sumSeconds };
    if (inVain >= PATIENCE) {
      [turn, other] = [other, { ...turn, stepLength: turn.stepLength / 2 }];
      if (turn.stepLength < STEP_MIN) break;
      inVain = 0;
      direction.fill(0);
      at = best.prices;
      sumSeconds = prices.ask(at);
    }
    const missing = Math.max(goalSeconds - sumSeconds, MISSING_MIN * goalSeconds);
    at = turn.next(at, direction, prices, (turn.stepLength * missing) / work.rateBps);
  }
  prices.ask(best.prices);
  return { sumSeconds: best.sumSeconds, starts: prices.starts, meanStarts };
}

function follow(mean: Float64Array, values: Float64Array, gain: number): void {
  for (let site = 0; site < mean.length; site++)
    mean[site] =
      (mean[site] as number) + gain * ((values[site] as number) - (mean[site] as number));
}

interface Turn {
  readonly next: typeof afterKnots;
  readonly stepLength: number;
}

/** The next prices: those up to a knot rise together where more is asked for by then than the line brings. */
function afterKnots(
  at: Float64Array,
  direction: Float64Array,
  { excessShares, lengths }: SteppedPrices,
  gain: number,
): Float64Array {
  let norm = 0;
  let excess = 0;
  for (let stretch = 0; stretch < direction.length; stretch++) {
    excess += (excessShares[stretch] as number) * (lengths[stretch] as number);
    let value = MOMENTUM * (direction[stretch] as number) + (1 - MOMENTUM) * excess;
    if (value < 0 && at[stretch] === (at[stretch + 1] ?? 0)) value = 0;
    direction[stretch] = value;
    norm += value * value;
  }
  if (norm === 0) return at;
  const next = new Float64Array(at.length);
  let price = 0;
  for (let stretch = at.length - 1; stretch >= 0; stretch--) {
    const fall = (at[stretch] as number) - (at[stretch + 1] ?? 0);
    price += Math.max(0, fall + (gain / norm) * (direction[stretch] as number));
    next[stretch] = price;
  }
  return next;
}

/** The next prices: up where more is asked for than the line brings, down where less is. */
function afterStretches(
  at: Float64Array,
  direction: Float64Array,
  { excessShares, lengths, knots }: SteppedPrices,
  gain: number,
): Float64Array {
  let norm = 0;
  for (let stretch = 0; stretch < direction.length; stretch++) {
    const excess = excessShares[stretch] as number;
    let value = MOMENTUM * (direction[stretch] as number) + (1 - MOMENTUM) * excess;
    if (value < 0 && at[stretch] === 0) value = 0;
    direction[stretch] = value;
    norm += value * value * (lengths[stretch] as number);
  }
  if (norm === 0) return at;
  const next = at.map((price, stretch) => price + (gain / norm) * (direction[stretch] as number));
  return neverRising(next, knots);
}

/** With deadlines among them, of many an even part. */
function knotsWith({ deadlineSeconds }: Work, smooth: Float64Array): Float64Array {
  const endSeconds = smooth.at(-1) as number;
  const deadlines = deadlineSeconds.filter((seconds) => seconds > 0 && seconds < endSeconds).sort();
  const every = Math.max(1, deadlines.length / DEADLINES_MAX);
  const some = Int32Array.from({ length: Math.floor(deadlines.length / every) }, (_, part) =>
    Math.floor((part + 1) * every - 1),
  );
  const apart = endSeconds * 1e-9;
  return Float64Array.from([...smooth, ...columnOf(deadlines, some)])
    .sort()
    .filter((knot, place, all) => place === 0 || knot - (all[place - 1] as number) > apart);
}

class SteppedPrices {
  readonly knots: Float64Array;
  readonly lengths: Float64Array;
  /** When each site would begin, at the prices last asked. */
  readonly starts: Float64Array;
  /** By stretch: the rate asked for beyond the line's, as a part of it. */
  readonly excessShares: Float64Array;
  readonly #work: Work;
  /** Up to each knot: the integral of the prices. */
  readonly #sums: Float64Array;
  /** Rate that begins less rate that ends by stretch, and the bytes of this stretch that are missed for it. */
  readonly #changesBps: Float64Array;
  readonly #missedBytes: Float64Array;

  constructor(work: Work, knots: Float64Array) {
    this.#work = work;
    this.knots = knots;
    this.starts = new Float64Array(work.count);
    this.lengths = Float64Array.from(
      { length: knots.length - 1 },
      (_, knot) => (knots[knot + 1] as number) - (knots[knot] as number),
    );
    this.excessShares = new Float64Array(knots.length - 1);
    this.#sums = new Float64Array(knots.length);
    this.#changesBps = new Float64Array(knots.length);
    this.#missedBytes = new Float64Array(knots.length);
  }

  /** Takes prices by stretch that never rise, and gives the bound. */
  ask(prices: Float64Array): number {
    const { count, rateBps, bytes } = this.#work;
    for (let stretch = 0; stretch < prices.length; stretch++)
      this.#sums[stretch + 1] =
        (this.#sums[stretch] as number) +
        (prices[stretch] as number) * (this.lengths[stretch] as number);
    this.#changesBps.fill(0);
    this.#missedBytes.fill(0);
    let bound = -rateBps * (this.#sums[prices.length] as number);
    for (let site = 0; site < count; site++)
      if (bytes[site] !== 0) bound += this.#leastCost(site, prices);
    let askedBps = 0;
    for (let stretch = 0; stretch < prices.length; stretch++) {
      askedBps += this.#changesBps[stretch] as number;
      const missedBps = (this.#missedBytes[stretch] as number) / (this.lengths[stretch] as number);
      this.excessShares[stretch] = (askedBps - missedBps) / rateBps - 1;
    }
    return bound - ROUNDING * (Math.abs(bound) + rateBps * (this.#sums[prices.length] as number));
  }

  /** Of one site, which then asks for its cap from the start that it chose. */
  #leastCost(site: number, prices: Float64Array): number {
    const { knots } = this;
    const sums = this.#sums;
    const { bytes, capBps, weight, deadlineSeconds } = this.#work;
    const cap = capBps[site] as number;
    const seconds = (bytes[site] as number) / cap;
    const wanted = (weight[site] as number) / cap;
    const last = knots.length - 1;
    const latest = Math.min(knots[last] as number, (deadlineSeconds[site] as number) - seconds);
    let best = Number.POSITIVE_INFINITY;
    let bestStart = 0;
    let endKnot = 0;
    for (let knot = 0; knot <= last; knot++) {
      const isLatest = (knots[knot] as number) >= latest;
      const start = isLatest ? Math.max(0, latest) : (knots[knot] as number);
      const end = start + seconds;
      while (endKnot < last && (knots[endKnot + 1] as number) <= end) endKnot++;
      const startKnot = isLatest && start < (knots[knot] as number) ? knot - 1 : knot;
      const cost =
        wanted * end +
        (sums[endKnot] as number) +
        (end - (knots[endKnot] as number)) * (endKnot < last ? (prices[endKnot] as number) : 0) -
        (sums[startKnot] as number) -
        (start - (knots[startKnot] as number)) *
          (startKnot < last ? (prices[startKnot] as number) : 0);
      if (cost < best) {
        best = cost;
        bestStart = start;
      }
      if (isLatest) break;
    }
    this.starts[site] = bestStart;
    this.#change(bestStart, cap);
    this.#change(bestStart + seconds, -cap);
    return best * cap;
  }

  #change(seconds: number, rateBps: number): void {
    const { knots } = this;
    let low = 0;
    let high = knots.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((knots[middle] as number) <= seconds) low = middle;
      else high = middle;
    }
    this.#changesBps[low] = (this.#changesBps[low] as number) + rateBps;
    const missed = rateBps * (seconds - (knots[low] as number));
    this.#missedBytes[low] = (this.#missedBytes[low] as number) + missed;
  }
}
