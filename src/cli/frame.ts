/**
 * One picture of a crawl, as lines of text: the live view draws it repeatedly, `status` once.
 *
 * A pure function of the snapshot and of the size of the screen. The most important lines come
 * first, and sites and problems get only the remaining rows. All foreign text passes `visible`.
 */

import { showBytes, showDuration } from "../base/units.ts";
import { visible } from "../base/visible.ts";
import type { SiteView, Snapshot, Trouble } from "../control/snapshot.ts";
import { settlementOf } from "../page/outcome.ts";
import type { Reason, Settlement } from "../page/outcome.ts";
import { plural, showCount, showLedger, showPace, showReasons } from "./amounts.ts";
import { showRate, showRemaining } from "./amounts.ts";
import { fitted, type Palette } from "./terminal.ts";

export interface Screen {
  readonly columns: number;
  readonly rows: number;
  readonly palette: Palette;
}

const LEVELS = "▁▂▃▄▅▆▇█";
const GAUGE_SHARE_MAX = 1.25;
/** Share of the limit above which a second counts as over it. */
const SPILL_SHARE = 1.05;
const SITES_MAX = 12;
const TROUBLES_MAX = 4;
const REASONS_MAX = 6;

export function frameOf(snapshot: Snapshot, screen: Screen): string[] {
  const { palette } = screen;
  const head = [
    headline(snapshot, palette),
    ...rateLines(snapshot, screen),
    countLine(snapshot),
    ...ledgerLine(snapshot, palette),
  ];
  const reasons = reasonLine(snapshot, palette);
  let rowsLeft = screen.rows - head.length - reasons.length - 2;
  const troubles = troubleLines(snapshot.troubles, Math.min(TROUBLES_MAX, rowsLeft - 4), palette);
  rowsLeft -= troubles.length;
  const sites = siteLines(snapshot, Math.min(SITES_MAX, rowsLeft - 2), screen);
  const lines = [...head, ...sites, ...reasons, ...troubles];
  return lines.slice(0, Math.max(1, screen.rows - 1)).map((line) => fitted(line, screen.columns));
}

/** The highest level stands for `most`, by default the highest value. */
export function sparkline(values: readonly number[], columns: number, most?: number): string {
  const shown = values.slice(-columns);
  const highest = most ?? Math.max(...shown, 1);
  return shown
    .map((value) => {
      const level = Math.min(LEVELS.length, Math.ceil((value / highest) * LEVELS.length));
      return value === 0 ? " " : LEVELS.charAt(level - 1);
    })
    .join("");
}

/** A bar with a mark at the limit, and room for a quarter more. */
export function gauge(share: number, columns: number): string {
  const mark = Math.round(columns / GAUGE_SHARE_MAX);
  const filled = Math.round((Math.min(GAUGE_SHARE_MAX, share) * columns) / GAUGE_SHARE_MAX);
  return Array.from({ length: columns }, (_, column) =>
    column < filled ? "█" : column === mark ? "│" : "░",
  ).join("");
}

export function progressBar(share: number, columns: number): string {
  const filled = Math.round(Math.min(1, Math.max(0, share)) * columns);
  return "█".repeat(filled) + "░".repeat(columns - filled);
}

/** Only the reasons of one kind, as "name count" words. */
export function reasonsOf(
  outcomes: Readonly<Record<string, number>>,
  kind: Settlement,
  countMax: number,
): string[] {
  const ofKind = Object.entries(outcomes).filter(
    ([reason]) => settlementOf(reason as Reason) === kind,
  );
  return showReasons(Object.fromEntries(ofKind), countMax);
}

function headline(snapshot: Snapshot, palette: Palette): string {
  const { state, because, resumed, elapsedMs } = snapshot;
  const paint = state === "paused" || state === "stopping" ? palette.bad : palette.good;
  const why = because === "" ? "" : ` (${visible(because, 80)})`;
  const again = resumed ? palette.dim(" · resumed") : "";
  return `${palette.bold("weir")}  ${paint(state)}${why}${again}  ${showDuration(elapsedMs)}`;
}

function rateLines(snapshot: Snapshot, screen: Screen): string[] {
  if (snapshot.state === "done" || snapshot.state === "stopped") return [];
  const { limitBps, rateBps } = snapshot;
  const held = limitBps === undefined ? [] : [gaugeLine(snapshot, limitBps, screen)];
  const rate = limitBps === undefined ? `${showBytes(rateBps)}/s  ` : "";
  const numbers = `${rate}${showPace(snapshot.pagesPerSecond)} pages/s  ${snapshot.connectionsOpen}/${snapshot.connectionsMax} requests open`;
  const columns = Math.min(60, screen.columns - numbers.length - 4);
  if (columns < 10) return [...held, numbers];
  const most = limitBps === undefined || limitBps === 0 ? undefined : limitBps;
  const line = sparkline(snapshot.recentBps, columns, most).padStart(columns);
  return [...held, `${screen.palette.accent(line)}  ${numbers}`];
}

/**
 * The rate with the limit and the prediction, and the share of time that the limit holds reading
 * back.
 */
function gaugeLine(snapshot: Snapshot, limitBps: number, { columns, palette }: Screen): string {
  const { rateBps, predictedBps, waitingReaders, connectionsOpen } = snapshot;
  const heldShare = connectionsOpen === 0 ? 0 : waitingReaders / connectionsOpen;
  const words = [
    showRate(rateBps, limitBps),
    `predicted ${showBytes(predictedBps)}/s`,
    waitingReaders === 0 ? "" : `${Math.round(100 * heldShare)} % held by the limit`,
  ];
  const numbers = words.filter((word) => word !== "").join("  ");
  const bar = gauge(
    limitBps === 0 ? 0 : rateBps / limitBps,
    Math.min(60, columns - numbers.length - 4),
  );
  const paint = rateBps > limitBps * SPILL_SHARE ? palette.bad : palette.good;
  return bar.length < 10 ? numbers : `${paint(bar)}  ${numbers}`;
}

function ledgerLine({ ledger }: Snapshot, palette: Palette): string[] {
  const words = showLedger(ledger);
  // If all bytes were pages, there is nothing to report.
  return words.length < 2 ? [] : [palette.dim(words.join("  "))];
}

function countLine({ totals, pending, unreachable, remainingMs }: Snapshot): string {
  const parts = [
    plural(totals.pages, "page"),
    showBytes(totals.bytes),
    `${showCount(pending)} waiting`,
    `${showCount(totals.failed)} failed`,
    `${showCount(totals.skipped)} skipped`,
    unreachable > 0 ? `${plural(unreachable, "site")} unreachable` : "",
    pending > 0 ? showRemaining(remainingMs) : "",
  ];
  return parts.filter((part) => part !== "").join("  ");
}

function siteLines(snapshot: Snapshot, rows: number, screen: Screen): string[] {
  if (rows < 1 || snapshot.sites.length === 0) return [];
  const busiest = snapshot.sites.toSorted(
    (a, b) =>
      urgencyOf(a) - urgencyOf(b) ||
      b.inFlight - a.inFlight ||
      b.pending - a.pending ||
      b.pages - a.pages,
  );
  const shown = busiest.slice(0, rows);
  const nameColumns = Math.min(36, Math.max(...shown.map((site) => nameOf(site).length)));
  const lines = shown.map((site) => siteLine(site, nameColumns, screen));
  const hidden = snapshot.siteCount - shown.length;
  const more = hidden > 0 ? [screen.palette.dim(`and ${plural(hidden, "site")} more`)] : [];
  return ["", ...lines, ...more];
}

function siteLine(site: SiteView, nameColumns: number, screen: Screen): string {
  const { palette } = screen;
  const { number, news, nextInMs } = site.round;
  // In a recrawl the pages of the earlier ones wait again, and are counted again.
  const done = number === 1 ? site.pages : news.changed + news.unchanged + news.fresh + news.gone;
  const known = done + site.pending;
  const barColumns = Math.max(0, Math.min(24, screen.columns - nameColumns - 48));
  const bar = progressBar(known === 0 ? 0 : done / known, barColumns);
  const wait = site.nextInMs >= 100 ? ` ${showDuration(site.nextInMs)}` : "";
  const next =
    nextInMs === undefined ? "" : `  recrawl ${number}, next in ${showDuration(nextInMs)}`;
  return [
    nameOf(site).slice(0, nameColumns).padEnd(nameColumns),
    site.pending === 0 ? palette.good(bar) : palette.accent(bar),
    `${showCount(done)}/${showCount(known)}`.padStart(15),
    showBytes(site.bytes).padStart(8),
    palette.dim(
      `${site.pending === 0 && site.state === "idle" ? "done" : site.state}${wait}${next}`,
    ),
    ...promiseWords(site, palette),
  ].join("  ");
}

/** Sites with a deadline first, the nearest deadline before the others. */
function urgencyOf({ forecast, pending }: SiteView): number {
  return pending === 0 ? Number.MAX_VALUE : (forecast?.deadlineInMs ?? Number.MAX_VALUE);
}

/** A site's deadline: the time left, and the expected finish. */
function promiseWords(
  { deadlineMs, finishedMs, forecast }: SiteView,
  palette: Palette,
): readonly string[] {
  if (deadlineMs === undefined) return [];
  if (finishedMs !== undefined) {
    const isMet = finishedMs <= deadlineMs;
    const words = `${showDuration(finishedMs)} of ${showDuration(deadlineMs)}`;
    return [isMet ? palette.good(`✓ ${words}`) : palette.bad(`✗ ${words}`)];
  }
  if (forecast?.deadlineInMs === undefined) return [];
  const { finishInMs, deadlineInMs, isLate } = forecast;
  if (isLate) return [palette.bad(`late by ${showDuration(finishInMs - deadlineInMs)}`)];
  return [
    palette.accent(`done in ${showDuration(finishInMs)}, due in ${showDuration(deadlineInMs)}`),
  ];
}

function nameOf(site: SiteView): string {
  return visible(site.site.replace(/^https:\/\//, ""), 80);
}

function reasonLine({ totals }: Snapshot, palette: Palette): string[] {
  const failed = reasonsOf(totals.outcomes, "failed", REASONS_MAX);
  const skipped = reasonsOf(totals.outcomes, "skipped", REASONS_MAX);
  const words = [...failed.map((word) => palette.bad(word)), ...skipped.map(palette.dim)];
  return words.length === 0 ? [] : ["", words.join("  ")];
}

function troubleLines(troubles: readonly Trouble[], rows: number, palette: Palette): string[] {
  if (rows < 1) return [];
  return troubles.slice(-rows).map((trouble) => {
    const detail = trouble.detail === "" ? "" : `  ${visible(trouble.detail, 120)}`;
    return palette.dim(`${trouble.reason.padEnd(18)} ${visible(trouble.url, 300)}${detail}`);
  });
}
