/**
 * A plan as lines of a terminal: a bar over time for each site, darker where its rate is higher,
 * and its deadline as a vertical stroke. A pure function of rows and screen.
 */

import { showDuration } from "../base/units.ts";
import { visible } from "../base/visible.ts";
import { highestBps, type PlanRow, spanSeconds } from "../report/plan-rows.ts";
import type { Screen } from "./frame.ts";
import { fitted } from "./terminal.ts";

const SHADES = ["░", "▒", "▓", "█"];
const DEADLINE = "│";
const FAR = "›";
/** A narrower bar is useless. */
const BAR_COLUMNS_MIN = 16;
const NAME_COLUMNS_MAX = 32;

export function ganttLines(rows: readonly PlanRow[], { columns, palette }: Screen): string[] {
  const names = rows.map(({ name }) => visible(shortName(name), 80));
  const longest = Math.max(0, ...names.map((name) => name.length));
  const nameColumns = Math.min(longest, NAME_COLUMNS_MAX, columns - BAR_COLUMNS_MIN - 3);
  const barColumns = columns - nameColumns - 3;
  if (nameColumns < 4 || rows.length === 0) return [];
  const span = spanSeconds(rows);
  const mostBps = highestBps(rows);
  return [
    ...rows.map((row, index) => {
      const cells = cellsOf(row, span, barColumns, mostBps);
      const drawn = row.isLate ? palette.bad(cells) : palette.accent(cells);
      const name = cut(names[index] ?? "", nameColumns).padEnd(nameColumns);
      return `${row.isLate ? palette.bad(name) : name}  ${drawn}`.trimEnd();
    }),
    palette.dim(`${" ".repeat(nameColumns + 2)}${axisOf(span, barColumns)}`),
    palette.dim(`${" ".repeat(nameColumns + 2)}${legendOf(rows)}`),
  ].map((line) => fitted(line, columns));
}

/** Removes the parts of a name that all users know. */
export function shortName(site: string): string {
  return site.replace(/^https?:\/\//, "");
}

function cut(name: string, columns: number): string {
  return name.length <= columns ? name : `${name.slice(0, columns - 1)}…`;
}

function cellsOf(row: PlanRow, span: number, columns: number, mostBps: number): string {
  const cellSeconds = span / columns;
  const bytes = new Float64Array(columns);
  for (const { fromSeconds, toSeconds, rateBps } of row.segments) {
    const last = Math.min(columns - 1, Math.floor(toSeconds / cellSeconds));
    for (let cell = Math.floor(fromSeconds / cellSeconds); cell <= last; cell++) {
      const from = Math.max(fromSeconds, cell * cellSeconds);
      const to = Math.min(toSeconds, (cell + 1) * cellSeconds);
      bytes[cell] = (bytes[cell] as number) + Math.max(0, to - from) * rateBps;
    }
  }
  const cells = Array.from(bytes, (amount) => shadeOf(amount / cellSeconds / mostBps));
  if (row.deadlineSeconds !== undefined) {
    const at = Math.floor(row.deadlineSeconds / cellSeconds);
    if (at < columns) cells[at] = DEADLINE;
    else cells[columns - 1] = FAR;
  }
  return cells.join("").trimEnd();
}

function shadeOf(share: number): string {
  if (share <= 1e-9) return " ";
  // Rounding must not make a constant rate look variable.
  const step = Math.ceil(share * SHADES.length - 1e-6) - 1;
  return SHADES[Math.max(0, Math.min(SHADES.length - 1, step))] ?? " ";
}

function axisOf(span: number, columns: number): string {
  const middle = columns >= 40 ? showDuration(span * 500) : "";
  const end = showDuration(span * 1000);
  const left = `0${middle.padStart(Math.floor((columns + middle.length) / 2) - 1)}`;
  return left + end.padStart(Math.max(0, columns - left.length));
}

function legendOf(rows: readonly PlanRow[]): string {
  const hasDeadline = rows.some(({ deadlineSeconds }) => deadlineSeconds !== undefined);
  return `${SHADES.join("")} low to high rate${hasDeadline ? `   ${DEADLINE} deadline` : ""}`;
}
