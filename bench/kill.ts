/**
 * Nothing lost: kills the real program with -9 during a crawl of a site whose truth is known, resumes
 * it after each with the same command, and compares everything with the truth.
 *
 * Usage: node bench/kill.ts [--kills 100] [--pages 20000] [--seed 1] [--keep DIR]
 *
 * Half of the kills come at any moment; the others at a commit, at a new archive file, or several in a
 * row while it starts (`test/crawl/kill-trial.ts`). Prints a table, then one line of JSON; ends with
 * 1 when a promise was broken.
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
console.log("life  ended by     requests  again  in flight   known   pages");
const report = await killTrial({
  seed: Number(values.seed),
  kills,
  pages: Number(values.pages),
  folder: join(folder, "out"),
  gracefulEvery: 10,
  variables: { NODE_COMPILE_CACHE: join(ROOT, "node_modules/.cache/compiled") },
  onLife: show,
});
const { lives, violations, result } = report;
const byAim: Record<string, number> = {};
for (const life of lives) if (life.wasKilled) byAim[life.how] = (byAim[life.how] ?? 0) + 1;
for (const { rule, detail } of violations.slice(0, 50)) console.log(`BROKEN ${rule}: ${detail}`);
if (values.keep === undefined) rmSync(folder, { recursive: true });
console.log(
  JSON.stringify({
    bench: "kill",
    seed: Number(values.seed),
    kills: lives.filter(({ wasKilled }) => wasKilled).length,
    killsByAim: byAim,
    pages: result?.pages,
    urls: result?.urls,
    requests: sum(lives, ({ requests }) => requests),
    askedAgain: sum(lives, ({ repeats }) => repeats),
    inFlightAtKills: sum(lives, ({ inFlight }) => inFlight),
    inFlightWorst: Math.max(...lives.map(({ inFlight }) => inFlight)),
    archiveFiles: report.archiveFiles,
    violations: violations.length,
    seconds: Math.round((performance.now() - startedAtMs) / 1000),
  }),
);
process.exitCode = violations.length === 0 && lives.length > kills ? 0 : 1;

function show(life: Life): void {
  const { number, how, wasKilled, requests, repeats, inFlight, known, pages } = life;
  const end = wasKilled || how === "Ctrl-C" || how === "to the end" ? how : `${how} (missed)`;
  const counts = [requests, repeats, inFlight, known, pages];
  const [asked, again, open, all, kept] = counts.map(String) as [
    string,
    string,
    string,
    string,
    string,
  ];
  console.log(
    `${String(number).padStart(4)}  ${end.padEnd(16)} ${asked.padStart(4)} ${again.padStart(6)} ${open.padStart(10)} ${all.padStart(7)} ${kept.padStart(7)}` +
      (life.violations.length > 0 ? `  ${life.violations.length} BROKEN` : ""),
  );
}

function sum(lives: readonly Life[], count: (life: Life) => number): number {
  return lives.reduce((total, life) => total + count(life), 0);
}
