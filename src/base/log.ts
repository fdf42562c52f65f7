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
  write(entry: LogEntry): void;
}

export const silentLog: Log = { write() {} };
