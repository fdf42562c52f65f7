/** Outputs of the log: lines for users, and JSON lines in a file. */

import { createWriteStream } from "node:fs";
import { isRead, type Log, type LogEntry, type LogLevel } from "../base/log.ts";
import { visible } from "../base/visible.ts";

const FILE_BACKLOG_BYTES_MAX = 8 * 2 ** 20;

export function linesLog(write: (line: string) => void, least: LogLevel): Log {
  return {
    least,
    write(entry) {
      if (isRead(entry.level, least)) write(lineOf(entry));
    },
  };
}

/** JSON makes control characters visible as escapes; a slow disk loses lines, not memory. */
export function fileLog(file: string, onError: (error: Error) => void): Log {
  const stream = createWriteStream(file, { flags: "a" });
  stream.once("error", onError);
  return {
    least: "debug",
    write({ level, message, values }) {
      if (stream.destroyed || stream.writableLength > FILE_BACKLOG_BYTES_MAX) return;
      const at = new Date().toISOString();
      stream.write(`${JSON.stringify({ at, level, message, ...values })}\n`);
    },
  };
}

export function bothLogs(first: Log, second: Log): Log {
  const [one = "debug", other = "debug"] = [first.least, second.least];
  return {
    least: isRead(one, other) ? other : one,
    write(entry) {
      first.write(entry);
      second.write(entry);
    },
  };
}

function lineOf({ level, message, values }: LogEntry): string {
  const words = Object.entries(values)
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${name}=${visible(String(value), 300)}`);
  const prefix = level === "debug" ? "" : `${level}: `;
  return [`${prefix}${visible(message, 500)}`, ...words].join(" ");
}
