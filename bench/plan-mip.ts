/**
 * How long the mixed integer program of 600 sites and 30 crawlers takes, how near to its bound the answer
 * is, and how much of that the thread that asks is busy with; then what HiGHS finds by itself, without
 * our rounding.
 *
 * Usage: node bench/plan-mip.ts [--seeds N] [--seconds N] [--alone]
 */

import { parseArgs } from "node:util";
import loadHighs from "highs";
import { solveMip } from "../src/solver/solve-mip.ts";
import { manySites } from "../src/lab/experiments/allocation-tasks.ts";
import { matrixOf, mipModel } from "../src/plan/papers/mip.ts";
import { auditPlan } from "../src/plan/plan-audit.suite.ts";
import { figuresOf } from "../src/plan/plan.ts";

const RATES_MBPS = [6, 8, 10];
const GAP_MAX = 0.01;

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "3" },
    seconds: { type: "string", default: "60" },
    alone: { type: "boolean", default: false },
  },
});
const secondsMax = Number(values.seconds);

console.log("seed  MB/s  seconds  gap %   Σt        late  CPU ms of who asks");
for (let seed = 1; seed <= Number(values.seeds); seed++)
  for (const mbps of RATES_MBPS) await measure(seed, mbps);
if (values.alone) await alone();

async function measure(seed, mbps) {
  const task = manySites(seed, mbps * 1e6);
  const cpu = process.threadCpuUsage();
  const startedMs = performance.now();
  const { allocation, gap } = await solveMip(task, { secondsMax, gapMax: GAP_MAX });
  const seconds = (performance.now() - startedMs) / 1000;
  const { user, system } = process.threadCpuUsage(cpu);
  if (allocation.kind === "impossible") throw new Error(allocation.why);
  const breaches = auditPlan(task, allocation.plan);
  if (breaches.length > 0) throw new Error(breaches.join("\n"));
  const { sumSeconds, lateCount } = figuresOf(task, allocation.plan);
  const cells = [seed, mbps, seconds.toFixed(1), (100 * gap).toFixed(2), Math.round(sumSeconds)];
  console.log([...cells, lateCount, ((user + system) / 1000).toFixed(0)].join("\t"));
}

/** The same program, searched by HiGHS from nothing. */
async function alone() {
  const highs = await loadHighs();
  const question = mipModel(manySites(1, 8e6));
  if (question.kind === "impossible") throw new Error(question.why);
  const { costs, starts, rows, values: entries, rowLower, rowUpper } = matrixOf(question.model);
  const [numCols, numRows] = [costs.length, rowLower.length];
  const matrix = { format: "csc", numCols, numRows, starts, indices: rows, values: entries };
  const startedMs = performance.now();
  highs.withModel(
    {
      numCols,
      numRows,
      colCost: costs,
      colLower: new Float64Array(numCols),
      colUpper: new Float64Array(numCols).fill(1),
      rowLower,
      rowUpper,
      matrix,
      integrality: new Int32Array(numCols).fill(1),
    },
    (program) => {
      program.options.set({ output_flag: false, time_limit: secondsMax, mip_rel_gap: GAP_MAX });
      program.run();
      const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
      const gap = program.info.get("mip_gap");
      console.log(
        `HiGHS alone, seed 1, 8 MB/s, ${numCols} columns: ${seconds} s, gap ${(100 * gap).toFixed(2)} %`,
      );
    },
  );
}
