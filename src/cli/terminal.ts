/** The abilities of a stream: its size, cursor movement and colours. */

import type { WriteStream } from "node:tty";

export interface Palette {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly accent: (text: string) => string;
}

const asIs = (text: string): string => text;
const PLAIN: Palette = { bold: asIs, dim: asIs, good: asIs, bad: asIs, accent: asIs };
const COLOURED: Palette = {
  bold: (text) => `\x1b[1m${text}\x1b[22m`,
  dim: (text) => `\x1b[2m${text}\x1b[22m`,
  good: (text) => `\x1b[32m${text}\x1b[39m`,
  bad: (text) => `\x1b[31m${text}\x1b[39m`,
  accent: (text) => `\x1b[36m${text}\x1b[39m`,
};

/** https://no-color.org: any non-empty value means no colour. */
export function paletteFor(
  stream: Pick<WriteStream, "isTTY">,
  variables: Readonly<Record<string, string | undefined>>,
): Palette {
  const refused = (variables["NO_COLOR"] ?? "") !== "" || variables["TERM"] === "dumb";
  return stream.isTTY && !refused ? COLOURED : PLAIN;
}

/** Whether the cursor can be moved, so that the same lines can be drawn again. */
export function isLively(
  stream: Pick<WriteStream, "isTTY">,
  variables: Readonly<Record<string, string | undefined>>,
): boolean {
  return stream.isTTY && variables["TERM"] !== "dumb" && (variables["CI"] ?? "") === "";
}

const COLUMNS_UNKNOWN = 80;
const ROWS_UNKNOWN = 24;

/** Some terminals do not know their size and report 0. */
export function sizeOf(stream: Partial<Pick<WriteStream, "columns" | "rows">>): {
  readonly columns: number;
  readonly rows: number;
} {
  return { columns: stream.columns || COLUMNS_UNKNOWN, rows: stream.rows || ROWS_UNKNOWN };
}

// Scripts with letters of two columns, and emoji.
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const WITHOUT_WIDTH = /\p{Mark}/u;
const COLOUR_CODE = /\x1b\[\d+m/y;

/** Cuts a line to a number of columns; colour codes take none and are all kept. */
export function fitted(line: string, columns: number): string {
  let width = 0;
  let kept = "";
  for (let at = 0; at < line.length;) {
    COLOUR_CODE.lastIndex = at;
    const code = COLOUR_CODE.exec(line)?.[0];
    const character = code ?? String.fromCodePoint(line.codePointAt(at) ?? 0);
    at += character.length;
    if (code === undefined) {
      width += columnsOf(character);
      if (width > columns) continue;
    }
    kept += character;
  }
  return kept;
}

function columnsOf(character: string): number {
  if (character <= "\u00ff") return 1;
  return WITHOUT_WIDTH.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
}
