/**
 * Figures 10 and 11 of the paper on allocation: 600 sites and 30 crawlers, CPQ against the mixed integer
 * program, on the sum of finish times and on the end; our own planner beside both, and an answer to the question why
 * the paper's greedy algorithm could beat its program.
 *
 * The program depends on how long its intervals are, which the paper does not say. So at one of the rates
 * it is also asked with several lengths, counted in mean batches: what 30 of the 600 sites need, with their
 * start-up. And every answer is shown twice: as the program has it, and `packed`, the same batches one
 * after the other without waiting for the ends of intervals.
 *
 * Answers are those of the relaxed program, rounded, with their gap told; HiGHS is not left to search on, for
 * that would end by the clock and not be the same on every machine.
 */

import { assert } from "../../base/assert.ts";
import { solveMip } from "../../crawl/solver.ts";
import { planCpq } from "../../plan/cpq.ts";
import { planOptimal } from "../../plan/optimal.ts";
import { type Allocation, figuresOf, isLate, type Plan, type PlanTask } from "../../plan/plan.ts";
import { bytesOf, MANY, manySites, PAPER } from "./allocation-tasks.ts";
import {
  type Experiment,
  inEveryWorld,
  type Line,
  meanOf,
  type Plot,
  type Row,
  rounded,
} from "./experiment.ts";

const RATES_MBPS = [6, 7, 8, 9, 10];
/** The program's own default is about half a mean batch: 2n / m intervals. */
const LENGTH = 0.5;
const LENGTHS_MBPS = 8;
const LENGTHS = [0.25, 1.05, 1.5, 2];
/** Long enough never to be reached, so that no answer hangs on how fast a machine is. */
const SOLVER_SECONDS_MAX = 600;

interface Contest {
  readonly mbps: number;
  readonly length: number;
}

interface Figures {
  readonly sumSeconds: number;
  readonly endSeconds: number;
  readonly late: number;
}

interface Compared {
  readonly cpq: Figures;
  readonly mip: Figures;
  readonly packed: Figures;
  readonly optimal: Figures;
  readonly gap: number;
}

interface Found extends Contest, Compared {}

export const allocationBatches: Experiment = {
  name: "allocation-batches",
  paper: `${PAPER}, Figures 10 and 11`,
  about:
    "600 sites and 30 crawlers at several rates: the sum of finish times and the end with CPQ, with the mixed integer program, also at several lengths of its intervals, and with Weir's own planner. Takes about half a minute for each world.",
  parameters: { ...MANY, dueShare: rounded(MANY.dueShare, 3) },
  async run(options) {
    const contests: Contest[] = [
      ...RATES_MBPS.map((mbps) => ({ mbps, length: LENGTH })),
      ...LENGTHS.map((length) => ({ mbps: LENGTHS_MBPS, length })),
    ];
    const found: Found[] = [];
    for (const contest of contests) {
      const worlds = await inEveryWorld(options, (seed) => inOneWorld(seed, contest));
      found.push({ ...contest, ...meanCompared(worlds) });
    }
    const byRate = found.filter(({ length }) => length === LENGTH);
    const plots = [
      plotOf(byRate, "allocation-batches-sum", "Sum of finish times (Figure 10)", "sumSeconds"),
      plotOf(byRate, "allocation-batches-end", "All sites are done (Figure 11)", "endSeconds"),
      byLength(found.filter(({ mbps }) => mbps === LENGTHS_MBPS)),
    ];
    return { rows: found.map(rowOf), plots };
  },
};

async function inOneWorld(seed: number, { mbps, length }: Contest): Promise<Compared> {
  const task = manySites(seed, mbps * 1e6);
  const batchSeconds = (bytesOf(task) * MANY.crawlers) / MANY.sites / task.rateBps;
  const intervalSeconds = length * (batchSeconds + task.startupSeconds);
  const solved = await solveMip(task, {
    intervalSeconds,
    secondsMax: SOLVER_SECONDS_MAX,
    gapMax: Infinity,
  });
  const mip = planIn(solved.allocation);
  return {
    cpq: figuresFor(task, planIn(planCpq(task))),
    mip: figuresFor(task, mip),
    packed: packedFigures(task, mip),
    optimal: figuresFor(task, planOptimal(task, "min-sum").plan),
    gap: solved.gap ?? Number.NaN,
  };
}

function planIn(allocation: Allocation): Plan {
  assert(allocation.kind === "planned", "the scenario can be planned in every way");
  return allocation.plan;
}

function figuresFor(task: PlanTask, plan: Plan): Figures {
  const { sumSeconds, maxSeconds, lateCount } = figuresOf(task, plan);
  return { sumSeconds, endSeconds: maxSeconds, late: lateCount };
}

/** Of the same batches, each begun when the one before it is done and given the whole rate. */
function packedFigures(task: PlanTask, plan: Plan): Figures {
  const batches = Map.groupBy(task.sites.keys(), (site) => plan.sites[site]?.finishSeconds ?? 0);
  let endSeconds = 0;
  let sumSeconds = 0;
  let late = 0;
  for (const [, batch] of [...batches].toSorted(([a], [b]) => a - b)) {
    const sites = batch.flatMap((index) => task.sites[index] ?? []);
    endSeconds += task.startupSeconds + bytesOf({ ...task, sites }) / task.rateBps;
    sumSeconds += sites.length * endSeconds;
    late += sites.filter((site) => isLate(site, endSeconds)).length;
  }
  return { sumSeconds, endSeconds, late };
}

function meanCompared(worlds: readonly Compared[]): Compared {
  const figures = (of: Exclude<keyof Compared, "gap">): Figures => ({
    sumSeconds: meanOf(worlds.map((world) => world[of].sumSeconds)),
    endSeconds: meanOf(worlds.map((world) => world[of].endSeconds)),
    late: meanOf(worlds.map((world) => world[of].late)),
  });
  return {
    cpq: figures("cpq"),
    mip: figures("mip"),
    packed: figures("packed"),
    optimal: figures("optimal"),
    gap: meanOf(worlds.map(({ gap }) => gap)),
  };
}

function rowOf({ mbps, length, cpq, mip, packed, optimal, gap }: Found): Row {
  return {
    rateMBps: mbps,
    intervalBatches: length,
    sumSecondsCpq: Math.round(cpq.sumSeconds),
    sumSecondsMip: Math.round(mip.sumSeconds),
    sumSecondsPacked: Math.round(packed.sumSeconds),
    sumSecondsOptimal: Math.round(optimal.sumSeconds),
    endSecondsCpq: rounded(cpq.endSeconds, 1),
    endSecondsMip: rounded(mip.endSeconds, 1),
    endSecondsPacked: rounded(packed.endSeconds, 1),
    endSecondsOptimal: rounded(optimal.endSeconds, 1),
    mipGap: rounded(gap, 4),
    lateCpq: rounded(cpq.late, 1),
    lateOptimal: rounded(optimal.late, 1),
  };
}

function plotOf(
  found: readonly Found[],
  name: string,
  title: string,
  figure: "sumSeconds" | "endSeconds",
): Plot {
  return {
    name,
    title,
    x: { label: "rate", unit: "MB/s" },
    y: { label: figure === "sumSeconds" ? "sum of finish times" : "end", unit: "s" },
    lines: linesOf(found, (one) => one.mbps, figure),
  };
}

function byLength(found: readonly Found[]): Plot {
  const ordered = found.toSorted((a, b) => a.length - b.length);
  return {
    name: "allocation-batches-length",
    title: `Sum of finish times by the length of an interval, ${LENGTHS_MBPS} MB/s`,
    x: { label: "length of an interval, in mean batches", unit: "" },
    y: { label: "sum of finish times", unit: "s" },
    lines: linesOf(ordered, (one) => one.length, "sumSeconds"),
  };
}

function linesOf(
  found: readonly Found[],
  xOf: (one: Found) => number,
  figure: "sumSeconds" | "endSeconds",
): Line[] {
  const line = (name: string, of: "cpq" | "mip" | "packed" | "optimal"): Line => ({
    name,
    kind: of === "packed" || of === "optimal" ? "dotted" : "solid",
    points: found.map((one) => [xOf(one), one[of][figure]] as const),
  });
  return [
    line("CPQ", "cpq"),
    line("MIP", "mip"),
    line("MIP, packed", "packed"),
    line("optimal", "optimal"),
  ];
}
