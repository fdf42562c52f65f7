/** How many URLs were settled in each of the last seconds, for telling how long the rest will take. */

const KEPT_SECONDS = 64;

export class Pace {
  readonly #counts = new Uint32Array(KEPT_SECONDS);
  readonly #seconds = new Float64Array(KEPT_SECONDS).fill(-1);
  #firstMs: number | undefined;

  count(nowMs: number): void {
    this.#firstMs ??= nowMs;
    const second = Math.floor(nowMs / 1000);
    const slot = second % KEPT_SECONDS;
    if (this.#seconds[slot] !== second) {
      this.#seconds[slot] = second;
      this.#counts[slot] = 0;
    }
    this.#counts[slot] = (this.#counts[slot] as number) + 1;
  }

  /** The mean over the last `seconds`, or over all there have been when these are fewer. */
  perSecond(nowMs: number, seconds: number): number {
    if (this.#firstMs === undefined || nowMs <= this.#firstMs) return 0;
    const present = Math.floor(nowMs / 1000);
    let sum = 0;
    for (let second = present - seconds; second <= present; second++) {
      const slot = ((second % KEPT_SECONDS) + KEPT_SECONDS) % KEPT_SECONDS;
      if (this.#seconds[slot] === second) sum += this.#counts[slot] as number;
    }
    const windowMs = nowMs - Math.max(this.#firstMs, (present - seconds) * 1000);
    return sum / Math.max(0.1, windowMs / 1000);
  }
}
