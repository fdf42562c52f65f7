/**
 * Computes how well two rankings agree: Kendall's rank correlation with ties (τ-b, Kendall 1945).
 * 1 for the same order, −1 for the opposite, about 0 for no correlation.
 *
 * Counts the pairs in the wrong order while sorting (Knight 1966): O(n log n).
 */

import { assert } from "../base/assert.ts";

/** NaN when all values of one ranking are equal. */
export function kendallTau(first: Float64Array, second: Float64Array): number {
  assert(first.length === second.length, "both rank the same things");
  const count = first.length;
  const places = Uint32Array.from(first, (_, place) => place);
  places.sort((a, b) => by(first, a, b) || by(second, a, b));
  const tiedFirst = tiedPairs(
    count,
    (at) => by(first, placeAt(places, at), placeAt(places, at - 1)) === 0,
  );
  const tiedBoth = tiedPairs(count, (at) => {
    const [a, b] = [placeAt(places, at), placeAt(places, at - 1)];
    return by(first, a, b) === 0 && by(second, a, b) === 0;
  });
  const sorted = Float64Array.from(places, (place) => second[place] as number);
  const swaps = countSwaps(sorted);
  const tiedSecond = tiedPairs(count, (at) => sorted[at] === sorted[at - 1]);
  const pairs = (count * (count - 1)) / 2;
  const agreeing = pairs - tiedFirst - tiedSecond + tiedBoth - swaps;
  return (agreeing - swaps) / Math.sqrt((pairs - tiedFirst) * (pairs - tiedSecond));
}

function by(values: Float64Array, a: number, b: number): number {
  return (values[a] as number) - (values[b] as number);
}

function placeAt(places: Uint32Array, at: number): number {
  return places[at] as number;
}

/** Number of pairs within runs of equal values, in sorted order. */
function tiedPairs(count: number, isLikeBefore: (at: number) => boolean): number {
  let pairs = 0;
  let run = 1;
  for (let at = 1; at <= count; at++) {
    if (at < count && isLikeBefore(at)) run += 1;
    else {
      pairs += (run * (run - 1)) / 2;
      run = 1;
    }
  }
  return pairs;
}

/** Sorts the values, and returns the number of pairs that were in the wrong order. */
function countSwaps(values: Float64Array): number {
  let from: Float64Array = values;
  let to: Float64Array = new Float64Array(values.length);
  let swaps = 0;
  for (let width = 1; width < values.length; width *= 2) {
    for (let left = 0; left < values.length; left += 2 * width)
      swaps += merge(from, to, left, width);
    [from, to] = [to, from];
  }
  if (from !== values) values.set(from);
  return swaps;
}

function merge(from: Float64Array, to: Float64Array, left: number, width: number): number {
  const middle = Math.min(left + width, from.length);
  const end = Math.min(middle + width, from.length);
  let swaps = 0;
  for (let [a, b, at] = [left, middle, left]; at < end; at++) {
    const takesSecond = b < end && (a >= middle || (from[b] as number) < (from[a] as number));
    if (takesSecond) swaps += middle - a;
    to[at] = from[takesSecond ? b++ : a++] as number;
  }
  return swaps;
}
