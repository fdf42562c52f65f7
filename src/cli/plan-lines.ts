/**
 * A plan in words for users: what can be promised, when each site is crawled, and what would have
 * to change.
 *
 * A pure function of the plan and the screen. Rows are in the order of their ends; with very many
 * sites only some are shown, and the sentences describe all of them.
 */

import { unreachable } from "../base/assert.ts";
import { showBytes, showDuration } from "../base/units.ts";
import { visible } from "../base/visible.ts";
import type { Certainty, Estimate } from "../plan/promise/certainty.ts";
import type { PlanRow } from "../report/plan-rows.ts";
import { plural } from "./amounts.ts";
import type { Screen } from "./frame.ts";
import { wrapped } from "./help.ts";
import { ganttLines, shortName } from "./plan-gantt.ts";
import { gapOf, type PlanReport, type ReportedSite, reportedSites } from "./plan-result.ts";
import type { PlanInput } from "./plan-task.ts";
import { alignedTable, type Row } from "./row-table.ts";
import { fitted } from "./terminal.ts";

const SITES_LISTED = 10;
const MARKS: Readonly<Record<Certainty, string>> = {
  sure: "✓",
  likely: "✓?",
  unlikely: "✗?",
  late: "✗",
};
const NAME_CHARACTERS_MAX = 40;

type Planned = ReportedSite & { readonly row: PlanRow };

export function planLines(report: PlanReport, screen: Screen): string[] {
  const sites = reportedSites(report);
  const planned = sites
    .filter((site): site is Planned => site.row !== undefined)
    .toSorted((a, b) => a.row.finishSeconds - b.row.finishSeconds);
  const shown = planned.slice(0, screen.rows);
  const hidden = planned.length - shown.length;
  const { palette } = screen;
  return [
    ...tableLines(shown, screen),
    ...(hidden > 0 ? [palette.dim(`and ${plural(hidden, "site")} more; --json lists all`)] : []),
    ...(shown.length > 0 ? [""] : []),
    ...ganttLines(
      shown.map(({ row }) => row),
      screen,
    ),
    ...(shown.length > 0 ? [""] : []),
    ...sentences(report, sites, planned).flatMap((sentence) => indented(sentence, screen.columns)),
  ];
}

/** Indents a sentence that belongs to a list. */
function indented(sentence: string, columns: number): string[] {
  const text = sentence.trimStart();
  const indent = " ".repeat(sentence.length - text.length);
  return wrapped(text, columns - indent.length).map((line) => indent + line);
}

function tableLines(planned: readonly Planned[], { columns, palette }: Screen): string[] {
  if (planned.length === 0) return [];
  const hasBands = planned.some(({ row }) => row.band !== undefined);
  const hasDelays = planned.some(({ slots }) => slots.seconds > 0);
  const rows = planned.map((site) => tableRow(site, { hasBands, hasDelays }));
  const [head = "", ...lines] = fittingTable(rows, columns);
  return [
    palette.dim(fitted(head, columns)),
    ...lines.map((line, index) => {
      const isLate = planned[index]?.row.isLate === true;
      const cutLine = fitted(line, columns);
      return isLate ? cutLine.replace(/✗\??/, palette.bad) : cutLine.replace(/✓\??/, palette.good);
    }),
  ];
}

/** Leaves out whole columns from the right; half a size would be another size. */
function fittingTable(rows: readonly Row[], columns: number): string[] {
  const lines = alignedTable(rows).split("\n");
  const names = Object.keys(rows[0] ?? {});
  const fits = lines.every((line) => line.length <= columns);
  if (fits || names.length <= 2) return lines;
  return fittingTable(
    rows.map((row) => Object.fromEntries(Object.entries(row).slice(0, -1))),
    columns,
  );
}

/** The least important column is last, where narrow screens cut it off. */
function tableRow(
  { wish, bytes = 0, sizeFrom, pages = 0, pagesFrom, capBps, row, verdict }: Planned,
  { hasBands, hasDelays }: { readonly hasBands: boolean; readonly hasDelays: boolean },
): Row {
  const { deadlineSeconds, finishSeconds, band } = row;
  const first = row.segments[0];
  const nowBps = first !== undefined && first.fromSeconds === 0 ? first.rateBps : 0;
  return {
    site: visible(shortName(wish.site), NAME_CHARACTERS_MAX),
    kept: verdict === undefined ? "" : MARKS[verdict.certainty],
    "done after": seconds(finishSeconds),
    ...(hasBands
      ? {
          "5–95 %":
            band === undefined ? "" : `${seconds(band.p5Seconds)} – ${seconds(band.p95Seconds)}`,
        }
      : {}),
    deadline: deadlineSeconds === undefined ? "" : seconds(deadlineSeconds),
    "to spare": deadlineSeconds === undefined ? "" : margin(deadlineSeconds - finishSeconds),
    size: estimated(showBytes(bytes), sizeFrom === "pages"),
    ...(hasDelays ? { pages: estimated(pages.toLocaleString("en"), pagesFrom === "typical") } : {}),
    "rate now": nowBps === 0 ? "waits" : `${showBytes(nowBps)}/s`,
    cap: capBps === Infinity ? "" : `${showBytes(capBps)}/s`,
  };
}

/** Marks an estimate from pages of the typical size. */
function estimated(text: string, isEstimated: boolean): string {
  return isEstimated ? `≈ ${text}` : text;
}

function margin(spareSeconds: number): string {
  return spareSeconds < 0 ? `−${seconds(-spareSeconds)}` : seconds(spareSeconds);
}

function sentences(
  report: PlanReport,
  sites: readonly ReportedSite[],
  planned: readonly Planned[],
): string[] {
  return [
    ...promiseSentences(report, planned),
    ...estimateSentences(report, planned),
    ...sumSentences(report),
    ...rateSentences(report),
    ...typicalSentences(planned),
    ...leftOutSentences(sites),
  ];
}

/**
 * Which deadlines hold; if not all, by how much they are missed, the rate that would be enough, and
 * the deadline to move.
 */
function promiseSentences({ input, answer }: PlanReport, planned: readonly Planned[]): string[] {
  const { algorithm, why, promises } = answer;
  const { minimumRateBps, hopeless, easiestMove } = promises;
  const rate = `${showBytes(input.task.rateBps)}/s`;
  const dated = input.task.sites.filter((site) => site.deadlineSeconds !== undefined).length;
  if (why !== undefined)
    return [
      `${algorithm} has no plan: ${why}.`,
      ...(promises.feasible ? ["With --algorithm optimal every deadline can be kept."] : []),
    ];
  if (input.task.sites.length === 0) return ["There is nothing to plan."];
  if (dated === 0) return ["No site has a deadline."];
  const late = planned.filter(({ row }) => row.isLate);
  const enough =
    minimumRateBps === undefined
      ? []
      : [`The least sufficient rate is ${showBytes(minimumRateBps)}/s.`];
  if (late.length === 0 && answer.overCap.length > 0)
    return [
      `${algorithm} would keep all ${plural(dated, "deadline")} if servers delivered the rates it assumes.`,
      ...hopelessSentences(hopeless, planned),
    ];
  if (late.length === 0)
    return [
      `${dated === 1 ? "The deadline" : `All ${dated} deadlines`} can be kept at ${rate}.`,
      ...enough,
    ];
  const moved =
    easiestMove === undefined
      ? []
      : [
          `Or move one deadline: ${visible(easiestMove.key, 120)} to ${seconds(easiestMove.toSeconds)}.`,
        ];
  return [
    `${late.length} of ${plural(dated, "deadline")} cannot be kept at ${rate}${promises.feasible ? ` by ${algorithm}; --algorithm optimal keeps them all` : ""}:`,
    ...listed(late, ({ row }) => {
      const { finishSeconds, deadlineSeconds = 0 } = row;
      return `${visible(row.name, 120)} is done ${seconds(finishSeconds - deadlineSeconds)} too late, after ${seconds(finishSeconds)}.`;
    }),
    ...hopelessSentences(hopeless, planned),
    ...enough,
    ...(promises.feasible ? [] : moved),
  ];
}

function hopelessSentences(keys: readonly string[], planned: readonly Planned[]): string[] {
  const names = new Set(keys);
  const sites = planned.filter(({ row }) => names.has(row.name));
  if (sites.length === 0) return [];
  return [
    "No rate would suffice, because of the speed of these sites:",
    ...listed(sites, (site) => {
      const { row, capBps, bytes = 0, wish } = site;
      const least = (bytes * wish.efficiency) / capBps;
      return `${visible(row.name, 120)}: ${loadOf(site)} take ${seconds(least)}, its deadline is ${seconds(row.deadlineSeconds ?? 0)}.`;
    }),
  ];
}

function loadOf({ bytes = 0, pages = 0, pagesFrom, capBps, capFrom }: Planned): string {
  if (capFrom !== "delay" && capFrom !== "address")
    return `${showBytes(bytes)} at ${showBytes(capBps)}/s`;
  const count = `${pagesFrom === "typical" ? "about " : ""}${plural(pages, "page")}`;
  return capFrom === "delay"
    ? `${count}, robots.txt and sitemap at its delay`
    : `${count}, and those before it on its IP address, at that address's delay`;
}

/** The deadlines that depend on estimates, on which, and what each may be. */
function estimateSentences({ input }: PlanReport, planned: readonly Planned[]): string[] {
  const unsure = planned.filter(({ verdict }) => (verdict?.dependsOn.length ?? 0) > 0);
  if (unsure.length === 0) return [];
  const mark = unsure.every(({ verdict }) => verdict?.certainty === "likely") ? "✓?" : "✓? and ✗?";
  return [
    `${mark}: ${plural(unsure.length, "deadline")} ${unsure.length === 1 ? "depends" : "depend"} on estimates; a crawl, \`size\` or \`cap\` makes them facts:`,
    ...listed(unsure, (site) => {
      const texts = (site.verdict?.dependsOn ?? []).map((kind) => estimateText(kind, site, input));
      return `${visible(site.row.name, 120)}: ${texts.join(", ")}.`;
    }),
  ];
}

function estimateText(kind: Estimate, { row, bytes = 0 }: Planned, { task }: PlanInput): string {
  const { deadlineSeconds = Infinity, finishSeconds } = row;
  switch (kind) {
    case "size":
      return `its size, at most about ${showBytes((bytes * deadlineSeconds) / finishSeconds)} instead of ${showBytes(bytes)}`;
    case "server":
      return `its server, at least ${showBytes(bytes / deadlineSeconds)}/s`;
    case "line":
      return `the line, which must give about ${showBytes(task.rateBps)}/s`;
    default:
      return unreachable(kind);
  }
}

/** The sites with an estimated number of pages, where delays determine their time. */
function typicalSentences(planned: readonly Planned[]): string[] {
  const sites = planned.filter(
    ({ typicalBytes, sizeFrom, slots }) =>
      typicalBytes !== undefined && (sizeFrom === "pages" || slots.seconds > 0),
  );
  const [first] = sites;
  if (first === undefined) return [];
  const typical = showBytes(first.typicalBytes ?? 0);
  return [
    `≈: counted with pages of ${typical}, the typical size; give \`size\` and \`pages\` of ${plural(sites.length, "site")} for an exact plan.`,
  ];
}

function sumSentences({ answer }: PlanReport): string[] {
  const { figures, objective, solverGap } = answer;
  if (figures === undefined || figures.maxSeconds === 0) return [];
  const gap = gapOf(answer);
  const gapSuffix = objective === "min-sum" && gap !== undefined ? `, ${gapText(gap)}` : "";
  const solved =
    solverGap === undefined
      ? ""
      : ` The solver stopped ${(100 * solverGap).toFixed(1)} % from its own bound.`;
  return [
    `All is done after ${seconds(figures.maxSeconds)}; the finish times add up to ${seconds(figures.sumSeconds)}${gapSuffix}.${solved}`,
  ];
}

function gapText(gap: number): string {
  return gap > 1
    ? `at most ${(1 + gap).toFixed(1)} times the lower bound`
    : `at most ${(100 * gap).toFixed(1)} % above the lower bound`;
}

/** The origin of the rate, where it may be a surprise. */
function rateSentences({ input, answer }: PlanReport): string[] {
  const { rateFrom, rateUntilSeconds, timeMaxSeconds, task } = input;
  const end = answer.figures?.maxSeconds ?? 0;
  const found: string[] = [];
  if (rateFrom === "caps")
    found.push(`No limit is set: ${showBytes(task.rateBps)}/s is the total rate of all servers.`);
  if (rateUntilSeconds !== undefined && rateUntilSeconds < end)
    found.push(
      `The calendar may change in ${seconds(rateUntilSeconds)}; the plan assumes the current rate throughout.`,
    );
  if (timeMaxSeconds !== undefined && timeMaxSeconds < end)
    found.push(
      `The crawl stops after ${seconds(timeMaxSeconds)} (--time), before the end of the plan.`,
    );
  if (answer.overCap.length > 0)
    found.push(
      `${answer.algorithm} ignores caps: it assumes more from ${plural(answer.overCap.length, "site")} than their servers deliver.`,
    );
  return found;
}

function leftOutSentences(sites: readonly ReportedSite[]): string[] {
  const out = sites.filter(({ leftOut }) => leftOut !== undefined);
  if (out.length === 0) return [];
  return [
    `${plural(out.length, "site")} ${out.length === 1 ? "is" : "are"} not in the plan:`,
    ...listed(out, ({ wish, leftOut = "" }) => `${visible(wish.site, 120)}: ${leftOut}.`),
  ];
}

function listed<T>(items: readonly T[], textOf: (item: T) => string): string[] {
  const hidden = items.length - SITES_LISTED;
  const lines = items.slice(0, SITES_LISTED).map((item) => `  ${textOf(item)}`);
  return hidden > 0 ? [...lines, `  and ${hidden} more.`] : lines;
}

function seconds(value: number): string {
  return showDuration(value * 1000);
}
