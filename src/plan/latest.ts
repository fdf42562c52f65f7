/**
 * The latest possible way to keep all deadlines: what of each site cannot wait beyond a moment.
 *
 * Time runs backwards from the last deadline; a site comes in at its own deadline. At every moment the
 * rate goes to the sites with the greatest height, bytes / cap, the least time they still need; equal
 * heights sink together. This is the level algorithm (Muntz and Coffman 1970; with release times Horn
 * 1974) for sites whose speed grows linearly up to their cap, and leaves as little, as level, as any
 * schedule can: what is left at time 0 fits into no schedule at all, so the answer is exact.
 *
 * Sites that have met on one height stay together and become one. O(n log n).
 */

import { Heap } from "../base/heap.ts";
import type { Work } from "./work.ts";

/** Sites that sink together. */
interface Level {
  capBps: number;
  /** For those at full speed: height + clock, which stays as it is while they sink. */
  height: number;
  readonly members: number[];
}

/** The sites with a deadline, the latest first. */
export function byDeadlineDescending({ deadlineSeconds }: Work): Int32Array {
  const dated: number[] = [];
  for (const [site, seconds] of deadlineSeconds.entries())
    if (seconds < Number.POSITIVE_INFINITY) dated.push(site);
  return Int32Array.from(dated).sort(
    (a, b) => (deadlineSeconds[b] as number) - (deadlineSeconds[a] as number) || a - b,
  );
}

/**
 * The bytes of each site that must have come by the given moment, when `bytes` are left in all and
 * everything after it goes as late as it can. Sites whose deadline is earlier are not looked at.
 */
export function bytesDueBy(
  untilSeconds: number,
  work: Work,
  bytes: Float64Array,
  dated: Int32Array,
): Float64Array {
  const due = new Float64Array(work.count);
  const sinking = new Sinking(work.rateBps);
  let atSeconds = Number.NaN;
  for (const site of dated) {
    const deadlineSeconds = work.deadlineSeconds[site] as number;
    if (deadlineSeconds < untilSeconds) break;
    if (deadlineSeconds < atSeconds) sinking.sink(atSeconds - deadlineSeconds);
    atSeconds = deadlineSeconds;
    const capBps = work.capBps[site] as number;
    const left = bytes[site] as number;
    if (left > 0) sinking.add({ capBps, height: left / capBps, members: [site] });
  }
  if (untilSeconds < atSeconds) sinking.sink(atSeconds - untilSeconds);
  for (const { height, members } of sinking.levels())
    for (const site of members) due[site] = height * (work.capBps[site] as number);
  return due;
}

/** Levels from the highest: those at full speed, at most one that gets the rest, those that wait. */
class Sinking {
  readonly #rateBps: number;
  /** Heights of the full ones are kept as they were when this was 0. */
  #clockSeconds = 0;
  #fullBps = 0;
  #partial: Level | undefined;
  readonly #full = new Heap<Level>((a, b) => a.height - b.height);
  readonly #waiting = new Heap<Level>((a, b) => b.height - a.height);

  constructor(rateBps: number) {
    this.#rateBps = rateBps;
  }

  add(level: Level): void {
    const partial = this.#partial;
    if (partial !== undefined && level.height <= partial.height) {
      this.#waiting.push(level);
      return;
    }
    level.height += this.#clockSeconds;
    this.#full.push(level);
    this.#fullBps += level.capBps;
    if (this.#fullBps > this.#rateBps) this.#displace();
  }

  /** More run than there is rate for: the lowest stop, and one of them gets what is left. */
  #displace(): void {
    if (this.#partial !== undefined) this.#waiting.push(this.#partial);
    this.#partial = undefined;
    while (this.#fullBps > this.#rateBps) {
      const lowest = this.#takeFull();
      if (this.#fullBps > this.#rateBps) this.#waiting.push(lowest);
      else this.#partial = lowest;
    }
  }

  sink(seconds: number): void {
    let left = seconds;
    while (left > 0 && (this.#partial !== undefined || this.#full.size > 0)) {
      const step = Math.min(left, this.#untilMeeting());
      this.#clockSeconds += step;
      if (this.#partial !== undefined) this.#partial.height -= step * this.#partialSpeed();
      left -= step;
      this.#meet();
    }
    this.#clockSeconds += left;
  }

  /** Seconds of height per second, below 1. */
  #partialSpeed(): number {
    return (this.#rateBps - this.#fullBps) / (this.#partial?.capBps ?? 1);
  }

  #untilMeeting(): number {
    const partial = this.#partial;
    const lowest = this.#full.peek();
    const lowestHeight = (lowest?.height ?? Number.POSITIVE_INFINITY) - this.#clockSeconds;
    if (partial === undefined) return Math.max(0, lowestHeight);
    const speed = this.#partialSpeed();
    const untilFull = (lowestHeight - partial.height) / (1 - speed);
    const gap = partial.height - (this.#waiting.peek()?.height ?? 0);
    const untilWaiting = speed > 0 ? gap / speed : Number.POSITIVE_INFINITY;
    return Math.max(0, Math.min(untilFull, untilWaiting));
  }

  /** Whoever stands on the partial's height now sinks with it; whoever has nothing left goes. */
  #meet(): void {
    const instant = this.#clockSeconds * 1e-15;
    let partial = this.#partial;
    for (;;) {
      const lowest = this.#full.peek();
      if (lowest === undefined) break;
      const floor = partial?.height ?? 0;
      if (lowest.height - this.#clockSeconds > floor + instant) break;
      const met = this.#takeFull();
      if (partial !== undefined) partial = merged(partial, met);
    }
    for (;;) {
      const next = this.#waiting.peek();
      if (partial === undefined || next === undefined || next.height < partial.height - instant)
        break;
      partial = merged(partial, this.#waiting.pop() as Level);
    }
    this.#partial = partial !== undefined && partial.height <= instant ? undefined : partial;
  }

  #takeFull(): Level {
    const level = this.#full.pop() as Level;
    level.height -= this.#clockSeconds;
    this.#fullBps = this.#full.size === 0 ? 0 : this.#fullBps - level.capBps;
    return level;
  }

  /** Everything that is left, with its height. Empties the full ones. */
  *levels(): Generator<Level> {
    while (this.#full.size > 0) yield this.#takeFull();
    if (this.#partial !== undefined) yield this.#partial;
    for (;;) {
      const level = this.#waiting.pop();
      if (level === undefined) return;
      yield level;
    }
  }
}

/** The smaller list is poured into the larger one. */
function merged(a: Level, b: Level): Level {
  const [small, large] = a.members.length < b.members.length ? [a, b] : [b, a];
  for (const site of small.members) large.members.push(site);
  large.capBps += small.capBps;
  large.height = a.height;
  return large;
}
