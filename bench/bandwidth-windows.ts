/**
 * From samples of a byte counter to figures of a rate: sliding windows of one second, ten a second.
 *
 * Samples come at uneven times, so the counter is first read off at even ones, on the straight line
 * between its neighbours. Everything is pure; rates are bytes per second.
 */

export interface Sample {
  readonly atMs: number;
  /** Since any beginning. */
  readonly bytes: number;
}

export interface Window {
  /** Its end. */
  readonly atMs: number;
  readonly bps: number;
}

/** A run as shares of its limit. */
export interface Figures {
  readonly meanShare: number;
  readonly maxShare: number;
  /** Standard deviation of the windows. */
  readonly deviationShare: number;
  readonly windows: number;
  /** How many of them were above 105 %. */
  readonly above: number;
}

const STEP_MS = 100;
const WINDOW_MS = 1000;
const ABOVE_SHARE = 1.05;

/** When the counter first moved by more than a greeting between machines. */
export function firstBytesAtMs(samples: readonly Sample[], bytesMin = 500): number | undefined {
  const start = samples[0]?.bytes ?? 0;
  return samples.find(({ bytes }) => bytes - start > bytesMin)?.atMs;
}

/** Every window that lies wholly between two moments. */
export function windowsOf(samples: readonly Sample[], fromMs: number, toMs: number): Window[] {
  const windows: Window[] = [];
  for (let atMs = fromMs + WINDOW_MS; atMs <= toMs; atMs += STEP_MS)
    windows.push({ atMs, bps: meanBps(samples, atMs - WINDOW_MS, atMs) });
  return windows;
}

export function figuresOf(windows: readonly Window[], limitBps: number): Figures {
  const shares = windows.map(({ bps }) => bps / limitBps);
  const mean = sum(shares) / shares.length;
  const variance = sum(shares.map((share) => (share - mean) ** 2)) / shares.length;
  return {
    meanShare: mean,
    maxShare: Math.max(...shares),
    deviationShare: Math.sqrt(variance),
    windows: shares.length,
    above: shares.filter((share) => share > ABOVE_SHARE).length,
  };
}

/** The mean rate between two moments. */
export function meanBps(samples: readonly Sample[], fromMs: number, toMs: number): number {
  return ((counterAt(samples, toMs) - counterAt(samples, fromMs)) * 1000) / (toMs - fromMs);
}

/**
 * How long after a change the rate was in its new band for good: the end of the first window from
 * which on all of them are inside.
 */
export function settledAfterMs(
  windows: readonly Window[],
  changedAtMs: number,
  band: { readonly lowBps: number; readonly highBps: number },
): number | undefined {
  const later = windows.filter(({ atMs }) => atMs > changedAtMs);
  const outside = later.findLastIndex(({ bps }) => bps < band.lowBps || bps > band.highBps);
  const first = later[outside + 1];
  return first === undefined ? undefined : first.atMs - changedAtMs;
}

/** The counter at a moment, on the line between the samples around it. */
function counterAt(samples: readonly Sample[], atMs: number): number {
  let low = 0;
  let high = samples.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((samples[middle]?.atMs ?? Infinity) < atMs) low = middle + 1;
    else high = middle;
  }
  const after = samples[low];
  const before = samples[low - 1];
  if (after === undefined) return 0;
  if (before === undefined || after.atMs <= atMs) return after.bytes;
  const share = (atMs - before.atMs) / (after.atMs - before.atMs);
  return before.bytes + share * (after.bytes - before.bytes);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
