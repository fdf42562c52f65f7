/** Writes the output file of a command, or reports why it cannot. */

import { writeFileSync } from "node:fs";
import { explained } from "../base/disk-trouble.ts";
import { CrawlError } from "../base/errors.ts";
import { visible } from "../base/visible.ts";

export function writeOut(file: string, content: string | Uint8Array): void {
  try {
    writeFileSync(file, content);
  } catch (error) {
    throw unwritable(error, file);
  }
}

/** The operator's error for a file that cannot be written; other errors are returned unchanged. */
export function unwritable(
  error: unknown,
  file: string,
  codeOtherwise: "FILE_UNREADABLE" | "FOLDER_UNWRITABLE" = "FILE_UNREADABLE",
): unknown {
  if (!(error instanceof Error) || error instanceof CrawlError) return error;
  const found = explained(error, visible(file, 200));
  if (!(found instanceof CrawlError) || found.code === "DESCRIPTORS_USED_UP") return found;
  const code = found.code === "DISK_FULL" ? "DISK_FULL" : codeOtherwise;
  const what = `Cannot write ${visible(file, 200)}: ${error.message}`;
  return new CrawlError(code, what, { cause: error });
}
