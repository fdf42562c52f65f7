/**
 * An archive in memory that survives the simulated process, including uncommitted records.
 *
 * Opening removes the records beyond the marks of the last commit, as the real outputs do.
 */

import type { Clock } from "../base/clock.ts";
import type { Capture, Output } from "../output/output.ts";
import type { ArchivePlace } from "../page/page.ts";

/** The persistent data: URL and length of every record. */
export class SimArchive {
  readonly records: { readonly url: string; readonly bytes: number }[] = [];
}

const FILE = "archive";
const WRITE_MS = 1;

export function openSimOutput(
  archive: SimArchive,
  clock: Clock,
  marks: Readonly<Record<string, number>>,
): Output {
  archive.records.splice(marks[FILE] ?? 0);
  return {
    write: (capture: Capture): Promise<ArchivePlace> =>
      new Promise((resolve) => {
        clock.after(WRITE_MS, () => {
          const offset = archive.records.length;
          archive.records.push({ url: capture.url, bytes: capture.body.length });
          resolve({ file: FILE, offset, length: 1 });
        });
      }),
    marks: () => ({ [FILE]: archive.records.length }),
    sync: async () => {},
    close: async () => {},
  };
}
