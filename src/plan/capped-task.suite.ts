/**
 * Tasks for the tests of `optimal`, from a seed: sizes over two decades, caps, deadlines, weights.
 *
 * Caps are spread evenly over the powers between 2 % (or 10 %) and 60 % (or all) of the rate, so that
 * some sites are slow for their size and others hardly bound. A deadline leaves a site its own time,
 * that again at most, and an even part of the time that everything takes; with `tight` less than 1 they
 * come so much earlier, and many cannot be kept.
 */

import { below, randomFrom } from "../base/random.ts";
import type { PlanTask, SiteTask } from "./plan.ts";

export interface Wishes {
  readonly count: number;
  /** As parts of the rate; Infinity for none. */
  readonly caps?: readonly [number, number];
  /** How many of the sites have a deadline, as a part. */
  readonly dated?: number;
  readonly tight?: number;
  readonly weighted?: boolean;
  /** Whole numbers: sums are exact then, and ties occur. */
  readonly whole?: boolean;
}

const RATE_BPS = 1000;

export function cappedTask(seed: number, wishes: Wishes, rest: Partial<PlanTask> = {}): PlanTask {
  const { count, caps, dated = 0, tight = 1, weighted = false, whole = false } = wishes;
  const random = randomFrom(seed);
  const round = (value: number) => (whole ? Math.ceil(value) : value);
  const facts = Array.from({ length: count }, () => ({
    bytes: round(1000 * 100 ** random.next()),
    capBps:
      caps === undefined ? Infinity : RATE_BPS * caps[0] * (caps[1] / caps[0]) ** random.next(),
    weight: weighted ? 0.25 * 16 ** random.next() : 1,
  }));
  const allSeconds = facts.reduce((sum, { bytes }) => sum + bytes, 0) / RATE_BPS;
  const sites = facts.map(({ bytes, capBps, weight }, index): SiteTask => {
    const aloneSeconds = bytes / Math.min(capBps, RATE_BPS);
    const isDated = random.next() < dated;
    const seconds = aloneSeconds * (1 + random.next()) + allSeconds * random.next();
    const deadlineSeconds = isDated ? round(tight * seconds) : undefined;
    return { key: `site${index}`, bytes, capBps, weight, deadlineSeconds };
  });
  return {
    sites,
    rateBps: RATE_BPS,
    sitesMax: Infinity,
    rateMinBps: 0,
    startupSeconds: 0,
    ...rest,
  };
}

/** Options of every kind, from the seed. */
export function anyWishes(seed: number, countMax: number): Wishes {
  const random = randomFrom(seed + 1_000_000);
  return {
    count: 1 + below(random, countMax),
    ...(random.next() < 0.75 && { caps: random.next() < 0.5 ? [0.02, 0.6] : [0.1, 1] }),
    dated: random.next() < 0.3 ? 0 : random.next(),
    tight: 0.3 + 0.9 * random.next(),
    weighted: random.next() < 0.5,
    whole: random.next() < 0.3,
  };
}

/** `PLAN_SEEDS=10` runs ten times as many. */
export function seeds(count: number): number[] {
  const times = Number(process.env["PLAN_SEEDS"] ?? 1);
  return Array.from({ length: count * times }, (_, index) => index + 1);
}

export function* permutations(count: number): Generator<Int32Array> {
  const order = Int32Array.from({ length: count }, (_, index) => index);
  yield order;
  const turns = new Int32Array(count);
  for (let place = 1; place < count;) {
    const turn = turns[place] as number;
    if (turn < place) {
      const other = place % 2 === 0 ? 0 : turn;
      [order[other], order[place]] = [order[place] as number, order[other] as number];
      yield order;
      turns[place] = turn + 1;
      place = 1;
    } else turns[place++] = 0;
  }
}
