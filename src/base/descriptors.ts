/**
 * File descriptors of this process: how many the system allows, how many are open, whether any is left.
 *
 * SQLite and c-ares report "no descriptor left" in words of their own, so it is checked by opening one.
 */

import { execFileSync } from "node:child_process";
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";
import { devNull } from "node:os";

const SHORTAGE: ReadonlySet<string> = new Set(["EMFILE", "ENFILE"]);

/** The most that this process may have open; undefined where that is unlimited or unknown. */
export function descriptorLimit(): number | undefined {
  const limit = Number(limitText());
  return Number.isSafeInteger(limit) && limit > 0 ? limit : undefined;
}

/** Open now; undefined where the system does not list them. */
export function descriptorsOpen(): number | undefined {
  try {
    // The listing itself holds one.
    return readdirSync("/dev/fd").length - 1;
  } catch {
    return undefined;
  }
}

/** Whether not even one more can be opened. */
export function areDescriptorsUsedUp(): boolean {
  try {
    closeSync(openSync(devNull, "r"));
    return false;
  } catch (error) {
    return isDescriptorShortage(error);
  }
}

/** Whether an error, or the cause of it, says that no descriptor was left. */
export function isDescriptorShortage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("code" in error && SHORTAGE.has(String(error.code))) return true;
  return isDescriptorShortage(error.cause);
}

function limitText(): string | undefined {
  try {
    const limits = readFileSync("/proc/self/limits", "utf8");
    return /^Max open files\s+(\S+)/m.exec(limits)?.[1];
  } catch {
    return limitFromShell();
  }
}

/** Elsewhere than on Linux; a child process has the limit of its parent. */
function limitFromShell(): string | undefined {
  try {
    return execFileSync("sh", ["-c", "ulimit -n"], { encoding: "utf8", stdio: "pipe" }).trim();
  } catch {
    return undefined;
  }
}
