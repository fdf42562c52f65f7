/**
 * Draws a crawl in place, several times a second, without flicker.
 *
 * A frame is one write: the cursor goes up to the first line, each line is overwritten and cleared
 * to its end, the rest below is cleared. Terminals with synchronised output (mode 2026) show the
 * frame at once; others ignore that. The cursor is hidden meanwhile and is restored however the
 * program ends, by a handler of the process's exit.
 */

import type { WriteStream } from "node:tty";
import type { Snapshot } from "../control/snapshot.ts";
import { frameOf } from "./frame.ts";
import { type Palette, sizeOf } from "./terminal.ts";
import type { View } from "./view.ts";

const REDRAW_MS = 150;
const HIDE_CURSOR = "\x1b[?25l";
const SHOW_CURSOR = "\x1b[?25h";
const BEGIN_FRAME = "\x1b[?2026h";
const END_FRAME = "\x1b[?2026l";
const CLEAR_LINE_REST = "\x1b[K";
const CLEAR_BELOW = "\x1b[J";

export class LiveView implements View {
  readonly #stream: WriteStream;
  readonly #palette: Palette;
  readonly #snapshot: () => Snapshot;
  readonly #timer: NodeJS.Timeout;
  readonly #restoreCursor: () => void;
  readonly #redraw = (): void => this.#draw();
  #linesDrawn = 0;

  constructor(stream: WriteStream, palette: Palette, snapshot: () => Snapshot) {
    this.#stream = stream;
    this.#palette = palette;
    this.#snapshot = snapshot;
    this.#restoreCursor = () => stream.write(SHOW_CURSOR);
    process.on("exit", this.#restoreCursor);
    stream.write(HIDE_CURSOR);
    stream.on("resize", this.#redraw);
    this.#timer = setInterval(this.#redraw, REDRAW_MS);
    this.#draw();
  }

  note(line: string): void {
    this.#stream.write(`${this.#toTop()}${CLEAR_BELOW}${line}\n`);
    this.#linesDrawn = 0;
    this.#draw();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#stream.off("resize", this.#redraw);
    process.off("exit", this.#restoreCursor);
    this.#stream.write(`${this.#toTop()}${CLEAR_BELOW}${SHOW_CURSOR}`);
    this.#linesDrawn = 0;
  }

  #draw(): void {
    // A slow terminal gets fewer frames, not a queue of them.
    if (this.#stream.writableNeedDrain) return;
    const lines = frameOf(this.#snapshot(), {
      ...sizeOf(this.#stream),
      palette: this.#palette,
    });
    const body = lines.map((line) => `${line}${CLEAR_LINE_REST}\n`).join("");
    this.#stream.write(BEGIN_FRAME + this.#toTop() + body + CLEAR_BELOW + END_FRAME);
    this.#linesDrawn = lines.length;
  }

  #toTop(): string {
    // After a shrink the old lines may be above the window; the terminal then stops at its top.
    return this.#linesDrawn === 0 ? "" : `\x1b[${this.#linesDrawn}F`;
  }
}
