/** How well a limit was used and kept, in the few figures by which ways of holding it are compared. */

import { windowsOf } from "../sim-wire.ts";
import { meanOf } from "./experiment.ts";

export interface RateFigures {
  readonly meanBps: number;
  /** The mean as a share of the limit. */
  readonly fill: number;
  /** Of one-second windows, as a share of the limit. */
  readonly deviation: number;
  /** The fullest second, as a share of the limit. */
  readonly worst: number;
  /** Shares of the seconds that were above the limit, and above 105 % of it. */
  readonly above: number;
  readonly above105: number;
}

const TENTHS_IN_SECOND = 10;

/** From what arrived in each tenth of a second. A second may begin at any tenth. */
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

/** A pipe filled to the brim is not above it for the last digit of a sum. */
const ROUNDING = 1e-9;

/** The same over several worlds: means, and the worst second of all. */
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
