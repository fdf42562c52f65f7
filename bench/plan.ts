/**
 * How good and how fast plans are.
 *
 * Usage: node bench/plan.ts [gaps|batches|speed]...
 *
 * `gaps`: 500 random tasks with caps (described in `src/plan/capped-task.suite.ts`), 20 to 200 sites, half of
 * them with caps from 2 % to 60 % of the rate and half from 10 % to all of it, every third weighted: how far the
 * sum of finishes is above the lower bound; then the same with deadlines for half of the sites.
 * `batches`: 600 sites, 30 at a time, as in the paper's Figures 10 and 11, against CPQ.
 * `speed`: 600 and 100,000 sites; the CPU time of all threads for a plan, the mean of several.
 */

import { manySites } from "../src/lab/experiments/allocation-tasks.ts";
import { cappedTask, type Wishes } from "../src/plan/capped-task.suite.ts";
import { planCpq } from "../src/plan/papers/cpq.ts";
import { planOptimal, sumBoundOf } from "../src/plan/optimum/optimal.ts";
import { auditPlan } from "../src/plan/plan-audit.suite.ts";
import { figuresOf, OBJECTIVES, type PlanTask } from "../src/plan/plan.ts";
import { promisesOf } from "../src/plan/promise/promises.ts";

const TASKS = 500;
const NARROW = [0.02, 0.6] as const;
const WIDE = [0.1, 1] as const;

function gaps(): void {
  console.log(
    "| sites | deadlines | tasks | late | mean gap | worst gap |\n|---|---|--:|--:|--:|--:|",
  );
  for (const dated of [0, 0.5]) {
    const found: { readonly count: number; readonly gap: number; readonly late: number }[] = [];
    for (let seed = 1; seed <= TASKS; seed++) {
      const count = 20 + ((seed * 37) % 181);
      const caps = seed % 2 === 0 ? NARROW : WIDE;
      const task = cappedTask(seed, { count, caps, dated, weighted: seed % 3 === 0 });
      const planned = planOptimal(task, "min-sum");
      const { plan, late } = planned;
      const breaches = auditPlan(task, plan);
      if (breaches.length > 0) throw new Error(`seed ${seed}: ${breaches.join("; ")}`);
      const gap = figuresOf(task, plan).weightedSumSeconds / sumBoundOf(task, planned) - 1;
      found.push({ count, gap, late: late.length });
    }
    for (const [from, to] of [
      [20, 200],
      [20, 49],
      [50, 99],
      [100, 200],
    ] as const) {
      const some = found.filter(({ count }) => count >= from && count <= to);
      const mean = some.reduce((sum, { gap }) => sum + gap, 0) / some.length;
      const worst = Math.max(...some.map(({ gap }) => gap));
      const late = some.filter((one) => one.late > 0).length;
      console.log(
        `| ${from}–${to} | ${dated === 0 ? "none" : "half"} | ${some.length} | ${late} | ${percent(mean)} | ${percent(worst)} |`,
      );
    }
  }
}

function batches(): void {
  console.log(
    "| rate MB/s | Σt CPQ | Σt optimal | below | end CPQ | end optimal | late CPQ | late optimal | gap |",
  );
  console.log("|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
  for (const mbps of [6, 7, 8, 9, 10]) {
    const task = manySites(1, mbps * 1e6);
    const cpq = planCpq(task);
    if (cpq.kind === "impossible") throw new Error(cpq.why);
    const theirs = figuresOf(task, cpq.plan);
    const planned = planOptimal(task, "min-sum");
    const ours = figuresOf(task, planned.plan);
    const below = 1 - ours.sumSeconds / theirs.sumSeconds;
    const gap = ours.weightedSumSeconds / sumBoundOf(task, planned) - 1;
    console.log(
      `| ${mbps} | ${theirs.sumSeconds.toFixed(0)} | ${ours.sumSeconds.toFixed(0)} | ${percent(below)} | ${theirs.maxSeconds.toFixed(1)} | ${ours.maxSeconds.toFixed(1)} | ${theirs.lateCount} | ${ours.lateCount} | ${percent(gap)} |`,
    );
  }
}

const SPEEDS: readonly (readonly [what: string, Wishes])[] = [
  ["caps", { count: 0, caps: NARROW, weighted: true }],
  ["caps, half dated", { count: 0, caps: NARROW, weighted: true, dated: 0.5 }],
  ["caps, all dated", { count: 0, caps: NARROW, weighted: true, dated: 1 }],
  ["half dated, too tight", { count: 0, caps: NARROW, weighted: true, dated: 0.5, tight: 0.6 }],
  ["all dated, too tight", { count: 0, caps: NARROW, weighted: true, dated: 1, tight: 0.6 }],
  ["no caps, half dated", { count: 0, dated: 0.5 }],
];

function speed(): void {
  console.log("| sites | task | objective | CPU ms | gap | late |\n|--:|---|---|--:|--:|--:|");
  for (const [count, times] of [
    [600, 60],
    [100_000, 6],
  ] as const)
    for (const [what, wishes] of SPEEDS)
      for (const objective of OBJECTIVES) {
        const task = manyCapped({ ...wishes, count });
        let planned = planOptimal(task, objective);
        for (let time = 0; time < times; time++) planned = planOptimal(task, objective);
        const before = process.cpuUsage();
        for (let time = 0; time < times; time++) planned = planOptimal(task, objective);
        const { user, system } = process.cpuUsage(before);
        const { weightedSumSeconds, lateCount } = figuresOf(task, planned.plan);
        const gap = weightedSumSeconds / sumBoundOf(task, planned) - 1;
        const cpuMs = (user + system) / 1000 / times;
        console.log(
          `| ${count} | ${what} | ${objective} | ${cpuMs.toFixed(1)} | ${percent(gap)} | ${lateCount} |`,
        );
      }
  const task = manyCapped({ count: 10_000, caps: NARROW, dated: 0.5 });
  const before = process.cpuUsage();
  promisesOf(task);
  const { user, system } = process.cpuUsage(before);
  console.log(
    `\nWhat can be promised, of 10,000 sites: ${((user + system) / 1000).toFixed(0)} ms of CPU time.`,
  );
}

/** Caps grow smaller with the number of sites: about as many run at the same time. */
function manyCapped(wishes: Wishes): PlanTask {
  const caps = wishes.caps?.map((share) => share * Math.min(1, 600 / wishes.count)) as [
    number,
    number,
  ];
  return cappedTask(1, { ...wishes, ...(wishes.caps !== undefined && { caps }) });
}

function percent(share: number): string {
  return `${(100 * share).toFixed(2)} %`;
}

const PARTS: Readonly<Record<string, () => void>> = {
  gaps,
  batches,
  speed,
};
const asked = process.argv.slice(2);
for (const part of asked.length > 0 ? asked : Object.keys(PARTS)) {
  console.log(`\n### ${part}\n`);
  const run = PARTS[part];
  if (run === undefined)
    throw new Error(`no part ${part}; there are ${Object.keys(PARTS).join(", ")}`);
  run();
}
