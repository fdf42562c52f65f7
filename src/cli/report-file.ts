/** Writes the report of a crawl atomically. */

import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { meaningOf } from "../dashboard/reason-words.ts";
import { gatherReport } from "../report/gather.ts";
import { reportHtml } from "../report/report.ts";
import { runningSnapshot } from "../results/crawl-folder.ts";
import { unwritable } from "./write-out.ts";

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
    throw unwritable(error, file, order.outFile === undefined ? "FOLDER_UNWRITABLE" : undefined);
  }
  return file;
}
