/**
 * Makes probabilities of scores, so that of pages called 80 % sure about 80 % are right.
 *
 * Scores are not probabilities: Naive Bayes counts every word as news, and is "sure" of almost every long
 * page; a support vector machine only knows distances. So p = softmax(slope × score / terms^lengthPower),
 * where both numbers are those under which pages that training did not see are least surprising (temperature
 * scaling: Platt 1999 for two topics; Guo, Pleiss, Sun, Weinberger 2017 for many). The order of the topics stays
 * what it was.
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
const SLOPE_LEAST = 0.001;
const SLOPE_MOST = 10_000;
/** Each round leaves two thirds of the range; at the end it is known to less than a per cent. */
const SLOPE_ROUNDS = 20;

/** Turns scores into probabilities in place; answers which is the highest. */
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

/** What held-out pages got: their scores one after the other, their terms and their true topics. */
export interface HeldOut {
  readonly width: number;
  readonly scores: Float64Array;
  readonly terms: Int32Array;
  readonly topics: Int32Array;
}

/** Scores every page by a classifier that was trained without it. Costs four trainings. */
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

/** The slope and the power under which the true topics of these pages are least surprising. */
export function calibrate(heldOut: HeldOut): Calibration {
  let best = UNCALIBRATED;
  let least = Infinity;
  for (const lengthPower of LENGTH_POWERS) {
    const slope = bestSlope(heldOut, lengthPower);
    const surprise = surpriseOf(heldOut, { slope, lengthPower });
    if (surprise >= least) continue;
    least = surprise;
    best = { slope, lengthPower };
  }
  return best;
}

/** Surprise has one valley over the slope, so a section of the logarithm closes in on it. */
function bestSlope(heldOut: HeldOut, lengthPower: number): number {
  let low = Math.log(SLOPE_LEAST);
  let high = Math.log(SLOPE_MOST);
  for (let round = 0; round < SLOPE_ROUNDS; round++) {
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
export function surpriseOf(heldOut: HeldOut, calibration: Calibration): number {
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
