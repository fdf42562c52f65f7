/**
 * Makes values fall, or stay, by as little as can be: isotonic regression by pooling neighbours (Ayer, Brunk, Ewing,
 * Reid and Silverman 1955). O(n).
 */

/** The nearest values that never rise and are never below 0: neighbours that would are made one. */
export function neverRising(values: Float64Array, knots: Float64Array): Float64Array {
  const runs: { value: number; seconds: number; end: number }[] = [];
  for (const [index, given] of values.entries()) {
    let value = Math.max(0, given);
    let seconds = (knots[index + 1] as number) - (knots[index] as number);
    for (let last = runs.at(-1); last !== undefined && last.value < value; last = runs.at(-1)) {
      value = (value * seconds + last.value * last.seconds) / (seconds + last.seconds);
      seconds += last.seconds;
      runs.pop();
    }
    runs.push({ value, seconds, end: index + 1 });
  }
  const result = new Float64Array(values.length);
  let from = 0;
  for (const { value, end } of runs) {
    result.fill(value, from, end);
    from = end;
  }
  return result;
}
