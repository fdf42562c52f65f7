/**
 * Nothing lost: kills the real program with -9 during a crawl of a site whose truth is known, resumes
 * it after each with the same command, and compares everything with the truth.
 *
 * Usage: node bench/kill.ts [--kills 100] [--pages 20000] [--seed 1] [--keep DIR]
 *
 * Half of the kills come at any moment; the others at a commit, at a new archive file, or several in a
 * row while it starts (`test/crawl/kill-trial.ts`). Tells of every life on standard error; prints a
 * table of them by the way they ended, every promise broken, and one line of JSON. Ends with 1 when
 * a promise was broken.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ROOT } from "../test/cli/program.ts";
import { killTrial, type Life } from "../test/crawl/kill-trial.ts";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "100" },
    pages: { type: "string", default: "20000" },
    seed: { type: "string", default: "1" },
    keep: { type: "string" },
  },
});
const kills = Number(values.kills);
const folder = values.keep ?? mkdtempSync(join(tmpdir(), "weir-kills-"));
const startedAtMs = performance.now();
console.error("life  ended by         requests  again  in flight   known   pages");
const report = await killTrial({
  seed: Number(values.seed),
  kills,
  pages: Number(values.pages),
  folder: join(folder, "out"),
  gracefulEvery: 10,
  variables: { NODE_COMPILE_CACHE: join(ROOT, "node_modules/.cache/compiled") },
  onLife: showLife,
});
if (values.keep === undefined) rmSync(folder, { recursive: true });
const { lives, violations, result } = report;
const figures = {
  kills: lives.filter(({ wasKilled }) => wasKilled).length,
  known: result?.urls.known ?? 0,
  pages: result?.pages ?? 0,
  requests: sum(lives, ({ requests }) => requests),
  inFlightAtKills: sum(lives, ({ inFlight }) => inFlight),
  askedAgain: sum(lives, ({ repeats }) => repeats),
  archiveFiles: report.archiveFiles,
  violations: violations.length,
  seconds: Math.round((performance.now() - startedAtMs) / 1000),
};
showSummary();
console.log(JSON.stringify({ bench: "kill", seed: Number(values.seed), ...figures }));
process.exitCode = violations.length === 0 && figures.kills === kills ? 0 : 1;

function showLife(life: Life): void {
  const { number, how, wasKilled, requests, repeats, inFlight, known, pages } = life;
  const isMissed = !wasKilled && how !== "Ctrl-C" && how !== "to the end";
  const broken = life.violations.length > 0 ? `  ${life.violations.length} BROKEN` : "";
  console.error(
    line([
      [number, 4],
      [isMissed ? `${how} (missed)` : how, -18],
      ...[requests, repeats, inFlight, known, pages].map((count) => [count, 8] as const),
    ]) + broken,
  );
}

function showSummary(): void {
  console.log(line([["ended by", -12], ...columns("lives", "requests", "in flight", "worst")]));
  for (const [how, same] of Map.groupBy(lives, (life) => life.how)) {
    const worst = Math.max(...same.map(({ inFlight }) => inFlight));
    const requests = sum(same, (life) => life.requests);
    const inFlight = sum(same, (life) => life.inFlight);
    console.log(line([[how, -12], ...columns(same.length, requests, inFlight, worst)]));
  }
  const { known, pages, askedAgain, inFlightAtKills } = figures;
  console.log(`in flight when it died: ${inFlightAtKills}, asked for a second time: ${askedAgain}`);
  console.log(
    `known in the end: ${known}, pages kept: ${pages}, promises broken: ${violations.length}`,
  );
  for (const { rule, detail } of violations.slice(0, 50)) console.log(`BROKEN ${rule}: ${detail}`);
}

function columns(...cells: readonly (string | number)[]): [string | number, number][] {
  return cells.map((cell) => [cell, 10]);
}

/** Cells with their widths; below zero they stand on the left. */
function line(cells: readonly (readonly [cell: string | number, width: number])[]): string {
  return cells
    .map(([cell, width]) =>
      width < 0 ? String(cell).padEnd(-width) : String(cell).padStart(width),
    )
    .join(" ");
}

function sum(lives: readonly Life[], count: (life: Life) => number): number {
  return lives.reduce((total, life) => total + count(life), 0);
}
