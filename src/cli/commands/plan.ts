/** `weir plan`: when each site would be crawled, and which deadlines hold; nothing is fetched. */

import { Almanac } from "../../bandwidth/clock/day-kind.ts";
import { TimeZone } from "../../bandwidth/clock/local-time.ts";
import { showBytes } from "../../base/units.ts";
import { visible } from "../../base/visible.ts";
import type { FieldTable } from "../../config/field.ts";
import { publicHolidaysOf } from "../../config/holidays.ts";
import { checkPlanOrder, type Order } from "../../config/order.ts";
import { onOff, words as someWords } from "../../config/readers.ts";
import { PLANNING } from "../../config/deadlines.ts";
import { SETTINGS } from "../../config/schema.ts";
import { siteWishes } from "../../config/site-wishes.ts";
import { gatherSettings } from "../../config/sources.ts";
import { planPlot } from "../../report/plan-plot.ts";
import type { Verdict } from "../../plan/promise/certainty.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { Command } from "../help.ts";
import { atCrawlsRate, crawlsReserve } from "../plan-as-crawled.ts";
import { answerOf } from "../plan-answer.ts";
import { knowledgeOf } from "../plan-knowledge.ts";
import { planLines } from "../plan-lines.ts";
import { type PlanReport, planResult, reportedSites } from "../plan-result.ts";
import { planInput } from "../plan-task.ts";
import { paletteFor, sizeOf } from "../terminal.ts";
import { writeOut } from "../write-out.ts";

const COLUMNS_IN_PIPES = 120;
const ROWS_MAX = 60;

const FLAGS = {
  asCrawled: {
    key: "asCrawled",
    meaning:
      "Plan as a crawl does: subtract packet overhead from the limit and reserve time before deadlines.",
    fallback: "false",
    reader: onOff,
  },
  svgFile: {
    key: "svg",
    meaning: "Write the plan to this file as a picture too.",
    reader: someWords("FILE", "the name of a file"),
  },
} as const satisfies FieldTable;

const { configFile, outFolder, limitBps, limitAt, siteLimitBps, json, speedsFile } = SETTINGS;

export const command: Command = {
  run,
  page: {
    usage:
      "weir plan --config FILE [--objective min-sum|min-max] [--algorithm NAME] [--svg FILE] [--json]",
    about:
      "Previews when each site is crawled and at what rate, and which deadlines can be met. For missed deadlines it reports by how much, the least sufficient rate, and which single deadline to move. Nothing is fetched. Site sizes are `size` in the file, or those of an earlier crawl in the same folder; server rates are `cap`, or measured.",
    examples: [
      ["weir plan --config weir.yaml", "schedule and deadlines"],
      [
        "weir plan --config weir.yaml --limit 4MB/s --svg plan.svg",
        "with another limit, as a picture",
      ],
      ["weir plan --config weir.yaml --as-crawled", "expected finish times of a real crawl"],
      [
        "weir plan --config weir.yaml --algorithm cpq --json",
        "with a planner of Zhu et al., as JSON",
      ],
      [
        "weir plan --config weir.yaml --strict && weir crawl --config weir.yaml",
        "crawl only if all deadlines can be met",
      ],
    ],
    groups: {
      Plan: { configFile, outFolder, speedsFile, ...FLAGS, json },
      Rates: { limitBps, limitAt, siteLimitBps },
      Deadlines: PLANNING,
    },
    ending:
      "Sites in the file may have `size`, `pages`, `deadline`, `delay`, `priority`, `cap`, `efficiency` and `limit`. All settings of `weir crawl` are accepted. Exit codes: 0 planned; with --strict 1 if a deadline cannot be met, with --strict=sure also if one depends on an estimate; 2 wrong usage.",
  },
};

async function run(words: readonly string[]): Promise<ExitCode> {
  const gathered = await gatherSettings(words, process.env, FLAGS);
  const order = checkPlanOrder(gathered.settings, gathered);
  const { settings } = order;
  // Remarks are not part of the result.
  if (!settings.quiet)
    for (const remark of order.remarks) process.stderr.write(`${visible(remark, 500)}\n`);
  const report = await planned(order, gathered.more.asCrawled);
  const { svgFile } = gathered.more;
  if (svgFile !== undefined) draw(report, svgFile);
  if (settings.json) process.stdout.write(`${JSON.stringify(planResult(report))}\n`);
  else show(report, svgFile);
  return isRefused(report, settings.strict) ? EXIT.failed : EXIT.done;
}

/** As a crawl that is strict refuses to start. */
function isRefused({ input, answer }: PlanReport, strict: Order["settings"]["strict"]): boolean {
  if (strict === false) return false;
  const { plan, overCap, verdicts } = answer;
  const isLeftOut = input.sites.some((site) => site.leftOut !== undefined);
  const isWrong = (verdict: Verdict | undefined): boolean =>
    strict === "sure"
      ? verdict !== undefined && verdict.certainty !== "sure"
      : verdict?.certainty === "late";
  return isLeftOut || plan === undefined || overCap.length > 0 || verdicts.some(isWrong);
}

async function planned(order: Order, asCrawled: boolean): Promise<PlanReport> {
  const { settings, seeds } = order;
  const { algorithm, objective = "min-sum", holidays, timeZone } = settings;
  const isHoliday = holidays === undefined ? undefined : publicHolidaysOf(holidays);
  const moment = new Almanac(new TimeZone(timeZone), isHoliday).at(Date.now());
  const wishes = siteWishes(settings, seeds);
  const knowledge = await knowledgeOf(order, new Set(wishes.map(({ site }) => site)), moment);
  const asked = planInput(settings, wishes, knowledge, moment);
  const input = asCrawled ? atCrawlsRate(asked, settings) : asked;
  const servers = input.sites.flatMap(({ leftOut, server }) =>
    leftOut === undefined ? [server] : [],
  );
  const { task, isLineMeasured } = input;
  const evidence = {
    isLineMeasured,
    sites: input.sites.flatMap((site) => (site.leftOut === undefined ? [site.evidence] : [])),
  };
  const reserve = asCrawled ? crawlsReserve(input) : undefined;
  const answer = await answerOf({ task, reserve, servers, evidence, algorithm, objective });
  return { input, answer };
}

function show(report: PlanReport, svgFile: string | undefined): void {
  const { stdout } = process;
  const screen = {
    columns: stdout.isTTY ? sizeOf(stdout).columns : COLUMNS_IN_PIPES,
    rows: ROWS_MAX,
    palette: paletteFor(stdout, process.env),
  };
  const drawn = svgFile === undefined ? [] : ["", `${visible(svgFile, 300)} is written.`];
  stdout.write(`${[...planLines(report, screen), ...drawn].join("\n")}\n`);
}

function draw(report: PlanReport, file: string): void {
  const { algorithm, objective } = report.answer;
  const { rateBps } = report.input.task;
  const rows = reportedSites(report).flatMap(({ row }) => row ?? []);
  const title = `Plan for ${rows.length} sites at ${showBytes(rateBps)}/s (${algorithm}, ${objective})`;
  writeOut(file, `${planPlot({ title, rateBps, rows })}\n`);
}
