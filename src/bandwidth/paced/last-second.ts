/**
 * What was spent within the last second, in steps of a fortieth of it.
 *
 * An account bounds what is spent from any moment on by what was saved before it; and what comes unasked may come at
 * the end of a second in which all of that was spent. So it is also known what this second has had.
 *
 * O(1) everything, but for O(steps) after a silence.
 */

const STEP_MS = 25;
const STEPS = 40;

export class LastSecond {
  readonly #steps = new Float64Array(STEPS);
  #step = 0;
  #sum = 0;

  add(nowMs: number, bytes: number): void {
    this.#advance(nowMs);
    const at = this.#step % STEPS;
    this.#steps[at] = (this.#steps[at] as number) + bytes;
    this.#sum += bytes;
  }

  bytes(nowMs: number): number {
    this.#advance(nowMs);
    return this.#sum;
  }

  /** When something that counts now will no longer do. */
  changesAtMs(nowMs: number): number {
    return (Math.floor(nowMs / STEP_MS) + 1) * STEP_MS;
  }

  #advance(nowMs: number): void {
    const step = Math.floor(nowMs / STEP_MS);
    const passed = step - this.#step;
    if (passed <= 0) return;
    if (passed >= STEPS) {
      this.#steps.fill(0);
      this.#sum = 0;
    } else
      for (let next = this.#step + 1; next <= step; next++) {
        this.#sum -= this.#steps[next % STEPS] as number;
        this.#steps[next % STEPS] = 0;
      }
    this.#step = step;
  }
}
