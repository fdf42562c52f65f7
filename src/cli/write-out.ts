/** Writes the output file of a command, or reports why it cannot. */

import { writeFileSync } from "node:fs";
import { CrawlError } from "../base/errors.ts";
import { visible } from "../base/visible.ts";

export function writeOut(file: string, content: string | Uint8Array): void {
  try {
    writeFileSync(file, content);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CrawlError("FILE_UNREADABLE", `Cannot write ${visible(file, 200)}: ${why}`, {
      cause: error,
    });
  }
}
