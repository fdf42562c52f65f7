/** The exit codes of commands; the numbers are part of the contract. */

import type { ErrorCode } from "../base/errors.ts";

export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  /** By the user or by a limit, with work left; the same command resumes. */
  stopped: 3,
  killed: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Mistakes in the request, as opposed to failures while carrying it out. */
const ASKED_WRONGLY: ReadonlySet<ErrorCode> = new Set([
  "USAGE",
  "SETTINGS_INVALID",
  "SEEDS_MISSING",
  "SEED_REFUSED",
  "FILE_UNREADABLE",
  "FOLDER_FOREIGN",
  "FOLDER_MISSING",
  "STORE_CHANGED",
]);

export function exitCodeOf(code: ErrorCode): ExitCode {
  return ASKED_WRONGLY.has(code) ? EXIT.usage : EXIT.failed;
}
