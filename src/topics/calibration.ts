/**
 * Turns scores into probabilities, so that about 80 % of the pages with probability 0.8 are classified right.
 *
 * Scores are not probabilities: Naive Bayes treats every word as independent evidence and is "sure" of almost
 * every long page; a support vector machine only knows distances. So p = softmax(slope × score /
 * terms^lengthPower), with both numbers chosen to minimise the mean -ln p of pages held out from training
 * (temperature scaling: Platt 1999 for two topics; Guo, Pleiss, Sun, Weinberger 2017 for many). The order of the
 * topics does not change.
 */

import type { TermCounts } from "./bag.ts";
import type { Examples } from "./examples.ts";
import type { Method } from "./trained.ts";

export interface Calibration {
  readonly slope: number;
  readonly lengthPower: number;
}

export const UNCALIBRATED: Calibration = { slope: 1, lengthPower: 0 };

const FOLDS = 4;
const LENGTH_POWERS = [0, 0.5, 1];
const SLOPE_MIN = 0.001;
const SLOPE_MAX = 10_000;
/** Steps of the search for the slope: each leaves two thirds of the range, the last less than 1 %. */
const SLOPE_STEPS = 20;

/** Turns scores into probabilities in place; returns the index of the highest. */
export function toProbabilities(
  scores: Float64Array,
  terms: number,
  { slope, lengthPower }: Calibration,
): number {
  const factor = slope / Math.max(1, terms) ** lengthPower;
  let best = 0;
  for (let topic = 1; topic < scores.length; topic++)
    if ((scores[topic] as number) > (scores[best] as number)) best = topic;
  const most = scores[best] as number;
  let sum = 0;
  for (let topic = 0; topic < scores.length; topic++) {
    const share = Math.exp(((scores[topic] as number) - most) * factor);
    scores[topic] = share;
    sum += share;
  }
  for (let topic = 0; topic < scores.length; topic++)
    scores[topic] = (scores[topic] as number) / sum;
  return best;
}

/** The scores of held-out pages one after the other, their numbers of terms and their true topics. */
interface HeldOut {
  readonly width: number;
  readonly scores: Float64Array;
  readonly terms: Int32Array;
  readonly topics: Int32Array;
}

/** Scores every page with a classifier trained without it. Costs four trainings. */
export function holdOut(method: Method, examples: Examples, pages: Int32Array): HeldOut {
  const width = examples.topics.length;
  const scores = new Float64Array(pages.length * width);
  for (let fold = 0; fold < FOLDS; fold++) {
    const trained = method.train(
      examples,
      pages.filter((_, index) => index % FOLDS !== fold),
    );
    for (let index = fold; index < pages.length; index += FOLDS) {
      const into = scores.subarray(index * width, (index + 1) * width);
      method.score(trained, examples.page(pages[index] as number), into);
    }
  }
  return {
    width,
    scores,
    terms: Int32Array.from(pages, (page) => termsIn(examples.page(page))),
    topics: Int32Array.from(pages, (page) => examples.topicOf(page)),
  };
}

export function termsIn({ counts, count }: TermCounts): number {
  let terms = 0;
  for (let index = 0; index < count; index++) terms += counts[index] as number;
  return terms;
}

/** The slope and the power that minimise the surprise of these pages. */
export function calibrate(heldOut: HeldOut): Calibration {
  let best = UNCALIBRATED;
  let leastSurprise = Infinity;
  for (const lengthPower of LENGTH_POWERS) {
    const slope = bestSlope(heldOut, lengthPower);
    const surprise = surpriseOf(heldOut, { slope, lengthPower });
    if (surprise >= leastSurprise) continue;
    leastSurprise = surprise;
    best = { slope, lengthPower };
  }
  return best;
}

/** Surprise has one minimum over the slope, so a ternary search over its logarithm finds it. */
function bestSlope(heldOut: HeldOut, lengthPower: number): number {
  let low = Math.log(SLOPE_MIN);
  let high = Math.log(SLOPE_MAX);
  for (let step = 0; step < SLOPE_STEPS; step++) {
    const left = low + (high - low) / 3;
    const right = high - (high - low) / 3;
    const atLeft = surpriseOf(heldOut, { slope: Math.exp(left), lengthPower });
    const atRight = surpriseOf(heldOut, { slope: Math.exp(right), lengthPower });
    if (atLeft <= atRight) high = right;
    else low = left;
  }
  return Math.exp((low + high) / 2);
}

/** Mean -ln p of the true topic. */
function surpriseOf(heldOut: HeldOut, calibration: Calibration): number {
  const { width, scores, terms, topics } = heldOut;
  const shares = new Float64Array(width);
  let sum = 0;
  for (const [page, topic] of topics.entries()) {
    shares.set(scores.subarray(page * width, (page + 1) * width));
    toProbabilities(shares, terms[page] as number, calibration);
    sum -= Math.log(Math.max(shares[topic] as number, Number.MIN_VALUE));
  }
  return sum / Math.max(1, topics.length);
}
