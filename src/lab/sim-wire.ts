/**
 * Simulates a network interface's counter: the bytes that arrived in every tenth of a second.
 *
 * It counts bytes that arrive, also those that are unread in a connection's window. Promises about
 * the rate are checked against it, not against the crawler's own meter.
 *
 * O(1) per piece and tenth; 8 bytes per tenth.
 */

import { assert } from "../base/assert.ts";

export const TENTH_MS = 100;
const TENTHS_IN_SECOND = 10;

export class SimWire {
  readonly #startMs: number;
  readonly #tenths: number[] = [];
  #untakenBytes = 0;
  readonly #perByte: number;

  /** `overheadShare`: packet overhead as a share of the bytes carried. */
  constructor(startMs: number, overheadShare = 0) {
    this.#startMs = startMs;
    this.#perByte = 1 + overheadShare;
  }

  /** Counts a piece that arrived evenly between two times. */
  carry(fromMs: number, toMs: number, bytes: number): void {
    assert(toMs >= fromMs, "a piece ends after it starts");
    const carried = bytes * this.#perByte;
    this.#untakenBytes += carried;
    let atMs = fromMs - this.#startMs;
    const untilMs = toMs - this.#startMs;
    let tenth = Math.floor(atMs / TENTH_MS);
    if (untilMs <= (tenth + 1) * TENTH_MS) return this.#add(tenth, carried);
    const bytesPerMs = carried / (untilMs - atMs);
    while (atMs < untilMs) {
      const endMs = Math.min(untilMs, (tenth + 1) * TENTH_MS);
      this.#add(tenth, bytesPerMs * (endMs - atMs));
      atMs = endMs;
      tenth += 1;
    }
  }

  /** Bytes carried since the last call, as the counters of an interface give them. */
  take(): number {
    const bytes = this.#untakenBytes;
    this.#untakenBytes = 0;
    return bytes;
  }

  /** Bytes in each tenth of a second, from the start to the last tenth with any. */
  get tenths(): readonly number[] {
    return this.#tenths;
  }

  #add(tenth: number, bytes: number): void {
    while (this.#tenths.length <= tenth) this.#tenths.push(0);
    this.#tenths[tenth] = (this.#tenths[tenth] ?? 0) + bytes;
  }
}

/** Bytes in each whole second. */
export function secondsOf(tenths: readonly number[]): number[] {
  const seconds = Array.from({ length: Math.floor(tenths.length / TENTHS_IN_SECOND) }, () => 0);
  for (let at = 0; at < seconds.length * TENTHS_IN_SECOND; at++) {
    const second = Math.floor(at / TENTHS_IN_SECOND);
    seconds[second] = (seconds[second] ?? 0) + (tenths[at] ?? 0);
  }
  return seconds;
}

/** Bytes in every window of one second; the windows start a tenth of a second apart. */
export function windowsOf(tenths: readonly number[]): number[] {
  const windows: number[] = [];
  let sum = 0;
  for (const [at, bytes] of tenths.entries()) {
    sum += bytes - (at < TENTHS_IN_SECOND ? 0 : (tenths[at - TENTHS_IN_SECOND] ?? 0));
    if (at >= TENTHS_IN_SECOND - 1) windows.push(sum);
  }
  return windows;
}
