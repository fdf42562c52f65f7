/**
 * Measured servers as lines of text, the most measured first.
 *
 * A pure function of rows and time. The two small charts are the 24 hours of a working day and of a
 * holiday, on one scale per server; an hour that was never measured is a dot.
 */

import type { DayMoment } from "../bandwidth/clock/day-kind.ts";
import {
  isMeasured,
  measuredHours,
  type ServerRow,
  SpeedTable,
} from "../bandwidth/history/speed-table.ts";
import { Heap } from "../base/heap.ts";
import { showBytes, showDuration } from "../base/units.ts";
import { visible } from "../base/visible.ts";
import { plural, showCount } from "./amounts.ts";
import { sparkline } from "./frame.ts";
import { fitted, type Palette } from "./terminal.ts";

const HOURS = 24;
const ADDRESS_COLUMNS_MAX = 39;
const NOT_MEASURED = "·";
const DOTS = `${NOT_MEASURED} not measured at this hour: the mean of the measured hours is assumed`;
const DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

interface ServerView extends ServerRow {
  readonly measured: number;
  readonly nowBps: number;
}

export interface Servers {
  readonly moment: DayMoment;
  readonly count: number;
  /** The expected rate of an unknown server. */
  readonly strangerBps: number;
  /** The most measured ones. */
  readonly top: readonly ServerView[];
}

/** Reads all rows once and keeps `topMax` of them. */
export function surveyed(rows: Iterable<ServerRow>, moment: DayMoment, topMax: number): Servers {
  // Only used for predictions, so the update parameters do not matter.
  const table = new SpeedTable({ gain: 1, spreadMinutes: 1, serversMax: Infinity });
  const top = new Heap<ServerRow>(
    (a, b) => measuredAt(a) - measuredAt(b) || a.lastAtMs - b.lastAtMs,
  );
  table.restore(
    (function* () {
      for (const row of rows) {
        top.push(row);
        if (top.size > topMax) top.pop();
        yield row;
      }
    })(),
  );
  const kept: ServerView[] = [];
  for (let row = top.pop(); row !== undefined; row = top.pop())
    kept.push({
      ...row,
      measured: measuredAt(row),
      nowBps: table.predictBps(row.address, moment),
    });
  return {
    moment,
    count: table.size,
    strangerBps: table.predictBps("", moment),
    top: kept.toReversed(),
  };
}

export function serverLines(
  servers: Servers,
  nowMs: number,
  screen: { readonly columns: number; readonly rows: number; readonly palette: Palette },
): string[] {
  const { palette } = screen;
  const { count, moment, strangerBps } = servers;
  const shown = servers.top.slice(0, Math.max(1, screen.rows - 5));
  const address = Math.max(7, ...shown.map((server) => visible(server.address).length));
  const addressColumns = Math.min(ADDRESS_COLUMNS_MAX, address);
  const hidden = count - shown.length;
  return [
    `${plural(count, "server")}; it is ${clock(moment)} on a ${DAYS[moment.weekday]}, a ${moment.kind === "holiday" ? "holiday" : "working day"}`,
    ...(count === 0 ? [] : [palette.dim(headLine(addressColumns))]),
    ...shown.map((server) => serverLine(server, nowMs, addressColumns, palette)),
    ...(hidden > 0 ? [palette.dim(`and ${plural(hidden, "server")} more`)] : []),
    ...(count === 0 ? [] : [palette.dim(DOTS)]),
    palette.dim(`expected rate of an unknown server: ${showBytes(strangerBps)}/s`),
  ].map((line) => fitted(line, screen.columns));
}

/**
 * The same for programs. Kinds of day that were never measured are null; in the others, hours that
 * were not measured have the mean of the measured ones.
 */
export function serversAsJson({ moment, count, strangerBps, top }: Servers): object {
  return {
    moment,
    count,
    strangerBps: Math.round(strangerBps),
    servers: top.map((server) => ({
      address: server.address,
      sites: server.sites,
      measured: { working: server.workingCount, holiday: server.holidayCount },
      lastAt: new Date(server.lastAtMs).toISOString(),
      nowBps: Math.round(server.nowBps),
      scatter: server.scatter?.mean ?? null,
      workingBps: server.workingCount === 0 ? null : rounded(server.bps.subarray(0, HOURS)),
      holidayBps: server.holidayCount === 0 ? null : rounded(server.bps.subarray(HOURS)),
      measuredHours: {
        working: measuredHours(server.workingHours),
        holiday: measuredHours(server.holidayHours),
      },
    })),
  };
}

/** The least important column is last, where narrow screens cut it off. */
function headLine(addressColumns: number): string {
  return [
    "address".padEnd(addressColumns),
    "measured".padStart(8),
    "seen ago".padStart(12),
    "gives now".padStart(11),
    "a working day's 24 hours".padEnd(HOURS),
    "a holiday's 24 hours".padEnd(HOURS),
    "sites",
  ].join("  ");
}

function serverLine(
  server: ServerView,
  nowMs: number,
  addressColumns: number,
  palette: Palette,
): string {
  // One scale for both kinds of day, so that they can be compared.
  const levels = sparkline([...server.bps], 2 * HOURS);
  const daysOf = (hours: number, from: number): string =>
    Array.from({ length: HOURS }, (_, hour) =>
      isMeasured(hours, hour) ? levels.charAt(from + hour) : NOT_MEASURED,
    ).join("");
  return [
    visible(server.address).slice(0, addressColumns).padEnd(addressColumns),
    showCount(server.measured).padStart(8),
    since(nowMs - server.lastAtMs).padStart(12),
    `${showBytes(server.nowBps)}/s`.padStart(11),
    palette.accent(daysOf(server.workingHours, 0)),
    palette.accent(daysOf(server.holidayHours, HOURS)),
    palette.dim(sitesOf(server)),
  ].join("  ");
}

function sitesOf({ sites }: ServerRow): string {
  return sites.map((site) => visible(site.replace(/^https:\/\//, ""), 80)).join(" ");
}

function since(durationMs: number): string {
  const days = Math.floor(durationMs / 86_400_000);
  return days >= 2 ? `${showCount(days)} days` : showDuration(Math.max(0, durationMs));
}

function clock({ minuteOfDay }: DayMoment): string {
  const [hour, minute] = [Math.floor(minuteOfDay / 60), minuteOfDay % 60];
  return `${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`;
}

function measuredAt({ workingCount, holidayCount }: ServerRow): number {
  return workingCount + holidayCount;
}

function rounded(values: Float32Array): number[] {
  return Array.from(values, Math.round);
}
