/** Figures for comparing controls of a limit: how well it was used and kept. */

import { windowsOf } from "../sim-wire.ts";
import { meanOf } from "./experiment.ts";

export interface RateFigures {
  readonly meanBps: number;
  /** The mean as a share of the limit. */
  readonly fill: number;
  /** Standard deviation of one-second windows, as a share of the limit. */
  readonly deviation: number;
  /** The highest second, as a share of the limit. */
  readonly worst: number;
  /** Share of seconds above the limit. */
  readonly above: number;
  /** Share of seconds above 105 % of the limit. */
  readonly above105: number;
}

const TENTHS_IN_SECOND = 10;

/** Computes the figures from the bytes of each tenth of a second; seconds start at every tenth. */
export function rateFigures(tenths: readonly number[], limitBps: number): RateFigures {
  const windows = windowsOf(tenths).map((bytes) => bytes / limitBps);
  const mean = meanOf(windows);
  const meanBps = meanOf(tenths) * TENTHS_IN_SECOND;
  const shareOver = (share: number): number => meanOf(windows.map((at) => (at > share ? 1 : 0)));
  return {
    meanBps,
    fill: meanBps / limitBps,
    deviation: Math.sqrt(meanOf(windows.map((at) => (at - mean) ** 2))),
    worst: Math.max(0, ...windows),
    above: shareOver(1 + ROUNDING),
    above105: shareOver(1.05),
  };
}

/** Relative tolerance for rounding errors in a line exactly at the limit. */
const ROUNDING = 1e-9;

/** Figures over several worlds: means, and the worst second of all. */
export function overWorlds(worlds: readonly RateFigures[]): RateFigures {
  const mean = (figure: keyof RateFigures): number => meanOf(worlds.map((world) => world[figure]));
  return {
    meanBps: mean("meanBps"),
    fill: mean("fill"),
    deviation: mean("deviation"),
    worst: Math.max(...worlds.map(({ worst }) => worst)),
    above: mean("above"),
    above105: mean("above105"),
  };
}
