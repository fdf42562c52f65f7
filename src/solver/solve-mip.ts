/**
 * Solves the paper's mixed integer program (`plan/papers/mip.ts`) with HiGHS, in its own thread, so
 * that a crawl continues meanwhile.
 *
 * Promise: ends within the given time, without the loading, with a plan and its gap to the bound,
 * or with the reason why there is none. Why HiGHS: decision 010.
 */

import { Worker } from "node:worker_threads";
import { mipModel, type MipModel, type MipOptions, planOfIntervals } from "../plan/papers/mip.ts";
import type { Allocation, PlanTask } from "../plan/plan.ts";
import type { SolverAnswer, SolverQuestion } from "./mip-thread.ts";

interface SolverOptions extends MipOptions {
  readonly secondsMax: number;
  /** Gap to the bound at which an answer is good enough; a hundredth by default. */
  readonly gapMax?: number | undefined;
}

interface Solved {
  readonly allocation: Allocation;
  /** t_f, given or chosen; undefined where the task has no program. */
  readonly intervalSeconds: number | undefined;
  /** Σt of the plan, the bound below all answers to the program, and the gap between them. */
  readonly sumSeconds: number | undefined;
  readonly boundSeconds: number | undefined;
  readonly gap: number | undefined;
}

const GAP_MAX = 0.01;
/** The answer for no sites. */
const NOTHING: SolverAnswer = { kind: "answer", intervalOf: [], sum: 0, bound: 0 };
/** Time for loading the solver and for its last message. */
const GRACE_MS = 5000;

export async function solveMip(task: PlanTask, options: SolverOptions): Promise<Solved> {
  const question = mipModel(task, options);
  if (question.kind === "impossible") return withoutPlan(question.why, undefined);
  const { model } = question;
  const { secondsMax, gapMax = GAP_MAX } = options;
  const answer = model.sites.length === 0 ? NOTHING : await inThread({ model, secondsMax, gapMax });
  const { intervalSeconds } = model;
  if (answer.kind === "none") return withoutPlan(noneWhy(model), intervalSeconds);
  if (answer.kind === "unanswered")
    return withoutPlan(`the solver found no plan within ${secondsMax} s`, intervalSeconds);
  const { intervalOf, sum, bound } = answer;
  return {
    allocation: { kind: "planned", plan: planOfIntervals(task, model, intervalOf) },
    intervalSeconds,
    sumSeconds: sum * intervalSeconds,
    boundSeconds: bound * intervalSeconds,
    gap: sum === 0 ? 0 : (sum - bound) / sum,
  };
}

function withoutPlan(why: string, intervalSeconds: number | undefined): Solved {
  return {
    allocation: { kind: "impossible", why },
    intervalSeconds,
    sumSeconds: undefined,
    boundSeconds: undefined,
    gap: undefined,
  };
}

function noneWhy({ intervalSeconds, sitesMax }: MipModel): string {
  const seconds = Number(intervalSeconds.toPrecision(4));
  return `no division of the sites into intervals of ${seconds} s, ${sitesMax} in each at most, keeps the deadlines`;
}

/** In a build and in the sources, the thread's file is beside this one with the same extension. */
function inThread(question: SolverQuestion): Promise<SolverAnswer> {
  const ending = import.meta.url.slice(import.meta.url.lastIndexOf("."));
  const file = new URL(`./mip-thread${ending}`, import.meta.url);
  const { promise, resolve, reject } = Promise.withResolvers<SolverAnswer>();
  const worker = new Worker(file, { workerData: question });
  const overdue = setTimeout(
    () => {
      resolve({ kind: "unanswered" });
      void worker.terminate();
    },
    question.secondsMax * 1000 + GRACE_MS,
  );
  worker.once("message", resolve);
  worker.once("error", reject);
  return promise.finally(() => clearTimeout(overdue));
}
