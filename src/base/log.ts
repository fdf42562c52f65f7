/**
 * What the program says while it runs, as a sink. Messages are ours; values may be foreign, so the
 * adapter that prints must pass them through `visible`.
 */

export type LogLevel = "debug" | "info" | "warn" | "error";

export interface LogEntry {
  readonly level: LogLevel;
  readonly message: string;
  readonly values: Readonly<Record<string, string | number | boolean>>;
}

export interface Log {
  /** Nobody reads what weighs less, so that it need not travel. Where it is not told, everything is read. */
  readonly least?: LogLevel;
  write(entry: LogEntry): void;
}

export const silentLog: Log = { least: "error", write() {} };

const WEIGHT: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

export function isRead(level: LogLevel, least: LogLevel): boolean {
  return WEIGHT[level] >= WEIGHT[least];
}
