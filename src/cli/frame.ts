/**
 * One picture of a crawl, as lines of text: the live view draws it repeatedly, `status` once.
 *
 * A pure function of the snapshot and of the size of the screen. The most important lines come
 * first, and sites and problems get only the remaining rows. All foreign text passes `visible`.
 */

import { showBytes, showDuration, showSlowed } from "../base/units.ts";
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
const GAP = "  ";
/** Below these columns, sites lose their `http://`. */
const NARROW = 100;
const NAME_COLUMNS_MIN = 12;
const NAME_COLUMNS_MAX = 36;
const BAR_COLUMNS_MIN = 6;
const BAR_COLUMNS_MAX = 24;
const STATE_STEP = 8;

export function frameOf(snapshot: Snapshot, screen: Screen): string[] {
  const { palette } = screen;
  const head = [
    headline(snapshot, palette),
    ...rateLines(snapshot, screen),
    countLine(snapshot, screen.columns),
    ...ledgerLine(snapshot, screen),
  ];
  const reasons = reasonLine(snapshot, screen);
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

function ledgerLine({ ledger }: Snapshot, { columns, palette }: Screen): string[] {
  const words = showLedger(ledger);
  // If all bytes were pages, there is nothing to report.
  return words.length < 2 ? [] : [palette.dim(wholeWords(words, columns).join(GAP))];
}

function countLine(snapshot: Snapshot, columns: number): string {
  const { totals, pending, unreachable, remainingMs } = snapshot;
  const pages = plural(totals.pages, "page");
  const waiting = `${showCount(pending)} waiting`;
  const remaining = pending > 0 ? showRemaining(remainingMs) : "";
  const failed = `${showCount(totals.failed)} failed`;
  const bytes = showBytes(totals.bytes);
  const skipped = `${showCount(totals.skipped)} skipped`;
  const away = unreachable > 0 ? `${plural(unreachable, "site")} unreachable` : "";
  const shown = wholeWords([pages, waiting, remaining, away, failed, bytes, skipped], columns);
  return [pages, bytes, waiting, failed, skipped, away, remaining]
    .filter((part) => part !== "" && shown.includes(part))
    .join(GAP);
}

/** The first of these words, as many as fit on a line. */
function wholeWords(words: readonly string[], columns: number): string[] {
  let width = -GAP.length;
  return words.filter((word, index) => {
    if (word !== "") width += GAP.length + word.length;
    return index === 0 || width <= columns;
  });
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
  const lines = siteTable(busiest.slice(0, rows), screen);
  const hidden = snapshot.siteCount - lines.length;
  const more = hidden > 0 ? [screen.palette.dim(`and ${plural(hidden, "site")} more`)] : [];
  return ["", ...lines, ...more];
}

interface SiteCells {
  readonly name: string;
  readonly share: number;
  readonly isDone: boolean;
  readonly count: string;
  readonly bytes: string;
  readonly state: string;
  readonly verdict: string;
  readonly paintVerdict: (text: string) => string;
}

/** A narrow screen loses state, bytes, bar and count, in this order; names are shortened; a verdict is never cut. */
function siteTable(sites: readonly SiteView[], screen: Screen): string[] {
  const { columns, palette } = screen;
  const rows = sites.map((site) => siteCells(site, screen));
  const widest = (cell: "name" | "count" | "bytes" | "state" | "verdict"): number =>
    Math.max(...rows.map((row) => row[cell].length));
  const verdict = widest("verdict");
  const verdictRoom = verdict === 0 ? 0 : GAP.length + verdict;
  const count = widest("count");
  const nameRoom = columns - verdictRoom - count - BAR_COLUMNS_MIN - 2 * GAP.length;
  const name = Math.min(NAME_COLUMNS_MAX, widest("name"), Math.max(NAME_COLUMNS_MIN, nameRoom));
  let left = columns - name - verdictRoom;
  const fits = (cellColumns: number): boolean => {
    const hasRoom = left >= GAP.length + cellColumns;
    if (hasRoom) left -= GAP.length + cellColumns;
    return hasRoom;
  };
  // Waiting times change with every frame; a column that follows them exactly would move the others.
  const state = Math.ceil(widest("state") / STATE_STEP) * STATE_STEP;
  const bytes = widest("bytes");
  const hasCount = fits(count);
  const hasBar = hasCount && fits(BAR_COLUMNS_MIN);
  const hasBytes = hasBar && fits(bytes);
  const hasState = hasBytes && fits(state);
  const bar = Math.min(BAR_COLUMNS_MAX, BAR_COLUMNS_MIN + left);
  return rows.map((row) => {
    const paintBar = row.isDone ? palette.good : palette.accent;
    const cells = [
      row.name.length > name ? `${row.name.slice(0, name - 1)}…` : row.name.padEnd(name),
      hasBar ? paintBar(progressBar(row.share, bar)) : "",
      hasCount ? row.count.padStart(count) : "",
      hasBytes ? row.bytes.padStart(bytes) : "",
      hasState ? palette.dim(row.verdict === "" ? row.state : row.state.padEnd(state)) : "",
      row.verdict === "" ? "" : row.paintVerdict(row.verdict),
    ];
    return cells.filter((cell) => cell !== "").join(GAP);
  });
}

function siteCells(site: SiteView, { columns, palette }: Screen): SiteCells {
  const { number, news, nextInMs } = site.round;
  // In a recrawl the pages of the earlier ones wait again, and are counted again.
  const done = number === 1 ? site.pages : news.changed + news.unchanged + news.fresh + news.gone;
  const known = done + site.pending;
  const wait = site.nextInMs >= 100 ? ` ${showDuration(site.nextInMs)}` : "";
  const next =
    nextInMs === undefined ? "" : `  recrawl ${number}, next in ${showDuration(nextInMs)}`;
  const isIdle = site.pending === 0 && site.state === "idle";
  const [verdict, paintVerdict] = verdictOf(site, palette);
  return {
    name: visible(site.site.replace(columns < NARROW ? /^https?:\/\// : /^https:\/\//, ""), 80),
    share: known === 0 ? 0 : done / known,
    isDone: site.pending === 0,
    count: `${showCount(done)}/${showCount(known)}`,
    bytes: showBytes(site.bytes),
    state: `${isIdle ? "done" : slowedOr(site, `${site.state}${wait}`)}${next}`,
    verdict,
    paintVerdict,
  };
}

/** While a site is requested as fast as it accepts, its rate says more than its state. */
function slowedOr({ slowed, state }: SiteView, words: string): string {
  const isPaused = state === "back-off" || state === "unreachable" || state === "robots";
  return slowed === undefined || isPaused ? words : showSlowed(slowed);
}

/** Sites with a deadline first, the nearest deadline before the others. */
function urgencyOf({ forecast, pending }: SiteView): number {
  return pending === 0 ? Number.MAX_VALUE : (forecast?.deadlineInMs ?? Number.MAX_VALUE);
}

/** How a site stands against its deadline, and its colour; empty without a deadline. */
function verdictOf(
  { deadlineMs, finishedMs, forecast }: SiteView,
  palette: Palette,
): [words: string, paint: (text: string) => string] {
  if (deadlineMs === undefined) return ["", palette.dim];
  if (finishedMs !== undefined) {
    const isMet = finishedMs <= deadlineMs;
    const words = `${showDuration(finishedMs)} of ${showDuration(deadlineMs)}`;
    return isMet ? [`✓ ${words}`, palette.good] : [`✗ ${words}`, palette.bad];
  }
  if (forecast?.deadlineInMs === undefined) return ["", palette.dim];
  const { finishInMs, deadlineInMs, isLate } = forecast;
  if (isLate) return [`late by ${showDuration(finishInMs - deadlineInMs)}`, palette.bad];
  const words = `done in ${showDuration(finishInMs)}, due in ${showDuration(deadlineInMs)}`;
  return [words, palette.accent];
}

function reasonLine({ totals }: Snapshot, { columns, palette }: Screen): string[] {
  const failed = reasonsOf(totals.outcomes, "failed", REASONS_MAX);
  const skipped = reasonsOf(totals.outcomes, "skipped", REASONS_MAX);
  const shown = wholeWords([...failed, ...skipped], columns);
  const words = shown.map((word, index) =>
    index < failed.length ? palette.bad(word) : palette.dim(word),
  );
  return words.length === 0 ? [] : ["", words.join(GAP)];
}

function troubleLines(troubles: readonly Trouble[], rows: number, palette: Palette): string[] {
  if (rows < 1) return [];
  return troubles.slice(-rows).map((trouble) => {
    const detail = trouble.detail === "" ? "" : `  ${visible(trouble.detail, 120)}`;
    return palette.dim(`${trouble.reason.padEnd(18)} ${visible(trouble.url, 300)}${detail}`);
  });
}
