/**
 * Figures 10 and 11 of the paper on allocation: CPQ, the mixed integer program (MIP) and Weir's planner on 600
 * sites and 30 crawlers, by sum of finish times and by end; and why the paper's greedy algorithm could beat its
 * MIP.
 *
 * The MIP depends on the length of its intervals, which the paper does not state. So one rate is also solved
 * with several lengths, in units of the mean batch: the time that 30 of the 600 sites need, with start-up. Every
 * solution is shown twice: as the MIP schedules it, and `packed`, the same batches without idle time at the ends
 * of intervals.
 *
 * Solutions are the rounded ones of the relaxed program, with their gap. HiGHS does not search further, because
 * its time limit would make the result depend on the machine.
 */

import { assert } from "../../base/assert.ts";
import { solveMip } from "../../solver/solve-mip.ts";
import { planCpq } from "../../plan/papers/cpq.ts";
import { planOptimal } from "../../plan/optimum/optimal.ts";
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
/** Length of an interval in mean batches; the MIP's default of 2n / m intervals is about half a batch. */
const LENGTH = 0.5;
const LENGTHS_MBPS = 8;
const LENGTHS = [0.25, 1.05, 1.5, 2];
/** Time limit that is never reached, so that no result depends on the machine. */
const SOLVER_SECONDS_MAX = 600;

interface Variant {
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

interface Found extends Variant, Compared {}

export const allocationBatches: Experiment = {
  name: "allocation-batches",
  paper: `${PAPER}, Figures 10 and 11`,
  about:
    "600 sites and 30 crawlers at several rates: the sum of finish times and the end with CPQ, with the mixed integer program (also with several interval lengths), and with Weir's planner. Takes about half a minute per world.",
  parameters: { ...MANY, dueShare: rounded(MANY.dueShare, 3) },
  async run(options) {
    const variants: Variant[] = [
      ...RATES_MBPS.map((mbps) => ({ mbps, length: LENGTH })),
      ...LENGTHS.map((length) => ({ mbps: LENGTHS_MBPS, length })),
    ];
    const found: Found[] = [];
    for (const variant of variants) {
      const worlds = await inEveryWorld(options, (seed) => inOneWorld(seed, variant));
      found.push({ ...variant, ...meanCompared(worlds) });
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

async function inOneWorld(seed: number, { mbps, length }: Variant): Promise<Compared> {
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
  assert(allocation.kind === "planned", "every planner can solve the scenario");
  return allocation.plan;
}

function figuresFor(task: PlanTask, plan: Plan): Figures {
  const { sumSeconds, maxSeconds, lateCount } = figuresOf(task, plan);
  return { sumSeconds, endSeconds: maxSeconds, late: lateCount };
}

/** Figures of the same batches, each started when the previous one is done, at the whole rate. */
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
