/**
 * Evaluates a classifier: the confusion matrix and the figures that follow from it.
 *
 * Confidence intervals are Wilson's (1927), at 95 %: unlike the usual ± they stay within 0 and 1 and hold
 * for few pages too. Macro-F1 is the unweighted mean of the topics' F1. Calibration is reported in ten bins of
 * confidence: the mean confidence, the share classified right, and the mean distance of the two over all pages
 * (the expected calibration error).
 */

import { assert } from "../base/assert.ts";

interface TopicFigures {
  readonly topic: string;
  /** Pages that belong to the topic, and pages classified as it. */
  readonly pages: number;
  readonly called: number;
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
}

interface CalibrationBin {
  /** Lower bound of the bin's confidence; a bin is 0.1 wide. */
  readonly from: number;
  readonly pages: number;
  readonly said: number;
  readonly came: number;
}

const BINS = 10;
/** Standard deviations of the normal distribution for 95 %. */
const DEVIATIONS = 1.959964;

export class Evaluation {
  readonly topics: readonly string[];
  /** By true topic, then by classified topic. */
  readonly confusion: readonly Int32Array[];
  pages = 0;
  #right = 0;
  readonly #binPages = new Float64Array(BINS);
  readonly #binSaid = new Float64Array(BINS);
  readonly #binCame = new Float64Array(BINS);

  constructor(topics: readonly string[]) {
    this.topics = topics;
    this.confusion = topics.map(() => new Int32Array(topics.length));
  }

  add(truth: number, called: number, confidence: number): void {
    const row = this.confusion[truth];
    assert(row !== undefined && called < row.length, "a page has one of the topics");
    row[called] = (row[called] as number) + 1;
    this.pages += 1;
    const isRight = truth === called ? 1 : 0;
    this.#right += isRight;
    const bin = Math.min(BINS - 1, Math.floor(confidence * BINS));
    this.#binPages[bin] = (this.#binPages[bin] as number) + 1;
    this.#binSaid[bin] = (this.#binSaid[bin] as number) + confidence;
    this.#binCame[bin] = (this.#binCame[bin] as number) + isRight;
  }

  get accuracy(): number {
    return this.#right / Math.max(1, this.pages);
  }

  get accuracyInterval(): readonly [low: number, high: number] {
    return wilson(this.#right, this.pages);
  }

  get macroF1(): number {
    const figures = this.perTopic().filter(({ pages }) => pages > 0);
    return figures.reduce((sum, { f1 }) => sum + f1, 0) / Math.max(1, figures.length);
  }

  perTopic(): TopicFigures[] {
    return this.topics.map((topic, index) => {
      const row = this.confusion[index] as Int32Array;
      const right = row[index] as number;
      const pages = row.reduce((sum, count) => sum + count, 0);
      const called = this.confusion.reduce((sum, other) => sum + (other[index] as number), 0);
      return {
        topic,
        pages,
        called,
        precision: right / Math.max(1, called),
        recall: right / Math.max(1, pages),
        f1: (2 * right) / Math.max(1, pages + called),
      };
    });
  }

  /** Only bins that have pages. */
  calibration(): CalibrationBin[] {
    return Array.from(this.#binPages, (pages, bin) => ({
      from: bin / BINS,
      pages,
      said: (this.#binSaid[bin] as number) / Math.max(1, pages),
      came: (this.#binCame[bin] as number) / Math.max(1, pages),
    })).filter(({ pages }) => pages > 0);
  }

  get calibrationError(): number {
    const apart = this.calibration().map(({ pages, said, came }) => pages * Math.abs(said - came));
    return apart.reduce((sum, distance) => sum + distance, 0) / Math.max(1, this.pages);
  }
}

/** The 95 % confidence interval of a share of which `right` of `all` were observed. */
export function wilson(right: number, all: number): readonly [low: number, high: number] {
  if (all === 0) return [0, 1];
  const share = right / all;
  const z2 = DEVIATIONS ** 2;
  const centre = (share + z2 / (2 * all)) / (1 + z2 / all);
  const half =
    (DEVIATIONS / (1 + z2 / all)) * Math.sqrt((share * (1 - share)) / all + z2 / (4 * all * all));
  return [Math.max(0, centre - half), Math.min(1, centre + half)];
}
