/**
 * Rows of named values as a table: for terminals, documents and spreadsheets.
 *
 * Columns are in the order in which they first occur; missing values are empty.
 */

export type Row = Readonly<Record<string, number | string | null>>;

const GAP = "  ";

/** Numbers to the right, words to the left, no frame. */
export function alignedTable(rows: readonly Row[]): string {
  const columns = columnsOf(rows);
  const cells = [columns, ...rows.map((row) => columns.map((column) => textOf(row[column])))];
  const widths = columns.map((_, at) => Math.max(...cells.map((line) => (line[at] ?? "").length)));
  const isNumber = columns.map((column) => rows.some((row) => typeof row[column] === "number"));
  return cells
    .map((line) =>
      line
        .map((cell, at) =>
          isNumber[at] === true ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0),
        )
        .join(GAP)
        .trimEnd(),
    )
    .join("\n");
}

export function markdownTable(rows: readonly Row[]): string {
  const columns = columnsOf(rows);
  const rule = columns.map((column) =>
    rows.some((row) => typeof row[column] === "number") ? "--:" : "---",
  );
  const body = rows.map((row) => columns.map((column) => textOf(row[column])));
  const lines = [columns, rule, ...body].map((cells) => `| ${cells.map(barred).join(" | ")} |`);
  return `${lines.join("\n")}\n`;
}

/** RFC 4180, with this system's line ends. */
export function csvTable(rows: readonly Row[]): string {
  const columns = columnsOf(rows);
  const body = rows.map((row) => columns.map((column) => textOf(row[column])));
  const lines = [columns, ...body].map((cells) => cells.map(quoted).join(","));
  return `${lines.join("\n")}\n`;
}

function columnsOf(rows: readonly Row[]): string[] {
  return [...new Set(rows.flatMap((row) => Object.keys(row)))];
}

function textOf(value: number | string | null | undefined): string {
  return value === null || value === undefined ? "" : String(value);
}

function barred(cell: string): string {
  return cell.replaceAll("|", "\\|");
}

function quoted(cell: string): string {
  return /[",\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
