/** Fits a straight line to points by least squares. */

import type { Line } from "./experiment.ts";
import { meanOf } from "./experiment.ts";

export interface LineFit {
  readonly slope: number;
  readonly intercept: number;
  /** Share of the variance in y that the line explains (R²); 1 when all points are on it. */
  readonly explained: number;
}

export function fitLine(points: Line["points"]): LineFit {
  const xMean = meanOf(points.map(([x]) => x));
  const yMean = meanOf(points.map(([, y]) => y));
  const sumOf = (of: (x: number, y: number) => number): number =>
    points.reduce((sum, [x, y]) => sum + of(x, y), 0);
  const slope = sumOf((x, y) => (x - xMean) * (y - yMean)) / sumOf((x) => (x - xMean) ** 2);
  const intercept = yMean - slope * xMean;
  const residual = sumOf((x, y) => (y - intercept - slope * x) ** 2);
  const total = sumOf((_, y) => (y - yMean) ** 2);
  return { slope, intercept, explained: total === 0 ? 1 : 1 - residual / total };
}
