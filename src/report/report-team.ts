/** The report's sections about several processes: common metrics, URLs exchanged and topics. */

import { showBytes } from "../base/units.ts";
import { pendingOf } from "../results/processes.ts";
import { barPlot } from "./bar-plot.ts";
import type { ReportData } from "./gather.ts";
import { heatMap } from "./heat-map.ts";
import { count, type Fact, factList, figure, note, percent, table } from "./report-markup.ts";

/** Processes above which the matrix of URLs sent is omitted, because it has too many cells to read. */
const FLOWS_MAX = 32;
const AGAINST_REFERENCE = " Coverage and quality are relative to the reference crawl.";
const FROM_SAMPLE =
  " Coverage is estimated from a sample of all URLs: the share of the discovered ones that was fetched. The estimate is slightly high, because no process discovered the URLs linked only from missed pages.";

export function processes(data: ReportData, width: number): string {
  const { parallel } = data;
  if (parallel === undefined) return "";
  const { metrics, processes: parts } = parallel;
  const { coverage, quality } = metrics;
  const facts: Fact[] = [
    ["Pages fetched", count(metrics.downloaded)],
    ["Different pages", count(metrics.unique)],
    ["Overlap", metrics.overlap.toFixed(3)],
    ["URLs sent", count(metrics.urlsExchanged)],
    ["Sent per page", metrics.communicationOverhead.toFixed(3)],
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
  const names = ["Process", "Pages", "Waiting", "Failed", "Received", "URLs sent"];
  return (
    factList(facts) +
    note(
      "Overlap is the number of repeated fetches per distinct page. URLs sent belong to another process." +
        (coverage === undefined ? "" : isEstimated ? FROM_SAMPLE : AGAINST_REFERENCE),
    ) +
    table(names, rows) +
    flows(data, width)
  );
}

/** Matrix of the URLs that each process sent to each process. */
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
  const text =
    "Imported pages were fetched by one process and handed to the owner of their topic. Locality is the share of links between two pages of the same topic. Topics are a classifier's estimates.";
  return (
    factList([
      ["Topics", count(bars.length)],
      ["Pages classified", count(all)],
      ["Imported", count(imported)],
      ["Locality of links", percent(found.locality)],
    ]) +
    note(text) +
    figure(barPlot({ title, bars, unit: "", width })) +
    (imported === 0
      ? ""
      : table(
          ["Topic", "Own", "Imported"],
          bars.map((bar) => [bar.name, count(bar.own), count(bar.imported)]),
        ))
  );
}
