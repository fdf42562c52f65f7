/**
 * The least value that satisfies a condition, with as few evaluations as possible.
 *
 * An evaluation is a pass over all sites. For `leastThat` the condition is only true or false, so
 * it doubles and halves. For `leastWithout` a failure has a size; the line through the last two of
 * these estimates the answer, as in the secant method, and where the size is convex the estimate is
 * never too high.
 */

const HALVINGS_MAX = 60;
const DOUBLINGS_MAX = 50;
const PRECISION = 1e-10;
/** Of three steps, one doubles or halves regardless of the line, so that a bend does not matter. */
const PLAIN_EVERY = 3;
const STEPS_MAX = PLAIN_EVERY * (HALVINGS_MAX + DOUBLINGS_MAX);

/**
 * The least value from `least` on for which the condition holds; Infinity if it holds for none
 * tried.
 */
export function leastThat(least: number, holds: (value: number) => boolean): number {
  if (holds(least)) return least;
  let low = least;
  let high = Math.max(2 * least, 1e-6);
  for (let doubling = 0; !holds(high); doubling++) {
    if (doubling === DOUBLINGS_MAX) return Number.POSITIVE_INFINITY;
    low = high;
    high *= 2;
  }
  for (let halving = 0; halving < HALVINGS_MAX && high - low > PRECISION * high; halving++) {
    const middle = (low + high) / 2;
    if (holds(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/**
 * The least value from `least` on at which nothing is missing; Infinity if there is none among
 * those tried. The missing amount, in the unit of the value, decides where to look next, never the
 * result.
 */
export function leastWithout(
  least: number,
  missingAt: (value: number) => number,
  precision = PRECISION,
): number {
  let at = { value: least, missing: missingAt(least) };
  if (at.missing === 0) return least;
  let before = at;
  let high = Number.POSITIVE_INFINITY;
  let isLeast = false;
  for (let step = 1; step < STEPS_MAX; step++) {
    if (high < Number.POSITIVE_INFINITY && high - at.value <= precision * high) break;
    const pointed = pointedTo(before, at) * (1 + precision / 4);
    const isPointed: boolean = step % PLAIN_EVERY !== 0 && pointed < high && !isLeast;
    let value = isPointed ? pointed : plainStep(at, high);
    // Success at the estimate: perhaps no lower value succeeds.
    if (isLeast) value = Math.max(value, high * (1 - 0.9 * precision));
    const missing = missingAt(value);
    isLeast = isPointed && missing === 0;
    if (missing === 0) high = value;
    else {
      before = at;
      at = { value, missing };
    }
  }
  return high;
}

interface Miss {
  readonly value: number;
  readonly missing: number;
}

/** The estimate of the value at which nothing is missing. */
function pointedTo(before: Miss, at: Miss): number {
  const slope = (before.missing - at.missing) / (at.value - before.value);
  return at.value + at.missing / (slope > 0 ? slope : 1);
}

function plainStep({ value, missing }: Miss, high: number): number {
  return high === Number.POSITIVE_INFINITY ? 2 * (value + missing) : (value + high) / 2;
}
