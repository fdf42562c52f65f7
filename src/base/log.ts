/**
 * The program's log as an injected dependency. Messages are constant; values may be untrusted, so the
 * adapter that prints them must pass them through `visible`.
 */

/** From the least important to the most important. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** One message of a crawl. */
export interface LogEntry {
  readonly level: LogLevel;
  /** A constant text; what varies is in `values`, and may come from the web. */
  readonly message: string;
  readonly values: Readonly<Record<string, string | number | boolean>>;
}

/**
 * Receives messages of a crawl.
 *
 * @example
 * import { crawl, type Log } from "weir";
 *
 * const log: Log = { least: "warn", write: ({ level, message }) => console.error(level, message) };
 * await crawl({ urls: ["https://example.org/"], log });
 */
export interface Log {
  /** Entries below this level are not read and need not be written; undefined: all are read. */
  readonly least?: LogLevel;
  write(entry: LogEntry): void;
}

export const silentLog: Log = { least: "error", write() {} };

const WEIGHT: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

export function isRead(level: LogLevel, least: LogLevel): boolean {
  return WEIGHT[level] >= WEIGHT[least];
}
