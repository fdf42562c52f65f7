/** The thread that reads large bodies, one after the other; see `page-thread.ts`. */

import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import type { PackedLinks } from "./later-links.ts";
import type { Harvest } from "./links.ts";
import { PageScanner, type Scan, type ScannedPage, type ScanOptions } from "./scan-page.ts";
import type { PackedRuns } from "./text-runs.ts";
import type { ResolvedUrl } from "../url/url.ts";

export interface ScanTask {
  readonly url: ResolvedUrl;
  readonly contentType: string;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** A scan as it passes between threads. */
export type PackedScan =
  | Exclude<Scan, { kind: "html" }>
  | ({ readonly kind: "html"; readonly digest: Uint8Array } & Omit<
      ScannedPage,
      "html" | "harvest"
    > & {
        /** undefined if it is the body as it was sent. */
        readonly html: Uint8Array | undefined;
        readonly harvest: Omit<Harvest, "runs" | "later"> & {
          readonly runs: PackedRuns;
          readonly later: PackedLinks | undefined;
        };
      });

const PRIORITY = 10;

// The crawl's own thread goes first where processors are few. Elsewhere this would concern the whole process.
if (process.platform === "linux") setPriority(PRIORITY);

const scanner = new PageScanner(workerData as ScanOptions);
const NOTHING_IS_KNOWN = (): boolean => false;

parentPort?.on("message", (task: ScanTask) => {
  const scan = scanner.scan(task, NOTHING_IS_KNOWN);
  parentPort?.postMessage(packed(scan, task.body));
});

function packed(scan: Scan, body: Uint8Array): PackedScan {
  if (scan.kind !== "html") return scan;
  const { html, harvest } = scan;
  const { runs, later } = harvest;
  return {
    ...scan,
    html: html === body ? undefined : html,
    harvest: { ...harvest, runs: runs.packed(), later: later?.packed() },
  };
}
