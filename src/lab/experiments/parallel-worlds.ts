/**
 * Common code of the experiments on parallel crawling: the paper, the webs, and the conversion of results to rows
 * and curves.
 *
 * Every figure is a mean over one synthetic web per run, each with different seeds of the crawl; on the real
 * graphs only the seeds of the crawl change.
 */

import { below, type Random, randomFrom } from "../../base/random.ts";
import type { GraphWeb } from "../graph-web.ts";
import { type Division, drawSeedsInAll } from "../parallel-sim.ts";
import { REAL_WEBS, realWeb } from "../real-web.ts";
import { syntheticWeb, WEB_PARAMETERS } from "../synthetic-web.ts";
import { type ExperimentOptions, type Line, meanOf, type Row, rounded } from "./experiment.ts";

export const PAPER = "Cho, Garcia-Molina: Parallel Crawlers, WWW 2002";

export const SYNTHETIC = "synthetic";

export const PROCESSES = { label: "processes", unit: "" };

/** Parameters of the synthetic web. */
export function webParameters(pages: number): Readonly<Record<string, number>> {
  return { pages, ...WEB_PARAMETERS };
}

/** The rows of every available web, each with the web's name. */
export function onEveryWeb(
  options: ExperimentOptions,
  pagesDefault: number,
  measure: (web: GraphWeb, random: Random) => readonly Row[],
): Row[] {
  const { seed, runs, pages = pagesDefault } = options;
  const seeds = Array.from({ length: runs }, (_, run) => seed + run);
  const made = seeds.map((at) => measure(syntheticWeb(at, pages), randomFrom(at)));
  const rows = named(SYNTHETIC, meanRows(made));
  for (const name of REAL_WEBS) {
    const web = realWeb(name, options.dataFolder);
    if (web === undefined) continue;
    rows.push(...named(name, meanRows(seeds.map((at) => measure(web, randomFrom(at))))));
  }
  return rows;
}

function named(web: string, rows: readonly Row[]): Row[] {
  return rows.map((row) => Object.assign({ web }, row));
}

/** The means of rows that differ only in their numbers; null where one run has no value. */
function meanRows(runs: readonly (readonly Row[])[]): Row[] {
  const [first = []] = runs;
  return first.map((row, place) => {
    const means = Object.entries(row).map(([name, value]) => {
      const values = runs.map((rows) => rows[place]?.[name] ?? null);
      if (values.includes(null)) return [name, null] as const;
      const isNumber = typeof value === "number";
      return [name, isNumber ? rounded(meanOf(values as number[]), 3) : value] as const;
    });
    return Object.fromEntries(means);
  });
}

/** Draws the seeds of each process. */
export type DrawSeeds = (division: Division) => number[][];

/** Draws the same seeds for every division. */
export function sameSeeds(random: Random, count: number): DrawSeeds {
  const seed = below(random, 2 ** 32);
  return (division) => drawSeedsInAll(randomFrom(seed), division, count);
}

/** Merges rows with equal keys into one row, with a column per merged row. */
export function pivoted(
  rows: readonly Row[],
  keys: readonly string[],
  [columnOf, figure]: readonly [columnOf: (row: Row) => string, figure: string],
): Row[] {
  const groups = Map.groupBy(rows, (row) => JSON.stringify(keys.map((key) => row[key])));
  return [...groups.values()].map((group) =>
    Object.fromEntries([
      ...keys.map((key) => [key, group[0]?.[key] ?? null] as const),
      ...group.map((row) => [columnOf(row), row[figure] ?? null] as const),
    ]),
  );
}

/** A curve of two columns, over the rows that have both. */
export function curve(
  name: string,
  rows: readonly Row[],
  [x, y]: readonly [x: string, y: string],
  kind: Line["kind"] = "solid",
): Line {
  const points = rows.flatMap((row) => {
    const [atX, atY] = [row[x], row[y]];
    return typeof atX === "number" && typeof atY === "number" ? [[atX, atY] as const] : [];
  });
  return { name, kind, points };
}

/** A single point as a short dash, because a curve of one point is invisible. */
export function dash(name: string, [x, y]: readonly [x: number, y: number], width: number): Line {
  const points = [
    [x - width / 2, y],
    [x + width / 2, y],
  ] as const;
  return { name, kind: "dotted", points };
}
