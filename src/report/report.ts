/**
 * Writes the report of a crawl: bytes, rates against the limit, sites, deadlines and failures.
 *
 * The report is one HTML file without scripts or external resources. It follows the light or dark
 * mode and fits a phone. Text from the web is escaped, and the page's Content-Security-Policy forbids
 * everything but its style.
 */

import { figuresOf } from "../bandwidth/history/series.ts";
import { PURPOSES } from "../bandwidth/history/ledger.ts";
import { showBytes, showDuration } from "../base/units.ts";
import { VERSION } from "../config/version.ts";
import { type Reason, settlementOf } from "../page/outcome.ts";
import { standingWords } from "../results/deadline-standing.ts";
import { isMeasured } from "../bandwidth/history/speed-table.ts";
import type { StoredServer } from "../store/sqlite/server-file.ts";
import { barPlot } from "./bar-plot.ts";
import { deadlinePlot } from "./deadline-plot.ts";
import type { ReportData } from "./gather.ts";
import { heatMap } from "./heat-map.ts";
import { ratePlot } from "./rate-plot.ts";
import {
  count,
  type Fact,
  factList,
  figure,
  note,
  percent,
  section,
  table,
  withoutScheme,
} from "./report-markup.ts";
import { PAGE_STYLE } from "./report-style.ts";
import { processes, topics } from "./report-team.ts";
import { escaped } from "./svg.ts";

const PLOT_WIDTH = 1040;
const HOURS = 24;
const REASONS_MAX = 40;

/** `meaningOf` returns a sentence that explains a reason. */
export function reportHtml(data: ReportData, meaningOf: (reason: string) => string): string {
  const title = `Weir: ${escaped(data.name)}`;
  const sections = [
    head(data),
    section("Rate", figure(ratePlot(data.rates, PLOT_WIDTH)) + rateNote(data)),
    section("Deadlines", promises(data)),
    section("Processes", processes(data, PLOT_WIDTH)),
    section("Topics", topics(data, PLOT_WIDTH)),
    section("Bytes by purpose", figure(ledgerPlot(data)) + note(LEDGER_TEXT)),
    section("Speed of servers by hour", speeds(data)),
    section("Sites", sites(data)),
    section("Outcomes of URLs", outcomes(data, meaningOf)),
    section("Remarks and skipped links", counts(data)),
    section("Mirrors", mirrors(data)),
    section("Latest failures", troubles(data)),
    section("Settings", settings(data)),
    `<footer class="soft">Made by Weir ${VERSION}. Times are in UTC; KB, MB and GB are powers of 1000.</footer>`,
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

function head(data: ReportData): string {
  const { totals, rates } = data;
  const { meanBps, held } = figuresOf(rates.seconds);
  const made = new Date(data.madeAtMs).toISOString().slice(0, 16).replace("T", " ");
  const facts: Fact[] = [
    ["Pages", count(totals.pages)],
    ["Received", showBytes(totals.bytes)],
    ["Time crawled", showDuration(totals.crawledMs)],
    ["Sites", count(data.siteCount)],
    ["URLs known", count(totals.known)],
    ["Waiting", count(data.pending)],
    ["Failed", count(totals.failed)],
    ["Skipped", count(totals.skipped)],
    ["Exact copies", count(totals.duplicatesExact)],
    ["Near copies", count(totals.duplicatesNear)],
    ["Mean rate", `${showBytes(meanBps)}/s`],
  ];
  if (held !== undefined) {
    facts.push(
      ["Mean share of limit", percent(held.meanShare)],
      ["Deviation", percent(held.deviationShare)],
      ["Worst second", percent(held.worstShare)],
      ["Seconds over 105 %", count(held.secondsOver105)],
    );
  }
  return `<header><h1>${escaped(data.name)}</h1>
<p class="soft">${data.state}, as of ${made} UTC</p>
<p>${escaped(summary(data), 800)}</p>
${factList(facts)}</header>`;
}

/** The main figures as sentences. */
function summary(data: ReportData): string {
  const { totals, rates, siteCount, pending } = data;
  const { meanBps, held } = figuresOf(rates.seconds);
  const ofLimit = held === undefined ? "" : `, ${percent(held.meanShare)} of the limit`;
  const met = data.promises.filter(isMet).length;
  const { done, failed, skipped } = totals;
  return [
    `Received ${count(totals.pages)} pages and ${showBytes(totals.bytes)} from ${count(siteCount)} ${siteCount === 1 ? "site" : "sites"} in ${showDuration(totals.crawledMs)} of crawling, at ${showBytes(meanBps)}/s on average${ofLimit}.`,
    `${count(totals.known)} URLs are known: ${count(done)} done, ${count(failed)} failed, ${count(skipped)} skipped and ${count(pending)} waiting.`,
    ...(data.promises.length === 0
      ? []
      : [`${count(met)} of ${count(data.promises.length)} deadlines were met.`]),
  ].join(" ");
}

function rateNote({ rates }: ReportData): string {
  if (rates.seconds.length + rates.minutes.length === 0)
    return note("No rates of this crawl are recorded yet.");
  const words =
    "Bytes received per second, packet headers included, with the limit in force and the rate predicted for the running downloads. The worst second has the highest share of its limit; deviation is the standard deviation of seconds, as a share of the limit.";
  const older = " Rates older than a day are shown per minute, with its lowest and highest second.";
  return note(words + (rates.minutes.length === 0 ? "" : older));
}

const LEDGER_TEXT =
  "Every byte received is booked once, for one purpose: pages, robots.txt, sitemaps, redirects, errors, duplicates, retries and messages between processes. Packet headers are not included here, although limits and quotas count them.";

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
      .map((server) => ({
        name: nameOf(server),
        cells: hoursOf(server, kind),
        unmeasured: unmeasuredOf(server, kind),
      }));
    if (rows.length === 0) return "";
    const title = kind === "working" ? "Working days" : "Weekends and holidays";
    const columns = Array.from({ length: HOURS }, (_, hour) => String(hour).padStart(2, "0"));
    return figure(heatMap({ title, rows, columns, unit: "B/s", width: PLOT_WIDTH }));
  });
  if (maps.every((map) => map === "")) return "";
  const hidden = serverCount - servers.length;
  const words =
    "Measured rate of one download, response time included, by hour and kind of day. A measurement also updates the hours near it; dashed hours were not measured and are expected to have the mean rate of the measured ones. Predictions and plans use this table.";
  const more = hidden > 0 ? ` ${count(hidden)} servers with fewer measurements are not shown.` : "";
  return maps.join("") + note(words + more);
}

function countOf(server: StoredServer, kind: "working" | "holiday"): number {
  return kind === "working" ? server.workingCount : server.holidayCount;
}

function hoursOf({ bps }: StoredServer, kind: "working" | "holiday"): number[] {
  return [...(kind === "working" ? bps.subarray(0, HOURS) : bps.subarray(HOURS))];
}

function unmeasuredOf(server: StoredServer, kind: "working" | "holiday"): Set<number> {
  const hours = kind === "working" ? server.workingHours : server.holidayHours;
  const all = Array.from({ length: HOURS }, (_, hour) => hour);
  return new Set(all.filter((hour) => !isMeasured(hours, hour)));
}

function nameOf({ address, sites: [site] }: StoredServer): string {
  return site === undefined ? address : `${withoutScheme(site)} ${address}`;
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
  return (
    table(names, lines) + (hidden > 0 ? note(`And ${count(hidden)} sites with fewer bytes.`) : "")
  );
}

function isMet({ deadlineMs, finishedMs = Infinity }: ReportData["promises"][number]): boolean {
  return finishedMs <= deadlineMs;
}

function promises(data: ReportData): string {
  if (data.promises.length === 0) return "";
  const rows = data.promises.map((promise) => [
    withoutScheme(promise.site),
    showDuration(promise.deadlineMs),
    promise.finishedMs === undefined ? "not done" : showDuration(promise.finishedMs),
    promise.isOpen ? "open" : isMet(promise) ? "met" : "missed",
  ]);
  const plot = deadlinePlot({
    title: "Finish times and deadlines of sites",
    rows: data.promises.map(({ site, deadlineMs, finishedMs }) => ({
      name: withoutScheme(site),
      deadlineSeconds: deadlineMs / 1000,
      finishedSeconds: finishedMs === undefined ? undefined : finishedMs / 1000,
    })),
    nowSeconds: data.totals.crawledMs / 1000,
    width: PLOT_WIDTH,
  });
  const met = data.promises.filter(isMet).length;
  const open = data.promises.filter(({ isOpen }) => isOpen).length;
  const standing = standingWords({ met, missed: rows.length - met - open, open });
  const words = `${standing}. Times count from the start. A bar ends when its site was done; the mark is its deadline.`;
  return figure(plot) + note(words) + table(["Site", "Due after", "Done after", ""], rows);
}

function outcomes({ totals }: ReportData, meaningOf: (reason: string) => string): string {
  const rows = byCount(totals.outcomes).map(([reason, number]) => [
    reason,
    settlementOf(reason as Reason),
    meaningOf(reason),
    count(number),
  ]);
  return rows.length === 0 ? "" : table(["Reason", "", "Meaning", "URLs"], rows, "counts");
}

function counts({ totals }: ReportData): string {
  const rows = [
    ...byCount(totals.remarks).map(([name, number]) => [name, "remark", count(number)]),
    ...byCount(totals.refusedLinks).map(([name, number]) => [name, "skipped link", count(number)]),
  ];
  if (rows.length === 0) return "";
  const words =
    "Remarks are anomalies of pages that were stored nevertheless. A skipped link does not become a known URL.";
  return table(["Name", "", "Count"], rows, "counts") + note(words);
}

/** Sites that duplicate another site. */
function mirrors(data: ReportData): string {
  const rows = data.mirrors.map(({ site, of, pagesShared, share }) => [
    site,
    of,
    count(pagesShared),
    percent(share),
  ]);
  const names = ["Site", "Same pages as", "Shared pages", "Share of its pages"];
  if (rows.length === 0) return "";
  return (
    table(names, rows, "words") + note("One site of each pair can be left out of the next crawl.")
  );
}

function troubles(data: ReportData): string {
  const rows = data.troubles.map(({ reason, url, detail }) => [reason, url, detail]);
  return rows.length === 0 ? "" : table(["Reason", "URL", "Detail"], rows, "words");
}

function settings({ settings: changed }: ReportData): string {
  if (changed.length === 0) return "";
  const rows = changed.map(({ key, text }) => [key, text]);
  const words =
    "Settings of the last start that differ from their default. Changes made during the crawl are not listed.";
  return table(["Setting", "Value"], rows, "words") + note(words);
}

function byCount(numbers: Readonly<Record<string, number>>): [name: string, number: number][] {
  return Object.entries(numbers)
    .filter(([, number]) => number > 0)
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, REASONS_MAX);
}
