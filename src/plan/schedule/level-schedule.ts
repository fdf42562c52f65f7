/**
 * The latest schedule that keeps all deadlines: the bytes of each site that cannot wait beyond a
 * moment.
 *
 * Time runs backwards from the last deadline; a site enters at its own deadline. At every moment
 * the rate goes to the sites with the greatest height, bytes / cap, the least time they still need;
 * equal heights sink together. This is the level algorithm (Muntz and Coffman 1970; with release
 * times Horn 1974) for sites whose speed grows linearly up to their cap, and leaves as little, as
 * level, as any schedule can: bytes left at time 0 fit into no schedule, so the answer is exact.
 *
 * Sites that have met on one height stay together and become one level. O(n log n).
 */

import { sorted } from "./radix-sort.ts";
import { SiteHeap } from "./index-heap.ts";
import { columnOf, type Work } from "./columns.ts";

/** The sites with a deadline, the latest first. */
export function byDeadlineDescending({ deadlineSeconds, count }: Work): Int32Array {
  const dated = new Int32Array(count);
  const keys = new Float64Array(count);
  let found = 0;
  for (let site = 0; site < count; site++) {
    const seconds = deadlineSeconds[site] as number;
    keys[site] = -seconds;
    if (seconds < Number.POSITIVE_INFINITY) dated[found++] = site;
  }
  return sorted(dated.subarray(0, found), keys);
}

/** The distinct deadlines of these sites, which are in order of deadline. */
export function distinctDeadlines({ deadlineSeconds }: Work, dated: Int32Array): Float64Array {
  return columnOf(deadlineSeconds, dated).filter(
    (seconds, place, all) => seconds !== all[place - 1],
  );
}

/**
 * The bytes of each site that must have arrived by the given moment, when `bytes` are left in all
 * and everything after it is as late as possible. Sites with earlier deadlines are ignored.
 */
export function bytesDueBy(
  untilSeconds: number,
  work: Work,
  bytes: Float64Array,
  dated: Int32Array,
): Float64Array {
  const sinking = new Sinking(work);
  let atSeconds = Number.NaN;
  for (const site of dated) {
    const deadlineSeconds = work.deadlineSeconds[site] as number;
    if (deadlineSeconds < untilSeconds) break;
    if (deadlineSeconds < atSeconds) sinking.sink(atSeconds - deadlineSeconds);
    atSeconds = deadlineSeconds;
    const left = bytes[site] as number;
    if (left > 0) sinking.add(site, left / (work.capBps[site] as number));
  }
  if (untilSeconds < atSeconds) sinking.sink(atSeconds - untilSeconds);
  return sinking.bytesLeft();
}

/**
 * Levels from the highest: those at full speed, at most one that gets the rest, those that wait.
 *
 * A level is named by one of its sites, from which its others are linked.
 */
class Sinking {
  readonly #work: Work;
  /** By level: the caps of all its sites. */
  readonly #capBps: Float64Array;
  /** The next site of the same level, and by level the last. */
  readonly #next: Int32Array;
  readonly #last: Int32Array;
  /**
   * Heights of levels at full speed are stored as of clock 0, so they do not change while they
   * sink.
   */
  #clockSeconds = 0;
  #fullBps = 0;
  #partial: number | undefined;
  #partialHeight = 0;
  readonly #full: SiteHeap;
  /** By negated height. */
  readonly #waiting: SiteHeap;

  constructor(work: Work) {
    this.#work = work;
    this.#capBps = work.capBps.slice();
    this.#next = new Int32Array(work.count);
    this.#last = new Int32Array(work.count);
    this.#full = new SiteHeap(work.count);
    this.#waiting = new SiteHeap(work.count);
  }

  add(site: number, height: number): void {
    this.#last[site] = site;
    if (this.#partial !== undefined && height <= this.#partialHeight) {
      this.#waiting.put(site, -height);
      return;
    }
    this.#full.put(site, height + this.#clockSeconds);
    this.#fullBps += this.#capBps[site] as number;
    if (this.#fullBps > this.#work.rateBps) this.#displace();
  }

  /** More levels run than the rate permits: the lowest stop, and one of them gets the rest. */
  #displace(): void {
    const { rateBps } = this.#work;
    if (this.#partial !== undefined) this.#waiting.put(this.#partial, -this.#partialHeight);
    this.#partial = undefined;
    while (this.#fullBps > rateBps) {
      const height = this.#full.firstKey - this.#clockSeconds;
      const lowest = this.#takeFull();
      if (this.#fullBps > rateBps) this.#waiting.put(lowest, -height);
      else {
        this.#partial = lowest;
        this.#partialHeight = height;
      }
    }
  }

  sink(seconds: number): void {
    let left = seconds;
    while (left > 0 && (this.#partial !== undefined || this.#full.size > 0)) {
      const step = Math.min(left, this.#untilMeeting());
      this.#clockSeconds += step;
      if (this.#partial !== undefined) this.#partialHeight -= step * this.#speedOf(this.#partial);
      left -= step;
      this.#meet();
    }
    this.#clockSeconds += left;
  }

  /** Of the partial level: seconds of height per second, below 1. */
  #speedOf(partial: number): number {
    return (this.#work.rateBps - this.#fullBps) / (this.#capBps[partial] as number);
  }

  #untilMeeting(): number {
    const lowestHeight = this.#full.firstKey - this.#clockSeconds;
    if (this.#partial === undefined) return Math.max(0, lowestHeight);
    const speed = this.#speedOf(this.#partial);
    const untilFull = (lowestHeight - this.#partialHeight) / (1 - speed);
    const floor = this.#waiting.size > 0 ? -this.#waiting.firstKey : 0;
    const untilWaiting =
      speed > 0 ? (this.#partialHeight - floor) / speed : Number.POSITIVE_INFINITY;
    return Math.max(0, Math.min(untilFull, untilWaiting));
  }

  /** Levels at the partial one's height now sink with it; a level without bytes is removed. */
  #meet(): void {
    const instant = this.#clockSeconds * 1e-15;
    const partial = this.#partial;
    const floor = partial === undefined ? 0 : this.#partialHeight;
    while (this.#full.firstKey - this.#clockSeconds <= floor + instant) {
      const met = this.#takeFull();
      if (partial !== undefined) this.#join(partial, met);
    }
    if (partial === undefined) return;
    while (-this.#waiting.firstKey >= floor - instant)
      this.#join(partial, this.#waiting.take() as number);
    if (floor <= instant) this.#partial = undefined;
  }

  /** The second becomes a part of the first. */
  #join(level: number, other: number): void {
    this.#next[this.#last[level] as number] = other;
    this.#last[level] = this.#last[other] as number;
    this.#capBps[level] = (this.#capBps[level] as number) + (this.#capBps[other] as number);
  }

  #takeFull(): number {
    const level = this.#full.take() as number;
    this.#fullBps = this.#full.size === 0 ? 0 : this.#fullBps - (this.#capBps[level] as number);
    return level;
  }

  /** Of each site. */
  bytesLeft(): Float64Array {
    const left = new Float64Array(this.#work.count);
    for (const level of this.#full.sites)
      this.#write(left, level, this.#full.keyOf(level) - this.#clockSeconds);
    if (this.#partial !== undefined) this.#write(left, this.#partial, this.#partialHeight);
    for (const level of this.#waiting.sites) this.#write(left, level, -this.#waiting.keyOf(level));
    return left;
  }

  #write(left: Float64Array, level: number, height: number): void {
    const { capBps } = this.#work;
    const last = this.#last[level] as number;
    for (let site = level; ; site = this.#next[site] as number) {
      left[site] = height * (capBps[site] as number);
      if (site === last) return;
    }
  }
}
