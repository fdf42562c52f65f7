/** The paper's planners by name, without the mixed integer program, which needs a solver (`solver/solve-mip.ts`). */

import { unreachable } from "../../base/assert.ts";
import type { Algorithm, Allocation, PlanTask } from "../plan.ts";
import { planMMaxt, planMSumt } from "./constant-rates.ts";
import { planCpq } from "./cpq.ts";

export function planByName(
  algorithm: Exclude<Algorithm, "optimal" | "mip">,
  task: PlanTask,
): Allocation {
  switch (algorithm) {
    case "m-maxt":
      return planMMaxt(task);
    case "m-sumt":
      return planMSumt(task);
    case "cpq":
      return planCpq(task);
    default:
      return unreachable(algorithm);
  }
}
