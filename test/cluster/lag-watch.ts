/**
 * Notes when this process was not let run, and what its servers' log may mean then.
 *
 * On a busy machine a server reads requests late, several at once, and their times say nothing about when they came.
 * What was logged right after such a gap came at some moment of the gap: it is given the earliest one that
 * good manners allow. Whatever is still too soon was too soon.
 */

import type { RequestEntry } from "../../src/lab/request-log.ts";

const TICK_MS = 4;
const GAP_MS_MIN = 12;
/** Whatever had come by the end of a gap is read within this time. */
const READ_WITHIN_MS = 15;

interface Gap {
  readonly fromMs: number;
  readonly toMs: number;
}

export class LagWatch implements Disposable {
  readonly #gaps: Gap[] = [];
  readonly #timer: NodeJS.Timeout;
  #tickAtMs = performance.now();

  constructor() {
    this.#timer = setInterval(() => {
      const nowMs = performance.now();
      if (nowMs - this.#tickAtMs > GAP_MS_MIN)
        this.#gaps.push({ fromMs: this.#tickAtMs, toMs: nowMs });
      this.#tickAtMs = nowMs;
    }, TICK_MS);
  }

  get longestMs(): number {
    return this.#gaps.reduce((longest, { fromMs, toMs }) => Math.max(longest, toMs - fromMs), 0);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  /** The log with the times at which requests may have come. */
  charitable(
    log: readonly RequestEntry[],
    delays: { readonly delayMs: number; readonly addressDelayMs: number },
  ): RequestEntry[] {
    const lastAtMs = new Map<string, number>();
    let gap = 0;
    return log
      .toSorted((a, b) => a.startMs - b.startMs)
      .map((entry) => {
        const { site, address, startMs } = entry;
        while ((this.#gaps[gap]?.toMs ?? Infinity) + READ_WITHIN_MS < startMs) gap += 1;
        const earliestMs = Math.min(startMs, this.#gaps[gap]?.fromMs ?? Infinity);
        const dueMs = Math.max(
          earliestMs,
          (lastAtMs.get(site) ?? -Infinity) + delays.delayMs,
          (lastAtMs.get(address) ?? -Infinity) + delays.addressDelayMs,
        );
        const atMs = Math.min(startMs, dueMs);
        lastAtMs.set(site, atMs);
        lastAtMs.set(address, atMs);
        return { ...entry, startMs: atMs };
      });
  }
}
