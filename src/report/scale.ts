/**
 * Chooses round numbers along an axis, in readable units: 0, 0.5, 1 MB/s and not 0, 476837.16 B/s.
 *
 * The unit of the values decides their format. `B` and `B/s` are written with the prefix that suits
 * the largest value; `s` becomes minutes, hours or days; `clock` is a time in milliseconds since 1970,
 * written as UTC; all others are plain numbers.
 */

interface Tick {
  readonly at: number;
  readonly label: string;
}

export interface Scale {
  readonly low: number;
  readonly high: number;
  readonly ticks: readonly Tick[];
  /** Unit of the tick labels; may differ from the unit of the values. */
  readonly unit: string;
}

interface ScaleOptions {
  readonly ticksMax: number;
  /** The scale ends exactly where the values end, instead of at round numbers. */
  readonly tight?: boolean;
}

const PREFIXES = ["", "K", "M", "G", "T", "P"];
const SECOND_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800];
const HOUR_S = 3600;
const DAY_S = 86_400;
const LONG_STEPS = [6 * HOUR_S, 12 * HOUR_S, DAY_S, 2 * DAY_S, 7 * DAY_S, 14 * DAY_S, 30 * DAY_S];

export function scaleFor(low: number, high: number, unit: string, options: ScaleOptions): Scale {
  const scale = roundScale(low, high, unit, Math.max(2, Math.floor(options.ticksMax)));
  if (options.tight !== true) return scale;
  const ticks = scale.ticks.filter(({ at }) => at >= low && at <= high);
  return { ...scale, low, high, ticks };
}

/** A scale whose ends are extended to round numbers. */
function roundScale(low: number, high: number, unit: string, ticksMax: number): Scale {
  if (unit === "clock") return clockScale(low, high, ticksMax);
  if (unit === "s") return secondScale(low, high, ticksMax);
  const isBytes = unit === "B" || unit === "B/s";
  const power = isBytes ? prefixPower(Math.max(Math.abs(low), Math.abs(high))) : 0;
  const factor = 1000 ** power;
  const step = roundStep((high - low) / factor, ticksMax);
  const ticks = multiples(low / factor, high / factor, step).map((at) => ({
    at: at * factor,
    label: plain(at, step),
  }));
  return ends(ticks, low, high, `${PREFIXES[power]}${unit}`);
}

/** Writes one value with its unit, in the format of an axis. */
export function shown(value: number, unit: string): string {
  if (!Number.isFinite(value)) return "";
  const power = unit === "B" || unit === "B/s" ? prefixPower(Math.abs(value)) : 0;
  const scaled = value / 1000 ** power;
  const digits = power === 0 && Number.isInteger(value) ? 0 : Math.abs(scaled) < 10 ? 2 : 1;
  const gap = unit === "" ? "" : " ";
  return `${scaled.toFixed(Math.abs(scaled) >= 100 ? 0 : digits)}${gap}${PREFIXES[power]}${unit}`;
}

function prefixPower(most: number): number {
  const power = most < 1000 ? 0 : Math.floor(Math.log10(most) / 3);
  return Math.min(power, PREFIXES.length - 1);
}

function secondScale(low: number, high: number, ticksMax: number): Scale {
  const span = high - low;
  const [unit, size] =
    span >= 3 * DAY_S
      ? ["d", DAY_S]
      : span >= 3 * HOUR_S
        ? ["h", HOUR_S]
        : span >= 180
          ? ["min", 60]
          : ["s", 1];
  const step = unit === "s" ? roundStep(span, ticksMax) : timeStep(span, ticksMax);
  const ticks = multiples(low, high, step).map((at) => ({
    at,
    label: plain(at / size, step / size),
  }));
  return ends(ticks, low, high, unit);
}

function clockScale(lowMs: number, highMs: number, ticksMax: number): Scale {
  const step = timeStep((highMs - lowMs) / 1000, ticksMax) * 1000;
  const ticks = multiples(lowMs, highMs, step).map((at) => ({ at, label: clockLabel(at, step) }));
  const day = new Date(lowMs).toISOString().slice(0, 10);
  return ends(ticks, lowMs, highMs, `UTC, from ${day}`);
}

function clockLabel(atMs: number, stepMs: number): string {
  const text = new Date(atMs).toISOString();
  if (stepMs >= DAY_S * 1000) return text.slice(5, 10);
  return stepMs >= 60_000 ? text.slice(11, 16) : text.slice(11, 19);
}

function timeStep(spanS: number, ticksMax: number): number {
  const enough = [...SECOND_STEPS, ...LONG_STEPS].find((step) => spanS / step <= ticksMax);
  return enough ?? Math.ceil(spanS / ticksMax / (30 * DAY_S)) * 30 * DAY_S;
}

/** Smallest step of 1, 2 or 5 times a power of ten that gives at most `ticksMax` ticks. */
function roundStep(span: number, ticksMax: number): number {
  const least = span / Math.max(1, ticksMax);
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5].find((factor) => factor * power >= least * 0.999) ?? 10);
}

/** The multiples of the step from just below `low` to just above `high`. */
function multiples(low: number, high: number, step: number): number[] {
  const first = Math.floor(low / step + 1e-9);
  const last = Math.ceil(high / step - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
}

function ends(ticks: readonly Tick[], low: number, high: number, unit: string): Scale {
  return { low: ticks[0]?.at ?? low, high: ticks.at(-1)?.at ?? high, ticks, unit };
}

/** Writes a number with the decimals that the step needs. */
function plain(value: number, step: number): string {
  const digits = Math.max(0, Math.min(6, Math.ceil(-Math.log10(step) - 1e-9)));
  return value.toFixed(digits).replace(/^-(?=0(?:\.0*)?$)/, "");
}
