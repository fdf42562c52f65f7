/**
 * Checks a rate limit on the interface's counter.
 *
 * Rules:
 *   `burst`: in some interval of any length, the bytes exceeded limit × time + the permitted burst.
 *   A leaky bucket finds the worst interval;
 *   `second`: a window of one second, starting at any tenth, exceeded its share of the limit.
 *
 * After a change of the limit, the higher one applies for `settleMs`. Each rule is reported once, at
 * its worst time. O(n) in the tenths of seconds.
 */

import { TENTH_MS, windowsOf } from "../sim-wire.ts";
import type { Violation } from "../violation.ts";

/** A limit that holds from a time of the counter on; undefined for none. */
export interface LimitFrom {
  readonly fromMs: number;
  readonly limitBps: number | undefined;
}

/** Bytes over time, and the limits that applied. */
export interface RateEvidence {
  /** Bytes that arrived in each tenth of a second. */
  readonly tenths: readonly number[];
  /** Sorted by time; the first is from 0. */
  readonly limits: readonly LimitFrom[];
  /** Time after a change during which the higher limit applies. */
  readonly settleMs: number;
  /** Permitted burst above the limit, in seconds at the limit. */
  readonly burstSeconds: number;
  /** Most bytes in a second, as a share of the limit. */
  readonly secondShareMax: number;
}

const SECOND_MS = 1_000;
/** Relative tolerance for rounding errors in sums. */
const ROUNDING = 1e-6;

/**
 * Checks a rate limit on the byte counter of a network interface.
 *
 * @example
 * import { checkRateLimit } from "weir/lab";
 *
 * const violations = checkRateLimit({
 *   tenths: Array<number>(100).fill(100_000),
 *   limits: [{ fromMs: 0, limitBps: 1_000_000 }],
 *   settleMs: 1000,
 *   burstSeconds: 0.05,
 *   secondShareMax: 1.05,
 * });
 * console.log(violations.length === 0);
 */
export function checkRateLimit(evidence: RateEvidence): Violation[] {
  return [...checkBurst(evidence), ...checkSeconds(evidence)];
}

function checkBurst(evidence: RateEvidence): Violation[] {
  let levelBytes = 0;
  let worst = { overBytes: 0, atMs: 0, burstBytes: 0 };
  for (const [tenth, bytes] of evidence.tenths.entries()) {
    const fromMs = tenth * TENTH_MS;
    const limitBps = highestBps(evidence, fromMs, fromMs + TENTH_MS);
    const burstBytes = evidence.burstSeconds * limitBps;
    levelBytes = Math.max(0, levelBytes + bytes - (limitBps * TENTH_MS) / SECOND_MS);
    const overBytes = levelBytes - burstBytes;
    if (overBytes > worst.overBytes) worst = { overBytes, atMs: fromMs + TENTH_MS, burstBytes };
  }
  if (worst.overBytes <= ROUNDING * Math.max(1, worst.burstBytes)) return [];
  const over = Math.ceil(worst.overBytes);
  const detail = `${over} bytes more than ${Math.round(worst.burstBytes)} at ${worst.atMs} ms`;
  return [{ rule: "burst", detail }];
}

function checkSeconds(evidence: RateEvidence): Violation[] {
  let worst = { share: 0, atMs: 0, bytes: 0 };
  for (const [tenth, bytes] of windowsOf(evidence.tenths).entries()) {
    const atMs = tenth * TENTH_MS;
    const share = bytes / highestBps(evidence, atMs, atMs + SECOND_MS);
    if (share > worst.share) worst = { share, atMs, bytes };
  }
  if (worst.share <= evidence.secondShareMax * (1 + ROUNDING)) return [];
  const percent = (100 * worst.share).toFixed(1);
  const detail = `${percent} % of the limit in the second from ${worst.atMs} ms`;
  return [{ rule: "second", detail: `${detail}: ${Math.round(worst.bytes)} bytes` }];
}

/** The highest limit that applies in the interval [fromMs, toMs). */
function highestBps({ limits, settleMs }: RateEvidence, fromMs: number, toMs: number): number {
  let highest = 0;
  for (const [at, limit] of limits.entries()) {
    const endsMs = (limits[at + 1]?.fromMs ?? Number.POSITIVE_INFINITY) + settleMs;
    const counts = limit.fromMs < toMs && endsMs > fromMs;
    if (counts) highest = Math.max(highest, limit.limitBps ?? Number.POSITIVE_INFINITY);
  }
  return highest;
}
