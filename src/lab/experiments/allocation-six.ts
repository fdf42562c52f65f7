/**
 * Figures 4 to 9 of the paper on allocation: M-MAXT, M-SUMT and Weir's planner on six concurrent sites, by the
 * last finish time and by the sum of finish times.
 *
 * Three experiments vary the rate, the sizes, or the rigour of the deadlines.
 */

import { assert } from "../../base/assert.ts";
import { planMMaxt, planMSumt } from "../../plan/papers/constant-rates.ts";
import { planOptimal } from "../../plan/optimum/optimal.ts";
import { type Allocation, figuresOf, type PlanFigures, type PlanTask } from "../../plan/plan.ts";
import { KBPS, PAPER, SIX, sixSites, type SixSitesOptions } from "./allocation-tasks.ts";
import {
  type Axis,
  type Experiment,
  type Findings,
  inEveryWorld,
  meanOf,
  type Plot,
  type Row,
  rounded,
} from "./experiment.ts";

const RATES_KBPS = [800, 900, 1000, 1100];
const RATE_BPS = 1000 * KBPS;
const SIZES_MB = [40, 60, 80, 100];
const RIGOURS = [0.2, 0.4, 0.6, 0.8];
/** Deadlines that need 0.4 of the lowest rate, so that every rate can meet them. */
const RIGOUR_BPS = 0.4 * 800 * KBPS;
const PARAMETERS = {
  sites: SIX.sites,
  sitesDue: SIX.sitesDue,
  bytesMin: SIX.bytesMin,
  bytesMax: SIX.bytesMax,
} as const;

interface Variation {
  /** Column of the table with the varied parameter. */
  readonly column: string;
  readonly axis: Axis;
  readonly values: readonly number[];
  readonly taskFor: (value: number) => Omit<SixSitesOptions, "seed">;
  readonly figures: readonly [max: string, sum: string];
}

export const allocationBandwidth: Experiment = {
  name: "allocation-bandwidth",
  paper: `${PAPER}, Figures 4 and 5`,
  about:
    "Six sites crawled concurrently at several rates: the last finish time and the sum of finish times, with M-MAXT, with M-SUMT and with Weir's planner.",
  parameters: { ...PARAMETERS, rigourBps: RIGOUR_BPS },
  run: (options) =>
    compare("allocation-bandwidth", options, {
      column: "rateKbps",
      axis: { label: "rate", unit: "kbit/s" },
      values: RATES_KBPS,
      taskFor: (kbps) => ({ rateBps: kbps * KBPS, rigourBps: RIGOUR_BPS }),
      figures: ["Figure 4", "Figure 5"],
    }),
};

export const allocationSize: Experiment = {
  name: "allocation-size",
  paper: `${PAPER}, Figures 6 and 7`,
  about: "Like allocation-bandwidth, with one rate and growing sizes.",
  parameters: { ...PARAMETERS, rateBps: RATE_BPS, rigourBps: RIGOUR_BPS },
  run: (options) =>
    compare("allocation-size", options, {
      column: "megabytes",
      axis: { label: "all sites together", unit: "MB" },
      values: SIZES_MB,
      taskFor: (size) => ({ rateBps: RATE_BPS, rigourBps: RIGOUR_BPS, bytes: size * 1e6 }),
      figures: ["Figure 6", "Figure 7"],
    }),
};

export const allocationRigour: Experiment = {
  name: "allocation-rigour",
  paper: `${PAPER}, Figures 8 and 9`,
  about:
    "Like allocation-bandwidth, with one rate and deadlines of growing rigour: the constant rates they need, Σ D/t*, as a share of the rate.",
  parameters: { ...PARAMETERS, rateBps: RATE_BPS },
  run: (options) =>
    compare("allocation-rigour", options, {
      column: "rigour",
      axis: { label: "rigour Σ D/t* as a share of the rate", unit: "" },
      values: RIGOURS,
      taskFor: (rigour) => ({ rateBps: RATE_BPS, rigourBps: rigour * RATE_BPS }),
      figures: ["Figure 8", "Figure 9"],
    }),
};

interface Compared {
  readonly value: number;
  readonly mMaxt: PlanFigures;
  readonly mSumt: PlanFigures;
  readonly optimal: PlanFigures;
}

async function compare(
  name: string,
  options: Parameters<Experiment["run"]>[0],
  { column, axis, values, taskFor, figures }: Variation,
): Promise<Findings> {
  const found: Compared[] = [];
  for (const value of values) {
    const worlds = await inEveryWorld(options, async (seed) =>
      inOneWorld(sixSites({ seed, ...taskFor(value) })),
    );
    found.push({
      value,
      mMaxt: meanFigures(worlds.map(({ mMaxt }) => mMaxt)),
      mSumt: meanFigures(worlds.map(({ mSumt }) => mSumt)),
      optimal: meanFigures(worlds.map(({ optimal }) => optimal)),
    });
  }
  const [max, sum] = figures;
  const plots = [
    plotOf(
      { name: `${name}-max`, title: `The last site is done (${max})`, axis },
      found,
      "maxSeconds",
    ),
    plotOf(
      { name: `${name}-sum`, title: `Sum of finish times (${sum})`, axis },
      found,
      "sumSeconds",
    ),
  ];
  return { rows: found.map((one) => rowOf(column, one)), plots };
}

function inOneWorld(task: PlanTask): Omit<Compared, "value"> {
  return {
    mMaxt: figuresFor(task, planMMaxt(task)),
    mSumt: figuresFor(task, planMSumt(task)),
    optimal: figuresOf(task, planOptimal(task, "min-sum").plan),
  };
}

function figuresFor(task: PlanTask, allocation: Allocation): PlanFigures {
  assert(allocation.kind === "planned", "constant rates can meet the deadlines");
  return figuresOf(task, allocation.plan);
}

function meanFigures(all: readonly PlanFigures[]): PlanFigures {
  return {
    maxSeconds: meanOf(all.map(({ maxSeconds }) => maxSeconds)),
    sumSeconds: meanOf(all.map(({ sumSeconds }) => sumSeconds)),
    weightedSumSeconds: meanOf(all.map(({ weightedSumSeconds }) => weightedSumSeconds)),
    lateCount: meanOf(all.map(({ lateCount }) => lateCount)),
  };
}

function rowOf(column: string, { value, mMaxt, mSumt, optimal }: Compared): Row {
  return {
    [column]: value,
    maxSecondsMMaxt: rounded(mMaxt.maxSeconds, 1),
    maxSecondsMSumt: rounded(mSumt.maxSeconds, 1),
    maxSecondsOptimal: rounded(optimal.maxSeconds, 1),
    maxApart: rounded(mSumt.maxSeconds - mMaxt.maxSeconds, 1),
    sumSecondsMMaxt: rounded(mMaxt.sumSeconds, 1),
    sumSecondsMSumt: rounded(mSumt.sumSeconds, 1),
    sumSecondsOptimal: rounded(optimal.sumSeconds, 1),
    sumApart: rounded(mMaxt.sumSeconds - mSumt.sumSeconds, 1),
    lateOptimal: rounded(optimal.lateCount, 2),
  };
}

function plotOf(
  { name, title, axis }: { readonly name: string; readonly title: string; readonly axis: Axis },
  found: readonly Compared[],
  figure: "maxSeconds" | "sumSeconds",
): Plot {
  const line = (label: string, of: Exclude<keyof Compared, "value">): Plot["lines"][number] => ({
    name: label,
    kind: of === "optimal" ? "dotted" : "solid",
    points: found.map((one) => [one.value, one[of][figure]] as const),
  });
  return {
    name,
    title,
    x: axis,
    y: { label: figure === "maxSeconds" ? "last finish" : "sum of finish times", unit: "s" },
    lines: [line("M-MAXT", "mMaxt"), line("M-SUMT", "mSumt"), line("optimal", "optimal")],
  };
}
