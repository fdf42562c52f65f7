/**
 * How far servers stray from what was predicted of them: the width of every promise about them.
 *
 * One download says little: a small page has a small rate. So the mean rate of a stretch of downloads
 * is held against what was predicted when the stretch began, and the logarithm of their ratio, without
 * its sign, is averaged over stretches; a new one weighs an eighth, or more while there are few. For
 * rates that scatter log-normally about the prediction this is σ·√(2/π). The greatest of them bounds
 * every range: nothing farther off has been observed.
 *
 * Servers are identified by their places in the speed table, which owns them. O(1) a measurement, one
 * logarithm a stretch; 29 bytes a server.
 */

/** Downloads in a stretch. */
const STRETCH_COUNT = 8;
/** A prediction speaks of its hour. */
const STRETCH_MS_MAX = 3_600_000;
const WEIGHT_MIN = 1 / 8;

interface Measurement {
  /** What was expected of the server before this download. */
  readonly predictedBps: number;
  readonly measuredBps: number;
  readonly nowMs: number;
  /** Measurements of this server before this one. */
  readonly countBefore: number;
}

/** Of |ln(measured / predicted)| over stretches of downloads. */
export interface Strayed {
  readonly mean: number;
  readonly most: number;
}

export class Scatter {
  /** NaN until the first stretch is over. */
  #mean: Float32Array;
  #most: Float32Array;
  #count: Uint8Array;
  #sumBps: Float64Array;
  #predictedBps: Float32Array;
  #startedAtMs: Float64Array;

  constructor(places: number) {
    this.#mean = new Float32Array(places).fill(Number.NaN);
    this.#most = new Float32Array(places);
    this.#count = new Uint8Array(places);
    this.#sumBps = new Float64Array(places);
    this.#predictedBps = new Float32Array(places);
    this.#startedAtMs = new Float64Array(places);
  }

  /** undefined before the first stretch is over. */
  at(place: number): Strayed | undefined {
    const mean = this.#mean[place] as number;
    return Number.isNaN(mean) ? undefined : { mean, most: this.#most[place] as number };
  }

  set(place: number, strayed: Strayed | undefined): void {
    this.#mean[place] = strayed?.mean ?? Number.NaN;
    this.#most[place] = strayed?.most ?? 0;
    this.#count[place] = 0;
  }

  learn(place: number, { predictedBps, measuredBps, nowMs, countBefore }: Measurement): void {
    // The first of all is its own prediction.
    if (countBefore === 0) return;
    const isOld = nowMs - (this.#startedAtMs[place] as number) > STRETCH_MS_MAX;
    if (this.#count[place] === 0 || isOld) {
      this.#count[place] = 0;
      this.#sumBps[place] = 0;
      this.#predictedBps[place] = predictedBps;
      this.#startedAtMs[place] = nowMs;
    }
    this.#sumBps[place] = (this.#sumBps[place] as number) + measuredBps;
    this.#count[place] = (this.#count[place] as number) + 1;
    if (this.#count[place] === STRETCH_COUNT) this.#close(place, countBefore);
  }

  /** Makes room; what was learned stays. */
  grow(places: number): void {
    const before = this.#mean;
    this.#mean = new Float32Array(places).fill(Number.NaN);
    this.#mean.set(before);
    this.#most = copied(new Float32Array(places), this.#most);
    this.#count = copied(new Uint8Array(places), this.#count);
    this.#sumBps = copied(new Float64Array(places), this.#sumBps);
    this.#predictedBps = copied(new Float32Array(places), this.#predictedBps);
    this.#startedAtMs = copied(new Float64Array(places), this.#startedAtMs);
  }

  #close(place: number, countBefore: number): void {
    const meanBps = (this.#sumBps[place] as number) / STRETCH_COUNT;
    const strayed = Math.abs(Math.log(meanBps / (this.#predictedBps[place] as number)));
    const mean = this.at(place)?.mean ?? strayed;
    const weight = Math.max(WEIGHT_MIN, 1 / Math.max(1, Math.floor(countBefore / STRETCH_COUNT)));
    this.#mean[place] = mean + weight * (strayed - mean);
    this.#most[place] = Math.max(this.#most[place] as number, strayed);
    this.#count[place] = 0;
  }
}

/** A larger array that begins as the smaller one. */
export function copied<T extends Float32Array | Float64Array | Uint32Array | Uint8Array>(
  to: T,
  from: T,
): T {
  to.set(from);
  return to;
}
