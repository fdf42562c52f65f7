/**
 * What the experiments on parallel crawling have in common: the paper, the webs they are done on, and how rows and
 * curves are made of what was found.
 *
 * Every figure is a mean over as many synthetic webs as there are runs, with other seeds for the crawl in each; on the
 * real graphs, which are what they are, only the seeds of the crawl change.
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

/** What was held fixed in the synthetic web. */
export function webParameters(pages: number): Readonly<Record<string, number>> {
  return { pages, ...WEB_PARAMETERS };
}

/** Rows of every web there is, each with its name. */
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

/** One row of many that differ only in their numbers; nothing where one of them has nothing. */
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

/** Pages to begin with, by process. */
export type DrawSeeds = (division: Division) => number[][];

/** The same pages for every division, so that all begin alike. */
export function sameSeeds(random: Random, count: number): DrawSeeds {
  const seed = below(random, 2 ** 32);
  return (division) => drawSeedsInAll(randomFrom(seed), division, count);
}

/** One row for all that agree in the keys, with a column for each of the others. */
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

/** One figure over another, of the rows that have both. */
export function curve(
  name: string,
  rows: readonly Row[],
  [x, y]: readonly [x: string, y: string],
  kind: Line["kind"] = "solid",
): Line {
  const points = rows.flatMap((row) => {
    const [across, up] = [row[x], row[y]];
    return typeof across === "number" && typeof up === "number" ? [[across, up] as const] : [];
  });
  return { name, kind, points };
}

/** A single figure as a short dash, since a curve of one point cannot be seen. */
export function dash(name: string, [x, y]: readonly [x: number, y: number], width: number): Line {
  const points = [
    [x - width / 2, y],
    [x + width / 2, y],
  ] as const;
  return { name, kind: "dotted", points };
}
