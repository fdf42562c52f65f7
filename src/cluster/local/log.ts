/**
 * The log of a process under a supervisor: entries are collected for a moment and sent together.
 *
 * A message for each entry took a tenth of a process's time. Errors and warnings are sent at once, after the entries
 * before them.
 */

import { isRead, type Log, type LogEntry, type LogLevel } from "../../base/log.ts";

const GATHER_MS = 100;
const GATHER_MAX = 500;

export class LogSender implements Log, Disposable {
  readonly least: LogLevel;
  readonly #send: (entries: readonly LogEntry[]) => void;
  #entries: LogEntry[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(least: LogLevel, send: (entries: readonly LogEntry[]) => void) {
    this.least = least;
    this.#send = send;
  }

  write(entry: LogEntry): void {
    if (!isRead(entry.level, this.least)) return;
    this.#entries.push(entry);
    if (entry.level === "error" || this.#entries.length >= GATHER_MAX) return this.send();
    this.#timer ??= setTimeout(() => this.send(), GATHER_MS);
  }

  /** Sends the collected entries when the process ends. */
  [Symbol.dispose](): void {
    this.send();
  }

  /** Sends the collected entries now. */
  send(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#entries.length === 0) return;
    const entries = this.#entries;
    this.#entries = [];
    this.#send(entries);
  }
}
