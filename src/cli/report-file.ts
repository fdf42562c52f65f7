/** Writes the report of a crawl atomically. */

import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { descriptorShortage } from "../base/descriptors.ts";
import { CrawlError } from "../base/errors.ts";
import { visible } from "../base/visible.ts";
import { meaningOf } from "../dashboard/reason-words.ts";
import { gatherReport } from "../report/gather.ts";
import { reportHtml } from "../report/report.ts";
import { runningSnapshot } from "../results/crawl-folder.ts";

const REPORT_FILE = "report.html";

interface ReportOrder {
  readonly folder: string;
  /** By default in the crawl's folder. */
  readonly outFile: string | undefined;
  /** The file of server speeds, if it is not in the folder. */
  readonly speedsFile: string | undefined;
  /** The crawl to compare it with. */
  readonly referenceFolder?: string | undefined;
}

/** Returns the path of the report. */
export async function writeReport({ folder, ...order }: ReportOrder): Promise<string> {
  const file = order.outFile ?? join(folder, REPORT_FILE);
  const data = await gatherReport({
    folder,
    speedsFile: order.speedsFile,
    referenceFolder: order.referenceFolder,
    nowMs: Date.now(),
    isRunning: runningSnapshot(folder) !== undefined,
  });
  const part = `${file}.part`;
  try {
    writeFileSync(part, reportHtml(data, meaningOf));
    renameSync(part, file);
  } catch (error) {
    rmSync(part, { force: true });
    throw explained(error, file, order.outFile === undefined);
  }
  return file;
}

function explained(error: unknown, file: string, isInFolder: boolean): unknown {
  if (!(error instanceof Error) || !("code" in error)) return error;
  const shortage = descriptorShortage(error, visible(file, 200));
  if (shortage !== undefined) return shortage;
  const isFull = error.code === "ENOSPC";
  const code = isFull ? "DISK_FULL" : isInFolder ? "FOLDER_UNWRITABLE" : "FILE_UNREADABLE";
  return new CrawlError(code, `Cannot write ${visible(file, 200)}: ${error.message}`, {
    cause: error,
  });
}
