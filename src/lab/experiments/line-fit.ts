/** The straight line that lies nearest to some points, by least squares, and how well it fits them. */

import type { Line } from "./experiment.ts";
import { meanOf } from "./experiment.ts";

export interface LineFit {
  readonly slope: number;
  readonly intercept: number;
  /** The share of the spread in y that the line explains (R²); 1 when all points lie on it. */
  readonly explained: number;
}

export function fitLine(points: Line["points"]): LineFit {
  const xMean = meanOf(points.map(([x]) => x));
  const yMean = meanOf(points.map(([, y]) => y));
  const across = (of: (x: number, y: number) => number): number =>
    points.reduce((sum, [x, y]) => sum + of(x, y), 0);
  const slope = across((x, y) => (x - xMean) * (y - yMean)) / across((x) => (x - xMean) ** 2);
  const intercept = yMean - slope * xMean;
  const missed = across((x, y) => (y - intercept - slope * x) ** 2);
  const spread = across((_, y) => (y - yMean) ** 2);
  return { slope, intercept, explained: spread === 0 ? 1 : 1 - missed / spread };
}
