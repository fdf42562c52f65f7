/**
 * Reads and shows quantities: `2MB/s`, `1.5GiB`, `500ms`.
 *
 * Sizes in KB, MB, GB are powers of 1000, in KiB, MiB, GiB of 1024; rates also in kbit/s, Mbit/s,
 * Gbit/s. Readers return `undefined` for all other text, so that the caller can name the setting.
 */

const SIZE_BYTES: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
};
const RATE_BPS: Readonly<Record<string, number>> = { kbit: 125, mbit: 125e3, gbit: 125e6 };
const DURATION_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1e3,
  m: 60e3,
  h: 3600e3,
  d: 86400e3,
};

export function readBytes(text: string): number | undefined {
  return readQuantity(text, SIZE_BYTES);
}

export function readRateBps(text: string): number | undefined {
  const match = /^(.*)\/s$/i.exec(text.trim());
  return match === null ? undefined : readQuantity(match[1] ?? "", { ...SIZE_BYTES, ...RATE_BPS });
}

export function readDurationMs(text: string): number | undefined {
  return readQuantity(text, DURATION_MS);
}

export function showBytes(bytes: number): string {
  if (bytes < 1000) return `${Math.round(bytes)} B`;
  const unit = ["KB", "MB", "GB", "TB"].find((_, power) => bytes < 999_500 * 1000 ** power) ?? "TB";
  const scaled = bytes / (SIZE_BYTES[unit.toLowerCase()] as number);
  return `${scaled < 10 ? scaled.toFixed(2) : scaled < 100 ? scaled.toFixed(1) : scaled.toFixed(0)} ${unit}`;
}

export function showDuration(durationMs: number): string {
  const seconds = Math.round(durationMs / 1000);
  if (seconds < 60) return `${durationMs < 10_000 ? (durationMs / 1000).toFixed(1) : seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/** Without locale data, whose loading would take longer than the rest of the start. */
export function showCount(count: number): string {
  return String(Math.round(count)).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
}

export function showPace(perSecond: number): string {
  return perSecond >= 100 ? showCount(perSecond) : perSecond.toFixed(1);
}

export function plural(count: number, noun: string): string {
  return `${showCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

function readQuantity(text: string, units: Readonly<Record<string, number>>): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*([a-z]+)$/i.exec(text.trim());
  if (match === null) return undefined;
  const factor = Object.hasOwn(units, (match[2] ?? "").toLowerCase())
    ? units[(match[2] ?? "").toLowerCase()]
    : undefined;
  return factor === undefined ? undefined : Number(match[1]) * factor;
}

/** A rate of requests that a site was found to accept. */
export interface Slowed {
  /** The status of its refusals. */
  readonly by: number;
  readonly perSecond: number;
  /** What the delay between requests would allow; undefined without a delay. */
  readonly ofPerSecond: number | undefined;
}

export function showSlowed({ by, perSecond, ofPerSecond }: Slowed): string {
  const of = ofPerSecond === undefined ? "" : ` of ${perSecondText(ofPerSecond)}`;
  return `slowed by ${by}: ${perSecondText(perSecond)}${of}`;
}

function perSecondText(rate: number): string {
  return `${Number(rate.toPrecision(2))}/s`;
}
