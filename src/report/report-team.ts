/** What a report tells of several processes: what they did together, what they sent each other, and whose topics are whose. */

import { showBytes } from "../base/units.ts";
import { pendingOf } from "../crawl/processes.ts";
import { barPlot } from "./bar-plot.ts";
import type { ReportData } from "./gather.ts";
import { heatMap } from "./heat-map.ts";
import { count, type Fact, factList, figure, note, percent, table } from "./report-markup.ts";

/** Beyond this a matrix has more cells than anybody reads. */
const FLOWS_MAX = 32;
const AGAINST_REFERENCE = " Coverage and quality are relative to the reference crawl.";
const FROM_SAMPLE =
  " Coverage is the fetched share of the pages that a sample of all URLs found. It is slightly too high, because pages behind missed pages are invisible.";

export function processes(data: ReportData, width: number): string {
  const { parallel } = data;
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
  const isEstimated = coverage !== undefined && quality === undefined;
  if (coverage !== undefined)
    facts.push([isEstimated ? "Coverage, estimated" : "Coverage", percent(coverage)]);
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
  return (
    factList(facts) +
    note(
      "Overlap is the number of repeated fetches per different page; sent are URLs that another process owns." +
        (coverage === undefined ? "" : isEstimated ? FROM_SAMPLE : AGAINST_REFERENCE),
    ) +
    table(names, rows) +
    flows(data, width)
  );
}

/** Who sent how many addresses to whom. */
function flows({ flows: matrix }: ReportData, width: number): string {
  const isEmpty = matrix.every(({ sent }) => sent.every((number) => number === 0));
  if (isEmpty || matrix.length > FLOWS_MAX) return "";
  const rows = matrix.map(({ name, sent }) => ({ name, cells: sent }));
  const columns = matrix.map(({ name }) => name);
  const title = "URLs sent, from the row to the column";
  return figure(heatMap({ title, rows, columns, unit: "", width }));
}

export function topics({ topics: found }: ReportData, width: number): string {
  if (found === undefined) return "";
  const entries = Object.entries(found.byTopic).map(([name, { own, imported }]) => ({
    name,
    own,
    imported,
    value: own + imported,
  }));
  const bars = entries.toSorted((a, b) => b.value - a.value);
  const all = bars.reduce((sum, { value }) => sum + value, 0);
  const imported = bars.reduce((sum, bar) => sum + bar.imported, 0);
  const title = `${count(all)} pages by topic`;
  const words =
    "Imported pages were fetched by one process and sent to the owner of their topic. Locality is the share of links whose two pages have the same topic, as classified.";
  return (
    factList([
      ["Topics", count(bars.length)],
      ["Pages judged", count(all)],
      ["Imported", count(imported)],
      ["Locality of links", percent(found.locality)],
    ]) +
    note(words) +
    figure(barPlot({ title, bars, unit: "", width })) +
    (imported === 0
      ? ""
      : table(
          ["Topic", "Own", "Imported"],
          bars.map((bar) => [bar.name, count(bar.own), count(bar.imported)]),
        ))
  );
}
