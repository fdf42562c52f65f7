/**
 * A crawl on one page: what came, how fast against its limit, from whom, and what went wrong.
 *
 * One HTML file that needs nothing else, holds no script, follows the reader's light or dark, and
 * fits a telephone. Everything that comes from the web is escaped; the page forbids itself whatever
 * it does not need.
 */

import { figuresOf } from "../bandwidth/series.ts";
import { PURPOSES } from "../bandwidth/ledger.ts";
import { showBytes, showDuration } from "../base/units.ts";
import { pendingOf } from "../crawl/processes.ts";
import { type Reason, settlementOf } from "../page/outcome.ts";
import type { StoredServer } from "../store/server-file.ts";
import { barPlot } from "./bar-plot.ts";
import type { ReportData } from "./gather.ts";
import { heatMap } from "./heat-map.ts";
import { ratePlot } from "./rate-plot.ts";
import { PAGE_STYLE } from "./report-style.ts";
import { escaped } from "./svg.ts";

const PLOT_WIDTH = 1040;
const HOURS = 24;
const REASONS_MAX = 40;

export function reportHtml(data: ReportData): string {
  const title = `Weir: ${escaped(data.name)}`;
  const sections = [
    head(data),
    section("Rate", figure(ratePlot(data.rates, PLOT_WIDTH)) + rateNote(data)),
    section("Deadlines", promises(data)),
    section("Processes", processes(data)),
    section("What the bytes were for", figure(ledgerPlot(data))),
    section("Speed of servers by hour", speeds(data)),
    section("Sites", sites(data)),
    section("How addresses ended", outcomes(data)),
    section("Remarks and links left out", counts(data)),
    section("Mirrors", mirrors(data)),
    section("Last troubles", troubles(data)),
  ];
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>${PAGE_STYLE}</style></head>
<body><main>
${sections.filter((text) => text !== "").join("\n")}
</main></body></html>
`;
}

function section(heading: string, inside: string): string {
  return inside === "" ? "" : `<section><h2>${escaped(heading)}</h2>${inside}</section>`;
}

function figure(svg: string): string {
  return `<figure>${svg}</figure>`;
}

function head(data: ReportData): string {
  const { totals, rates } = data;
  const { meanBps, held } = figuresOf(rates.seconds);
  const made = new Date(data.madeAtMs).toISOString().slice(0, 16).replace("T", " ");
  const facts: Fact[] = [
    ["Pages", count(totals.pages)],
    ["Received", showBytes(totals.bytes)],
    ["Time crawled", showDuration(totals.crawledMs)],
    ["Sites", count(data.siteCount)],
    ["Addresses known", count(totals.known)],
    ["Waiting", count(data.pending)],
    ["Failed", count(totals.failed)],
    ["Skipped", count(totals.skipped)],
    ["Exact copies", count(totals.duplicatesExact)],
    ["Near copies", count(totals.duplicatesNear)],
    ["Mean rate", `${showBytes(meanBps)}/s`],
  ];
  if (held !== undefined) {
    facts.push(
      ["Of the limit, mean", percent(held.meanShare)],
      ["Deviation", percent(held.deviationShare)],
      ["Worst second", percent(held.worstShare)],
      ["Seconds over 105 %", count(held.secondsOver105)],
    );
  }
  return `<header><h1>${escaped(data.name)}</h1>
<p class="soft">${data.state}, as of ${made} UTC</p>
${factList(facts)}</header>`;
}

type Fact = readonly [name: string, value: string];

function factList(facts: readonly Fact[]): string {
  const cells = facts.map(([name, value]) => `<div><dt>${name}</dt><dd>${value}</dd></div>`);
  return `<dl>${cells.join("")}</dl>`;
}

function rateNote({ rates }: ReportData): string {
  if (rates.seconds.length + rates.minutes.length === 0)
    return note("No second of this crawl has been written down yet.");
  return rates.minutes.length === 0
    ? ""
    : note(
        "Figures and the end of the plot are by the second; what is older than a day is shown by the minute, with the least and the most of its seconds.",
      );
}

function ledgerPlot({ ledger, totals }: ReportData): string {
  const booked = PURPOSES.map((purpose) => ({ name: purpose as string, value: ledger[purpose] }));
  const open = totals.bytes - booked.reduce((sum, { value }) => sum + value, 0);
  const bars = [...booked, { name: "under way", value: open }]
    .filter(({ value }) => value > 0)
    .toSorted((a, b) => b.value - a.value);
  const title = `${showBytes(totals.bytes)} received, by purpose`;
  return barPlot({ title, bars, unit: "B", width: PLOT_WIDTH });
}

function speeds({ servers, serverCount }: ReportData): string {
  const maps = (["working", "holiday"] as const).map((kind) => {
    const rows = servers
      .filter((server) => countOf(server, kind) > 0)
      .map((server) => ({ name: nameOf(server), cells: hoursOf(server, kind) }));
    if (rows.length === 0) return "";
    const title = kind === "working" ? "Working days" : "Weekends and holidays";
    const columns = Array.from({ length: HOURS }, (_, hour) => String(hour).padStart(2, "0"));
    return figure(heatMap({ title, rows, columns, unit: "B/s", width: PLOT_WIDTH }));
  });
  if (maps.every((map) => map === "")) return "";
  const hidden = serverCount - servers.length;
  return (
    maps.join("") + (hidden > 0 ? note(`And ${count(hidden)} servers measured less often.`) : "")
  );
}

function countOf(server: StoredServer, kind: "working" | "holiday"): number {
  return kind === "working" ? server.workingCount : server.holidayCount;
}

function hoursOf({ bps }: StoredServer, kind: "working" | "holiday"): number[] {
  return [...(kind === "working" ? bps.subarray(0, HOURS) : bps.subarray(HOURS))];
}

function nameOf({ address, sites: [site] }: StoredServer): string {
  return site === undefined ? address : `${withoutScheme(site)} ${address}`;
}

function withoutScheme(site: string): string {
  return site.replace(/^https?:\/\//, "");
}

function sites({ sites: rows, siteCount }: ReportData): string {
  if (rows.length === 0) return "";
  const used = PURPOSES.filter((purpose) => rows.some(({ ledger }) => ledger[purpose] > 0));
  const names = ["Site", "Pages", "Waiting", "Known", "Received", ...used];
  const lines = rows.map((row) => [
    withoutScheme(row.site),
    count(row.pages),
    count(row.pending),
    count(row.known),
    showBytes(row.bytes),
    ...used.map((purpose) => (row.ledger[purpose] === 0 ? "" : showBytes(row.ledger[purpose]))),
  ]);
  const hidden = siteCount - rows.length;
  return table(names, lines) + (hidden > 0 ? note(`And ${count(hidden)} sites with less.`) : "");
}

function promises(data: ReportData): string {
  if (data.promises.length === 0) return "";
  const rows = data.promises.map(({ site, deadlineMs, finishedMs }) => [
    withoutScheme(site),
    showDuration(deadlineMs),
    finishedMs === undefined ? "not done" : showDuration(finishedMs),
    finishedMs === undefined ? "" : finishedMs <= deadlineMs ? "met" : "missed",
  ]);
  const met = data.promises.filter(
    ({ deadlineMs, finishedMs = Infinity }) => finishedMs <= deadlineMs,
  );
  const words = `${count(met.length)} of ${count(rows.length)} deadlines met, counted from the start.`;
  return table(["Site", "Due after", "Done after", ""], rows) + note(words);
}

function processes({ parallel }: ReportData): string {
  if (parallel === undefined) return "";
  const { metrics, processes: parts } = parallel;
  const { coverage, quality } = metrics;
  const facts: Fact[] = [
    ["Pages fetched", count(metrics.downloaded)],
    ["Different pages", count(metrics.unique)],
    ["Overlap", metrics.overlap.toFixed(3)],
    ["Addresses sent", count(metrics.urlsExchanged)],
    ["Sent for each page", metrics.communicationOverhead.toFixed(3)],
  ];
  if (coverage !== undefined) facts.push(["Coverage", percent(coverage)]);
  if (quality !== undefined) facts.push(["Quality", percent(quality)]);
  const rows = parts.map(({ name, totals }) => [
    name,
    count(totals.pages),
    count(pendingOf(totals)),
    count(totals.failed),
    showBytes(totals.bytes),
    count(totals.outcomes["sent"] ?? 0),
  ]);
  const names = ["Process", "Pages", "Waiting", "Failed", "Received", "Addresses sent"];
  return factList(facts) + table(names, rows);
}

function outcomes({ totals }: ReportData): string {
  const rows = byCount(totals.outcomes).map(([reason, number]) => [
    reason,
    settlementOf(reason as Reason),
    count(number),
  ]);
  return rows.length === 0 ? "" : table(["Reason", "", "Addresses"], rows, "counts");
}

function counts({ totals }: ReportData): string {
  const rows = [
    ...byCount(totals.remarks).map(([name, number]) => [name, "remark", count(number)]),
    ...byCount(totals.refusedLinks).map(([name, number]) => [name, "link left out", count(number)]),
  ];
  return rows.length === 0 ? "" : table(["Name", "", "Times"], rows, "counts");
}

/** Which sites need not be crawled twice. */
function mirrors(data: ReportData): string {
  const rows = data.mirrors.map(({ site, of, pagesShared, share }) => [
    site,
    of,
    count(pagesShared),
    percent(share),
  ]);
  const names = ["Site", "Has the same pages as", "Pages", "Of its own"];
  return rows.length === 0 ? "" : table(names, rows, "words");
}

function troubles(data: ReportData): string {
  const rows = data.troubles.map(({ reason, url, detail }) => [reason, url, detail]);
  return rows.length === 0 ? "" : table(["Reason", "Address", "Detail"], rows, "words");
}

function byCount(numbers: Readonly<Record<string, number>>): [name: string, number: number][] {
  return Object.entries(numbers)
    .filter(([, number]) => number > 0)
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, REASONS_MAX);
}

function table(
  names: readonly string[],
  rows: readonly (readonly string[])[],
  kind: "numbers" | "counts" | "words" = "numbers",
): string {
  const body = rows.map((cells) => tableRow(cells, "td")).join("\n");
  return `<div class="wide"><table class="${kind}"><thead>${tableRow(names, "th")}</thead><tbody>
${body}</tbody></table></div>`;
}

function tableRow(cells: readonly string[], tag: "td" | "th"): string {
  return `<tr>${cells.map((cell) => `<${tag}>${escaped(cell, 300)}</${tag}>`).join("")}</tr>`;
}

function note(words: string): string {
  return `<p class="soft">${escaped(words, 400)}</p>`;
}

function count(number: number): string {
  return String(Math.round(number)).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
