/**
 * The cells of the wire benchmark in virtual time: limits, page sizes and servers, and the mean and the worst second
 * of each. `node test/sim/limit-cells.ts [PART OF A NAME]` prints the table.
 *
 * Cells with many pages a second, and those of 50 MB/s, are left out, because they take long to simulate.
 */

import type { Settings } from "../../src/config/schema.ts";
import { crawlQueue, type QueuePlan } from "../../src/lab/experiments/queue-crawl.ts";
import { windowsOf } from "../../src/lab/sim-wire.ts";
import { type MixName, PAGE_MIXES } from "../../src/lab/world/mixes.ts";
import type { WorldPlan } from "../../src/lab/world/plan.ts";

export interface Cell {
  readonly name: string;
  readonly limitBps: number;
  readonly plan: QueuePlan;
}

export interface CellFigures {
  readonly meanShare: number;
  readonly worstShare: number;
  readonly deviationShare: number;
}

type ServerKind = "fast" | "spread" | "slow";

const SITES = 50;
/** As in the benchmark: the start is judged by its own test. */
const WARM_UP_SECONDS = 4;
const SECONDS = 10;
const PAGES_PER_SECOND_MAX = 200;
const MEAN_BYTES: Readonly<Record<MixName, number>> = {
  small: 8_000,
  docs: 40_000,
  mixed: 400_000,
  large: 1_800_000,
};
const MIXES = Object.keys(MEAN_BYTES) as MixName[];
const TLS_BYTES = 4_000;
const OVERHEAD_SHARE = 0.07;

export function limitCells(): Cell[] {
  const cells: Cell[] = [];
  for (const limitBps of [50e3, 100e3, 1e6, 10e6])
    for (const mix of MIXES)
      for (const servers of ["fast", "spread", "slow"] as const) {
        const pages = limitBps / MEAN_BYTES[mix];
        if (pages > PAGES_PER_SECOND_MAX || pages < 0.05) continue;
        cells.push(cellOf(`${mix}/${servers}`, limitBps, { mix, servers }));
      }
  for (const limitBps of [100e3, 1e6])
    for (const mix of ["small", "mixed"] as const)
      for (const servers of ["fast", "slow"] as const) {
        const what = { mix, servers };
        cells.push(cellOf(`tls ${mix}/${servers}`, limitBps, what, { handshakeBytes: TLS_BYTES }));
        const counted = { handshakeBytes: TLS_BYTES, countedShare: OVERHEAD_SHARE };
        cells.push(cellOf(`counted ${mix}/${servers}`, limitBps, what, counted));
      }
  for (const mix of ["small", "docs", "mixed"] as const) {
    cells.push(cellOf(`late ${mix}`, 333e3, { mix, servers: "fast" }, { bodyMsMax: 1500 }));
    cells.push(cellOf(`bursting ${mix}`, 300e3, { mix, servers: "fast" }, { burstEveryMs: 2000 }));
  }
  return cells;
}

function cellOf(
  kind: string,
  limitBps: number,
  { mix, servers }: { readonly mix: MixName; readonly servers: ServerKind },
  more: Partial<QueuePlan> = {},
): Cell {
  const pages = ((WARM_UP_SECONDS + SECONDS) * limitBps) / MEAN_BYTES[mix];
  const settings: Partial<Settings> = {
    limitBps,
    bodyBytesMax: 32_000_000,
    concurrencyPerSite: 16,
    connectionsMax: 1024,
  };
  const world = { siteCount: SITES, ...PAGE_MIXES[mix], ...serversOf(servers, limitBps) };
  return {
    name: `${limitBps / 1000} KB/s ${kind}`,
    limitBps,
    plan: {
      seed: 1,
      queue: "sites",
      world,
      settings,
      pagesPerSite: Math.ceil((3 * pages) / SITES) + 60,
      warmUpSeconds: WARM_UP_SECONDS,
      seconds: SECONDS,
      ...more,
    },
  };
}

function serversOf(kind: ServerKind, limitBps: number): Partial<WorldPlan> {
  const near = { latencyMsMin: 1, latencyMsMax: 20 };
  const fast = { ...near, speedBpsMin: 10 * limitBps, speedBpsMax: 10 * limitBps };
  if (kind === "fast") return fast;
  if (kind === "slow") return { ...fast, thinkMsMin: 200, thinkMsMax: 3_000 };
  return { ...near, speedBpsMin: limitBps / 33, speedBpsMax: 3 * limitBps };
}

export async function runCell({ plan, limitBps }: Cell, seed: number): Promise<CellFigures> {
  const { tenths } = await crawlQueue({ ...plan, seed });
  const shares = windowsOf(tenths).map((bytes) => bytes / limitBps);
  const meanShare = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  const variance = shares.reduce((sum, share) => sum + (share - meanShare) ** 2, 0) / shares.length;
  return { meanShare, worstShare: Math.max(...shares), deviationShare: Math.sqrt(variance) };
}

async function printTable(part: string, seeds: number): Promise<void> {
  const all: CellFigures[] = [];
  for (const cell of limitCells()) {
    if (!new RegExp(part).test(cell.name)) continue;
    const startedMs = process.cpuUsage().user / 1000;
    const runs: CellFigures[] = [];
    for (let seed = 1; seed <= seeds; seed++) runs.push(await runCell(cell, seed));
    all.push(...runs);
    const mean = runs.reduce((sum, run) => sum + run.meanShare, 0) / seeds;
    const worst = Math.max(...runs.map((run) => run.worstShare));
    const deviation = Math.max(...runs.map((run) => run.deviationShare));
    const figures = [mean, worst, deviation].map((share) => share.toFixed(3)).join("  ");
    const tookMs = Math.round(process.cpuUsage().user / 1000 - startedMs);
    console.log(`${cell.name.padEnd(32)} ${figures}  ${tookMs} ms`);
  }
  const meanOf = (key: keyof CellFigures): number =>
    all.reduce((sum, run) => sum + run[key], 0) / all.length;
  const over = all.filter(({ worstShare }) => worstShare > 1.05).length;
  console.log(
    `${all.length} runs: mean ${meanOf("meanShare").toFixed(4)}, mean worst ${meanOf("worstShare").toFixed(4)},` +
      ` over 105 %: ${over}, mean below 97 %: ${all.filter(({ meanShare }) => meanShare < 0.97).length}`,
  );
}

if (import.meta.main) await printTable(process.argv[2] ?? "", Number(process.argv[3] ?? 1));
