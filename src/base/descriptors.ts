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

/** A database with its log and shared memory, and its folder: SQLite closes them before it reports. */
const SQLITE_FILES = 4;

/** True if so many files cannot be opened at once for lack of descriptors. */
export function areDescriptorsUsedUp(files = 1): boolean {
  const opened: number[] = [];
  try {
    while (opened.length < files) opened.push(openSync(devNull, "r"));
    return false;
  } catch (error) {
    return isShortage(error);
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

/** The operator's error if the cause is a lack of descriptors; undefined for all other errors. */
export function descriptorShortage(error: unknown, where = ""): CrawlError | undefined {
  if (!(error instanceof Error) || error instanceof CrawlError) return undefined;
  if (!isShortage(error) && !(isSqliteOpening(error) && areDescriptorsUsedUp(SQLITE_FILES)))
    return undefined;
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
  // Node's own errors of threads and modules name the cause only in their message.
  if (code.startsWith("ERR_") && /\bE[MN]FILE\b|too many open files/.test(error.message))
    return true;
  return isShortage(error.cause);
}

function isSqliteOpening(error: Error): boolean {
  return (
    "errcode" in error &&
    typeof error.errcode === "number" &&
    SQLITE_OPENING.has(error.errcode & 0xff)
  );
}
