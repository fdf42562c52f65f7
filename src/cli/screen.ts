/** The output of a command that runs for some time: none, lines, or a live view. */

import type { WriteStream } from "node:tty";
import { type Log, silentLog } from "../base/log.ts";
import { visible } from "../base/visible.ts";
import type { Settings } from "../config/schema.ts";
import type { Snapshot } from "../control/snapshot.ts";
import { LiveView } from "./live-view.ts";
import { bothLogs, fileLog, linesLog } from "./log.ts";
import { PlainView } from "./plain-view.ts";
import { isLively, paletteFor } from "./terminal.ts";
import type { View } from "./view.ts";

export class Screen {
  readonly #stream: WriteStream;
  readonly #settings: Settings;
  readonly log: Log;
  #view: View | undefined;

  constructor(stream: WriteStream, settings: Settings) {
    this.#stream = stream;
    this.#settings = settings;
    const least = settings.quiet ? "error" : settings.verbose ? "debug" : "warn";
    const lines = linesLog((line) => this.#line(line), least);
    this.log = bothLogs(lines, this.#fileLog());
  }

  show(snapshot: () => Snapshot): void {
    if (this.#settings.quiet) return;
    this.#view = isLively(this.#stream, process.env)
      ? new LiveView(this.#stream, paletteFor(this.#stream, process.env), snapshot)
      : new PlainView((line) => this.#stream.write(`${line}\n`), snapshot);
  }

  /** Not printed with --quiet. */
  say(line: string): void {
    if (!this.#settings.quiet) this.#line(line);
  }

  /** Also printed with --quiet: requested information that is not available otherwise. */
  tell(line: string): void {
    this.#line(line);
  }

  close(): void {
    this.#view?.close();
    this.#view = undefined;
  }

  #line(line: string): void {
    if (this.#view === undefined) this.#stream.write(`${line}\n`);
    else this.#view.note(line);
  }

  #fileLog(): Log {
    const { logFile } = this.#settings;
    if (logFile === undefined) return silentLog;
    return fileLog(logFile, (error) =>
      this.#line(`The log file cannot be written: ${visible(error.message, 200)}`),
    );
  }
}
