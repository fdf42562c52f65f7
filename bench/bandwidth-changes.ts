/** A limit made four times larger in mid-crawl, and smaller again: how soon the line shows it. */

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";
import { type Contender, limitText, weirFolder } from "./bandwidth-contenders.ts";
import { type Bench, type Case, type Run, runCase } from "./bandwidth-run.ts";
import { settledAfterMs } from "./bandwidth-windows.ts";

export interface Change {
  readonly fromBps: number;
  readonly toBps: number;
  /** From the start of the command; undefined: not before the next change. */
  readonly afterMs: number | undefined;
}

const FACTOR = 4;
const HOLD_S = 7;
/** What counts as the new rate: up to the goal for the worst second, down to three times σ. */
const BAND = { low: 0.91, high: 1.05 } as const;
const MAIN = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));

export async function changeMidway(
  bench: Bench,
  contender: Contender,
  { mix, servers, limitBps }: Pick<Case, "mix" | "servers"> & { limitBps: number },
): Promise<{ readonly run: Run; readonly changes: readonly Change[] }> {
  const changedAtMs: number[] = [];
  const rates = [limitBps, limitBps * FACTOR, limitBps];
  const run = await runCase(bench, contender, {
    mix,
    servers,
    limitBps,
    speedsForBps: limitBps * FACTOR,
    seconds: HOLD_S * rates.length,
    meanwhile: async (assignment) => {
      for (const rate of rates.slice(1)) {
        await sleep(HOLD_S * 1000);
        changedAtMs.push(Number(process.hrtime.bigint()) / 1e6);
        const words = [MAIN, "set", weirFolder(assignment), "limit", limitText(rate)];
        await promisify(execFile)(process.execPath, words);
      }
    },
  });
  const changes = changedAtMs.map((atMs, at) => {
    const untilMs = changedAtMs[at + 1] ?? Infinity;
    const windows = run.windows.filter((window) => window.atMs <= untilMs);
    const toBps = rates[at + 1] ?? 0;
    const band = { lowBps: toBps * BAND.low, highBps: toBps * BAND.high };
    return { fromBps: rates[at] ?? 0, toBps, afterMs: settledAfterMs(windows, atMs, band) };
  });
  return { run, changes };
}
