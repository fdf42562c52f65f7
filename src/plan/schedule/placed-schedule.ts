/**
 * The list schedule with scarce places: a most number of sites at once, each with a least rate and
 * a start-up during which its place delivers nothing.
 *
 * Sites take places in order, as soon as one is free, so that they are ready when rate becomes
 * free. A running site has its least rate; the rest goes to the first in order, up to its cap. A
 * site joins when the caps of the running sites leave its least rate; or, `squeezed`, as soon as
 * they leave any, and they give way. No site stops before it is done. O(n r) for r sites that run
 * at the same time.
 */

import type { PlanTask } from "../plan.ts";
import type { Track } from "./recorder.ts";
import { type Work, workOf } from "./columns.ts";

interface Places {
  readonly sitesMax: number;
  readonly rateMinBps: number;
  readonly startupSeconds: number;
}

export function placesOf({ sitesMax, rateMinBps, startupSeconds }: PlanTask): Places {
  return { sitesMax, rateMinBps, startupSeconds };
}

/** An order, and how early the next site joins. */
export interface Line {
  readonly order: Int32Array;
  readonly squeezed: boolean;
}

export function placedFinishes(
  work: Work,
  places: Places,
  line: Line,
  track?: Track,
): Float64Array {
  const crawl = new Placed(work, places, line, track);
  crawl.run();
  return crawl.finishes;
}

class Placed {
  readonly finishes: Float64Array;
  readonly #work: Work;
  readonly #places: Places;
  readonly #line: Line;
  readonly #track: Track | undefined;
  readonly #sites: Int32Array;
  readonly #readySeconds: Float64Array;
  readonly #bytesLeft: Float64Array;
  readonly #rates: Float64Array;
  /** In order. Sites from `#joined` to `#started` have a place and wait. */
  #running: number[] = [];
  #joined = 0;
  #started = 0;
  #nowSeconds = 0;

  constructor(work: Work, places: Places, line: Line, track: Track | undefined) {
    this.#work = work;
    this.#places = places;
    this.#line = line;
    this.#track = track;
    this.#sites = line.order.filter((site) => (work.bytes[site] as number) > 0);
    this.finishes = new Float64Array(work.count);
    this.#readySeconds = new Float64Array(work.count);
    this.#bytesLeft = work.bytes.slice();
    this.#rates = new Float64Array(work.count);
  }

  run(): void {
    for (;;) {
      this.#start();
      this.#join();
      this.#divide();
      const nextSeconds = this.#nextSeconds();
      if (nextSeconds === Number.POSITIVE_INFINITY) return;
      this.#moveTo(nextSeconds);
    }
  }

  /** Without start-up a place is useless before there is rate for it. */
  #start(): void {
    const { sitesMax, startupSeconds } = this.#places;
    if (startupSeconds === 0) return;
    while (this.#started < this.#sites.length && this.#taken() < sitesMax) {
      const site = this.#sites[this.#started++] as number;
      this.#readySeconds[site] = this.#nowSeconds + startupSeconds;
      this.#track?.set(site, this.#nowSeconds, 0);
    }
  }

  #taken(): number {
    return this.#running.length + Math.max(0, this.#started - this.#joined);
  }

  #join(): void {
    const { rateBps } = this.#work;
    let capsBps = 0;
    let leastBps = 0;
    for (const site of this.#running) {
      capsBps += this.#work.capBps[site] as number;
      leastBps += this.#leastBps(site);
    }
    while (this.#mayJoin()) {
      const site = this.#sites[this.#joined] as number;
      const least = this.#leastBps(site);
      const isRoom = this.#line.squeezed
        ? capsBps < rateBps && leastBps + least <= rateBps
        : capsBps + least <= rateBps && capsBps < rateBps;
      if (!isRoom && this.#running.length > 0) return;
      this.#joined++;
      this.#running.push(site);
      capsBps += this.#work.capBps[site] as number;
      leastBps += least;
    }
  }

  #mayJoin(): boolean {
    if (this.#joined === this.#sites.length) return false;
    if (this.#places.startupSeconds === 0) return this.#running.length < this.#places.sitesMax;
    const site = this.#sites[this.#joined] as number;
    return this.#joined < this.#started && (this.#readySeconds[site] as number) <= this.#nowSeconds;
  }

  #leastBps(site: number): number {
    return Math.min(this.#places.rateMinBps, this.#work.capBps[site] as number);
  }

  #divide(): void {
    let freeBps = this.#work.rateBps;
    for (const site of this.#running) freeBps -= this.#leastBps(site);
    for (const site of this.#running) {
      const leastBps = this.#leastBps(site);
      const moreBps = Math.min(
        Math.max(0, freeBps),
        (this.#work.capBps[site] as number) - leastBps,
      );
      freeBps -= moreBps;
      this.#rates[site] = leastBps + moreBps;
      this.#track?.set(site, this.#nowSeconds, leastBps + moreBps);
    }
  }

  #nextSeconds(): number {
    let nextSeconds = Number.POSITIVE_INFINITY;
    if (this.#joined < this.#started) {
      const readySeconds = this.#readySeconds[this.#sites[this.#joined] as number] as number;
      if (readySeconds > this.#nowSeconds) nextSeconds = readySeconds;
    }
    for (const site of this.#running)
      nextSeconds = Math.min(nextSeconds, this.#nowSeconds + this.#secondsLeft(site));
    return nextSeconds;
  }

  #secondsLeft(site: number): number {
    return (this.#bytesLeft[site] as number) / (this.#rates[site] as number);
  }

  #moveTo(seconds: number): void {
    const passedSeconds = seconds - this.#nowSeconds;
    let kept = 0;
    for (const site of this.#running) {
      const isDone = this.#nowSeconds + this.#secondsLeft(site) <= seconds * (1 + 1e-13);
      if (isDone) {
        this.finishes[site] = seconds;
        this.#track?.set(site, seconds, undefined);
        continue;
      }
      const left =
        (this.#bytesLeft[site] as number) - (this.#rates[site] as number) * passedSeconds;
      this.#bytesLeft[site] = left;
      this.#running[kept++] = site;
    }
    this.#running.length = kept;
    this.#nowSeconds = seconds;
  }
}

/** Start-up is part of this schedule, so it is not subtracted from the deadlines. */
export function placedWorkOf(task: PlanTask): Work {
  return workOf({ ...task, startupSeconds: 0 });
}
