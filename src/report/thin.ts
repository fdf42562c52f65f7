/**
 * Thins long curves without smoothing them: peaks, troughs and gaps stay.
 *
 * Consecutive points form as many groups as the picture can show, and each group keeps its lowest and
 * highest point, in order. A second above the limit therefore stays visible in a crawl of any length.
 * A point without a value (NaN) is a gap, and its group keeps one.
 *
 * O(n) in the points.
 */

export type Point = readonly [x: number, y: number];

const KEPT_PER_GROUP = 3;

export function thinned(points: readonly Point[], countMax: number): readonly Point[] {
  if (points.length <= countMax) return points;
  const groups = Math.max(1, Math.floor(countMax / KEPT_PER_GROUP));
  const kept: Point[] = [];
  for (let group = 0; group < groups; group++) {
    const from = Math.floor((group * points.length) / groups);
    const until = Math.floor(((group + 1) * points.length) / groups);
    for (const index of extremesOf(points, from, until)) kept.push(points[index] as Point);
  }
  return kept;
}

/** Indexes of the group's lowest, highest and missing point, in order. */
function extremesOf(points: readonly Point[], from: number, until: number): number[] {
  let lowest = -1;
  let highest = -1;
  let missing = -1;
  for (let index = from; index < until; index++) {
    const y = valueAt(points, index);
    if (Number.isNaN(y)) missing = index;
    else {
      if (lowest < 0 || y < valueAt(points, lowest)) lowest = index;
      if (highest < 0 || y > valueAt(points, highest)) highest = index;
    }
  }
  const found = new Set([lowest, highest, missing].filter((index) => index >= 0));
  return [...found].toSorted((a, b) => a - b);
}

function valueAt(points: readonly Point[], index: number): number {
  return (points[index] as Point)[1];
}
