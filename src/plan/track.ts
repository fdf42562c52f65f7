/** Writes down at which rate each site runs from when to when, and makes a plan of it. */

import type { Plan, PlanTask, Segment } from "./plan.ts";

export class Track {
  readonly #segments: Segment[][];
  readonly #atBps: Float64Array;
  readonly #sinceSeconds: Float64Array;
  /** Added to all times: where all sites start at once, the start-up comes before everything. */
  readonly #offsetSeconds: number;

  constructor(count: number, offsetSeconds: number) {
    this.#segments = Array.from({ length: count }, () => []);
    this.#atBps = new Float64Array(count);
    this.#sinceSeconds = new Float64Array(count).fill(Number.NaN);
    this.#offsetSeconds = offsetSeconds;
  }

  /** From now on the site has this rate; 0 for a place that is kept, undefined for none. */
  set(site: number, nowSeconds: number, rateBps: number | undefined): void {
    const sinceSeconds = this.#sinceSeconds[site] as number;
    const atBps = this.#atBps[site] as number;
    if (!Number.isNaN(sinceSeconds)) {
      if (rateBps === atBps) return;
      this.#close(site, sinceSeconds, nowSeconds);
    }
    this.#sinceSeconds[site] = rateBps === undefined ? Number.NaN : nowSeconds;
    this.#atBps[site] = rateBps ?? 0;
  }

  #close(site: number, fromSeconds: number, toSeconds: number): void {
    // What lasts no time at all, or only as long as rounding makes it, is no segment.
    if (toSeconds - fromSeconds <= toSeconds * 1e-15) return;
    (this.#segments[site] as Segment[]).push({
      fromSeconds: fromSeconds + this.#offsetSeconds,
      toSeconds: toSeconds + this.#offsetSeconds,
      rateBps: this.#atBps[site] as number,
    });
  }

  plan({ sites }: PlanTask): Plan {
    return {
      sites: sites.map(({ key }, site) => {
        const segments = this.#segments[site] as Segment[];
        const finishSeconds = segments.at(-1)?.toSeconds ?? 0;
        return {
          key,
          segments: this.#offsetSeconds > 0 ? withPlaceKept(segments) : segments,
          finishSeconds,
        };
      }),
    };
  }
}

/** Whoever would have to start again keeps its place while it gets nothing. */
function withPlaceKept(segments: readonly Segment[]): Segment[] {
  const kept: Segment[] = [];
  let endSeconds = 0;
  for (const segment of segments) {
    if (segment.fromSeconds > endSeconds)
      kept.push({ fromSeconds: endSeconds, toSeconds: segment.fromSeconds, rateBps: 0 });
    kept.push(segment);
    endSeconds = segment.toSeconds;
  }
  return kept;
}
