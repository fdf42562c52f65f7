/**
 * Detects when this process has no file descriptor left.
 *
 * SQLite and c-ares report this with other errors, so it is checked by opening a file.
 */

import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";

const SHORTAGE: ReadonlySet<string> = new Set(["EMFILE", "ENFILE"]);

/** True if no file can be opened for lack of descriptors. */
export function areDescriptorsUsedUp(): boolean {
  try {
    closeSync(openSync(devNull, "r"));
    return false;
  } catch (error) {
    return isDescriptorShortage(error);
  }
}

/** True if an error, or its cause, reports a lack of descriptors. */
function isDescriptorShortage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("code" in error && SHORTAGE.has(String(error.code))) return true;
  return isDescriptorShortage(error.cause);
}
