/**
 * Answers the paper's mixed integer program (`plan/papers/mip.ts`) with HiGHS, in a thread of its own, so that
 * whoever asks never waits for it: a crawl goes on meanwhile.
 *
 * Promise: ends within the time it is given, loading aside, with a plan and how far that is from what
 * could not be beaten, or with the reason why there is none. Why HiGHS: decision 010.
 */

import { Worker } from "node:worker_threads";
import {
  mipModel,
  type MipModel,
  type MipOptions,
  planOfIntervals,
} from "../../plan/papers/mip.ts";
import type { Allocation, PlanTask } from "../../plan/plan.ts";
import type { SolverAnswer, SolverQuestion } from "./mip-thread.ts";

export interface SolverOptions extends MipOptions {
  readonly secondsMax: number;
  /** How far from its bound an answer may be to be good enough; a hundredth unless said otherwise. */
  readonly gapMax?: number | undefined;
}

export interface Solved {
  readonly allocation: Allocation;
  /** t_f, as it was given or chosen; undefined where the task has no program. */
  readonly intervalSeconds: number | undefined;
  /** Σt of the plan, what no other answer to the program is below, and how far apart they are. */
  readonly sumSeconds: number | undefined;
  readonly boundSeconds: number | undefined;
  readonly gap: number | undefined;
}

const GAP_MAX = 0.01;
/** To no sites. */
const NOTHING: SolverAnswer = { kind: "answer", intervalOf: [], sum: 0, bound: 0 };
/** To load the solver and to hear of the end of its time. */
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

/** Built and unbuilt, the thread's file stands beside this one and ends as it does. */
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
