/**
 * What an experiment is: a question that a paper put, asked again of the production code on a
 * synthetic web in virtual time.
 *
 * Promise: the same options give the same findings, to the last digit, on every machine.
 */

export interface Experiment {
  readonly name: string;
  /** The result it repeats, as one would cite it. */
  readonly paper: string;
  /** What is asked and how, in a sentence or two. */
  readonly about: string;
  /** What was held fixed; the options are added to it. */
  readonly parameters: Readonly<Record<string, number | string>>;
  readonly run: (options: ExperimentOptions) => Promise<Findings>;
}

export interface ExperimentOptions {
  readonly seed: number;
  /** How many worlds it is done in, from that seed on; figures are means over them. */
  readonly runs: number;
  /** How large the synthetic web is, where an experiment has no need of servers; each has a size of its own. */
  readonly pages?: number;
  /** Where the real data is, for experiments that use it; by default beside the checkout, and left out where absent. */
  readonly dataFolder?: string;
}

export interface Findings {
  readonly rows: readonly Row[];
  readonly plots: readonly Plot[];
}

/** Names carry their units; null where there is nothing to say. */
export type Row = Readonly<Record<string, number | string | null>>;

/** A drawing as data; whoever shows it makes a picture of it. */
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
  /** What stands at 1, 2, 3 …, where these are no amounts. */
  readonly names?: readonly string[];
}

export interface Line {
  readonly name: string;
  readonly kind: "solid" | "dotted" | "limit";
  readonly points: readonly (readonly [x: number, y: number])[];
}

/** Runs one world after the other, so that thousands of pages are never in memory twice. */
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

/** Digits beyond what an experiment can tell only hide the others. */
export function rounded(value: number, decimals: number): number {
  return Number(value.toFixed(decimals));
}
