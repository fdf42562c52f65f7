/**
 * Records the rate of each site over time, and makes a plan of it.
 *
 * Records are columns; objects are created once, at the end.
 */

import type { Plan, PlanTask, Segment } from "../plan.ts";

export class Track {
  /** Ended segments of all sites: their start, end and rate. */
  readonly #froms: number[] = [];
  readonly #tos: number[] = [];
  readonly #rates: number[] = [];
  /**
   * The previous segment of the same site, and by site the last one: index plus one, 0 for none.
   */
  readonly #befores: number[] = [];
  readonly #lasts: Int32Array;
  readonly #atBps: Float64Array;
  readonly #sinceSeconds: Float64Array;
  /** Added to all times: where all sites start at once, the start-up precedes everything. */
  readonly #offsetSeconds: number;

  constructor(count: number, offsetSeconds: number) {
    this.#lasts = new Int32Array(count);
    this.#atBps = new Float64Array(count);
    this.#sinceSeconds = new Float64Array(count).fill(Number.NaN);
    this.#offsetSeconds = offsetSeconds;
  }

  /** Sets the rate of a site from now on; 0 for a kept place, undefined for none. */
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
    // Segments of no length, or only a rounding error long, are dropped.
    if (toSeconds - fromSeconds <= toSeconds * 1e-15) return;
    this.#froms.push(fromSeconds + this.#offsetSeconds);
    this.#tos.push(toSeconds + this.#offsetSeconds);
    this.#rates.push(this.#atBps[site] as number);
    this.#befores.push(this.#lasts[site] as number);
    this.#lasts[site] = this.#froms.length;
  }

  plan({ sites }: PlanTask): Plan {
    return {
      sites: sites.map(({ key }, site) => {
        const segments = this.#segmentsOf(site);
        const finishSeconds = segments.at(-1)?.toSeconds ?? 0;
        return {
          key,
          segments: this.#offsetSeconds > 0 ? withPlaceKept(segments) : segments,
          finishSeconds,
        };
      }),
    };
  }

  #segmentsOf(site: number): Segment[] {
    const segments: Segment[] = [];
    for (let next = this.#lasts[site] as number; next > 0; next = this.#befores[next - 1] as number)
      segments.push(this.#segmentAt(next - 1));
    return segments.length > 1 ? segments.reverse() : segments;
  }

  #segmentAt(segment: number): Segment {
    return {
      fromSeconds: this.#froms[segment] as number,
      toSeconds: this.#tos[segment] as number,
      rateBps: this.#rates[segment] as number,
    };
  }
}

/** A site that would need another start-up keeps its place at rate 0. */
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
