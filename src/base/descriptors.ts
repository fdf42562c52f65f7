/**
 * File descriptors of this process: how many the system allows, how many are open, and errors for lack of them.
 *
 * SQLite and c-ares report a shortage with other errors, so it is checked by opening a file.
 */

import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";
import { devNull } from "node:os";
import { CrawlError } from "./errors.ts";

const SHORTAGE: ReadonlySet<string> = new Set(["EMFILE", "ENFILE"]);
/** SQLite's primary codes for a file that cannot be opened, and for a failed system call. */
const SQLITE_OPENING: ReadonlySet<number> = new Set([14, 10]);

/** True if no file can be opened for lack of descriptors. */
export function areDescriptorsUsedUp(): boolean {
  try {
    closeSync(openSync(devNull, "r"));
    return false;
  } catch (error) {
    return isShortage(error);
  }
}

/** The operator's error if the cause is a lack of descriptors; undefined for all other errors. */
export function descriptorShortage(error: unknown, where = ""): CrawlError | undefined {
  if (!(error instanceof Error) || error instanceof CrawlError) return undefined;
  if (!isShortage(error) && !(isSqliteOpening(error) && areDescriptorsUsedUp())) return undefined;
  const message = where === "" ? error.message : `${where}: ${error.message}`;
  return new CrawlError("DESCRIPTORS_USED_UP", message, { cause: error });
}

/** Open files that the system allows this process, sockets included; undefined where it does not tell. */
export function descriptorsMax(): number | undefined {
  try {
    const limits = readFileSync("/proc/self/limits", "latin1");
    return numberIn(/^Max open files +(\S+)/m.exec(limits)?.[1]);
  } catch {
    // Other systems than Linux. The report would otherwise ask for the names of all connections.
    Object.assign(process.report, { excludeNetwork: true });
    const { userLimits } = process.report.getReport() as { userLimits?: UserLimits };
    return numberIn(userLimits?.open_files?.soft);
  }
}

/** Descriptors that are open now; undefined where the system does not tell. */
export function descriptorsOpen(): number | undefined {
  try {
    // One of them belongs to the reading itself.
    return readdirSync("/dev/fd").length - 1;
  } catch {
    return undefined;
  }
}

interface UserLimits {
  readonly open_files?: { readonly soft: number | string };
}

function numberIn(value: number | string | undefined): number | undefined {
  const number = Number(value ?? Number.NaN);
  return Number.isSafeInteger(number) ? number : undefined;
}

function isShortage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? String(error.code) : "";
  if (SHORTAGE.has(code)) return true;
  // A thread that cannot start names the cause only in its message.
  if (code === "ERR_WORKER_INIT_FAILED" && /\bE[MN]FILE\b/.test(error.message)) return true;
  return isShortage(error.cause);
}

function isSqliteOpening(error: Error): boolean {
  return (
    "errcode" in error &&
    typeof error.errcode === "number" &&
    SQLITE_OPENING.has(error.errcode & 0xff)
  );
}
