/** A few moments that represent many deadlines. */

/** Relative distance of the mark nearest to the last deadline. */
const NEAREST = 1e-4;

/**
 * At most this many marks, ascending, of ascending deadlines. A third of them where deadlines are
 * dense, a third at equal ratios from the first, a third ever nearer to the last, which is often
 * the earliest common end.
 */
export function marksFor(deadlines: Float64Array, most: number): Float64Array {
  const first = deadlines[0] as number;
  const last = deadlines.at(-1) as number;
  const third = Math.floor(most / 3);
  const marks = [first, last];
  for (let part = 1; part < third; part++) {
    marks.push(deadlines[Math.floor((part * deadlines.length) / third)] as number);
    marks.push(first * (last / first) ** (part / third));
    marks.push(last * (1 - NEAREST ** (part / third)));
  }
  const isBetween = (mark: number) => mark >= first && mark <= last;
  return Float64Array.from(new Set(marks.filter(isBetween))).sort();
}
