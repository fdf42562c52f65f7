/**
 * An experiment: repeats a result of a paper with the production code on a synthetic web in virtual time.
 *
 * Promise: the same options give the same findings, to the last digit, on every machine.
 */

export interface Experiment {
  readonly name: string;
  /** Citation of the repeated result. */
  readonly paper: string;
  /** Question and method in one or two sentences. */
  readonly about: string;
  /** Fixed parameters; the options are added to them. */
  readonly parameters: Readonly<Record<string, number | string>>;
  readonly run: (options: ExperimentOptions) => Promise<Findings>;
}

/** What all experiments take. */
export interface ExperimentOptions {
  readonly seed: number;
  /** Number of worlds, with consecutive seeds from `seed`; figures are means over them. */
  readonly runs: number;
  /** Size of the synthetic web, for experiments on link graphs; each has its own default. */
  readonly pages?: number;
  /** Folder of real data for experiments that use it; next to the checkout by default, skipped when missing. */
  readonly dataFolder?: string;
}

/** The figures of an experiment, and plots of them. */
export interface Findings {
  readonly rows: readonly Row[];
  readonly plots: readonly Plot[];
}

/** Column names contain the units; null for no value. */
export type Row = Readonly<Record<string, number | string | null>>;

/** A plot as data, to be rendered elsewhere. */
export interface Plot {
  readonly name: string;
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly lines: readonly Line[];
}

export interface Axis {
  readonly label: string;
  readonly unit: string;
  /** Labels for x = 1, 2, 3 … on an axis of categories. */
  readonly names?: readonly string[];
}

export interface Line {
  readonly name: string;
  readonly kind: "solid" | "dotted" | "limit";
  readonly points: readonly (readonly [x: number, y: number])[];
}

/** Runs the worlds one after the other, so that only one is in memory at a time. */
export async function inEveryWorld<T>(
  { seed, runs }: ExperimentOptions,
  runIn: (seed: number) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  for (let run = 0; run < runs; run++) results.push(await runIn(seed + run));
  return results;
}

export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

/** Rounds to the precision of an experiment. */
export function rounded(value: number, decimals: number): number {
  return Number(value.toFixed(decimals));
}
