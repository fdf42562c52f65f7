/**
 * The thread that solves a mixed integer program with HiGHS; `solve-mip.ts` starts it and waits.
 *
 * First the relaxed program, in which a site may be divided between intervals: its solution takes
 * about a second, is a bound for whole sites, and shows if there is none at all. Then it is rounded
 * (`plan/papers/mip-rounding.ts`). Only if the gap is larger than wanted, HiGHS searches from the
 * rounded solution on, for the remaining time.
 */

import { parentPort, workerData } from "node:worker_threads";
import highsModule, { type Highs, type ModelData } from "highs";
import { assert } from "../base/assert.ts";
import { columnsOf, type MipModel, matrixOf, simpleBound } from "../plan/papers/mip.ts";
import { roundedIntervals } from "../plan/papers/mip-rounding.ts";

export interface SolverQuestion {
  readonly model: MipModel;
  readonly secondsMax: number;
  /** Gap to the bound, as a share of the sum, at which an answer is good enough. */
  readonly gapMax: number;
}

/** Sums count every site's interval from 1. */
export type SolverAnswer =
  | {
      readonly kind: "answer";
      readonly intervalOf: readonly number[];
      readonly sum: number;
      /** Lower bound of all sums. */
      readonly bound: number;
    }
  | WithoutAnswer;

type WithoutAnswer = { readonly kind: "none" } | { readonly kind: "unanswered" };

/** For a simple answer: about a second. */
const LOOKS_MAX = 500_000;
/** Rounding error of the solver: the sum is a whole number, so its bound is rounded up. */
const BOUND_ROUNDING = 1e-4;

// Its types describe the CommonJS version, where the loader is a property.
const loadHighs = highsModule as unknown as (typeof highsModule)["default"];
assert(parentPort !== null, "runs in a thread of its own");
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window
parentPort.postMessage(await answerTo(workerData as SolverQuestion));

async function answerTo(question: SolverQuestion): Promise<SolverAnswer> {
  const startedMs = performance.now();
  const highs = await loadHighs();
  const { model, secondsMax, gapMax } = question;
  const relaxed = relax(highs, question);
  if (relaxed.kind === "none") return relaxed;
  if (relaxed.kind === "unanswered") return simpleAnswer(model);
  const { bound, colValue } = relaxed;
  const rounded = roundedIntervals(model, colValue);
  if (rounded !== undefined && sumOf(rounded) - bound <= gapMax * sumOf(rounded))
    return { kind: "answer", intervalOf: rounded, sum: sumOf(rounded), bound };
  const secondsLeft = secondsMax - (performance.now() - startedMs) / 1000;
  return search(highs, { ...question, secondsMax: Math.max(1, secondsLeft) }, { rounded, bound });
}

type Relaxed = {
  readonly kind: "relaxed";
  readonly bound: number;
  readonly colValue: ArrayLike<number>;
};

function relax(highs: Highs, { model, secondsMax }: SolverQuestion): Relaxed | WithoutAnswer {
  const { optimal, infeasible } = highs.constants.modelStatus;
  return highs.withModel(programOf(model), (program): Relaxed | WithoutAnswer => {
    program.options.set({ output_flag: false, time_limit: secondsMax });
    const { modelStatus } = program.run();
    if (modelStatus === infeasible) return { kind: "none" };
    if (modelStatus !== optimal) return { kind: "unanswered" };
    const bound = Math.ceil(program.getObjectiveValue() - BOUND_ROUNDING);
    return { kind: "relaxed", bound, colValue: program.getSolution().colValue };
  });
}

/** Without time for a better one: rounds a solution in which no site has an interval. */
function simpleAnswer(model: MipModel): SolverAnswer {
  const intervalOf = roundedIntervals(model, new Float64Array(columnsOf(model.sites)), LOOKS_MAX);
  if (intervalOf === undefined) return { kind: "unanswered" };
  return { kind: "answer", intervalOf, sum: sumOf(intervalOf), bound: simpleBound(model) };
}

interface Known {
  readonly rounded: readonly number[] | undefined;
  readonly bound: number;
}

function search(highs: Highs, question: SolverQuestion, { rounded, bound }: Known): SolverAnswer {
  const { model, secondsMax, gapMax } = question;
  const { constants } = highs;
  const data = programOf(model);
  const integrality = new Int32Array(data.numCols).fill(constants.variableType.integer);
  return highs.withModel({ ...data, integrality }, (program): SolverAnswer => {
    program.options.set({ output_flag: false, time_limit: secondsMax, mip_rel_gap: gapMax });
    if (rounded !== undefined) program.setSolution(columnsFor(model, rounded));
    if (program.run().modelStatus === constants.modelStatus.infeasible) return { kind: "none" };
    const status = program.info.get("primal_solution_status");
    const hasFound = status === constants.solutionStatus.feasible;
    const found = hasFound ? intervalsFrom(model, program.getSolution().colValue) : rounded;
    if (found === undefined) return { kind: "unanswered" };
    const proven = Math.ceil(Number(program.info.get("mip_dual_bound")) - BOUND_ROUNDING);
    return { kind: "answer", intervalOf: found, sum: sumOf(found), bound: Math.max(bound, proven) };
  });
}

function programOf(model: MipModel): ModelData {
  const { costs, starts, rows, values, rowLower, rowUpper } = matrixOf(model);
  const [numCols, numRows] = [costs.length, rowLower.length];
  return {
    numCols,
    numRows,
    colCost: costs,
    colLower: new Float64Array(numCols),
    colUpper: new Float64Array(numCols).fill(1),
    rowLower,
    rowUpper,
    matrix: { format: "csc", numCols, numRows, starts, indices: rows, values },
  };
}

function columnsFor(
  { sites }: MipModel,
  intervalOf: readonly number[],
): { colValue: Float64Array } {
  const colValue = new Float64Array(columnsOf(sites));
  let first = 0;
  for (const [site, { intervals }] of sites.entries()) {
    colValue[first + (intervalOf[site] as number)] = 1;
    first += intervals;
  }
  return { colValue };
}

function intervalsFrom({ sites }: MipModel, colValue: ArrayLike<number>): number[] {
  let first = 0;
  return sites.map(({ intervals }) => {
    let best = 0;
    for (let interval = 1; interval < intervals; interval++)
      if ((colValue[first + interval] as number) > (colValue[first + best] as number))
        best = interval;
    first += intervals;
    return best;
  });
}

function sumOf(intervalOf: readonly number[]): number {
  return intervalOf.reduce((sum, interval) => sum + interval + 1, 0);
}
