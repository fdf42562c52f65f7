/**
 * M-SUMT: constant rates with the least sum of finish times that constant rates allow.
 *
 * Algorithm 2 of Zhu, Li, Xu and Cui. By the inequality of Cauchy Σ D/v is least when D / v² is the same
 * for all, v = U·√D / Σ√D (their equation 5); a site that would be late with this gets D / t*, and the
 * others divide the rest by the same rule. Fails as M-MAXT does. *Erratum:* line 12 of the algorithm tests
 * t ≠ 0 where it must be t* ≠ 0: a site without a deadline is never late. What it promises and costs is in
 * `constant-rates.ts`.
 */

import { planAtOnce } from "./constant-rates.ts";
import type { Allocation, PlanTask } from "../plan.ts";

export function planMSumt(task: PlanTask): Allocation {
  return planAtOnce(task, Math.sqrt);
}
