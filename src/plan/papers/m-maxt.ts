/**
 * M-MAXT: constant rates for which the last site is done as early as constant rates allow.
 *
 * Algorithm 1 of Zhu, Li, Xu and Cui. Without deadlines every site gets v = D / t̄ with t̄ = ΣD / U, so
 * that all end together; a site whose deadline comes before t̄ gets D / t*, and t̄ is made anew of the
 * others and what is left. Fails when nothing is left while sites remain, when there are more sites than may
 * be crawled at once, or when a site would get less than the least rate. What it promises and costs is
 * in `constant-rates.ts`.
 */

import { planAtOnce } from "./constant-rates.ts";
import type { Allocation, PlanTask } from "../plan.ts";

export function planMMaxt(task: PlanTask): Allocation {
  return planAtOnce(task, (bytes) => bytes);
}
