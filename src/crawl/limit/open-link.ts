/**
 * Opens the line of a real crawl: the counters of its interface, its time zone, and the speeds of servers, which are
 * kept in a file between crawls.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { Almanac } from "../../bandwidth/clock/day-kind.ts";
import type { ThreadSecond } from "../../bandwidth/full-thread.ts";
import { TimeZone } from "../../bandwidth/clock/local-time.ts";
import type { SpeedTable } from "../../bandwidth/history/speed-table.ts";
import { overheadFor } from "../../bandwidth/window.ts";
import { publicHolidaysOf } from "../../config/holidays.ts";
import type { Settings } from "../../config/schema.ts";
import { lineCounters } from "../../fetch/line-counters.ts";
import { LineGauge } from "../../fetch/line-gauge.ts";
import { PacketOverhead, repeatedPackets } from "../../fetch/packet-overhead.ts";
import type { UndiciTransport } from "../../fetch/transport-undici.ts";
import { openServerFile, type ServerFile, SERVERS_FILE } from "../../store/sqlite/server-file.ts";
import type { LinkSetup } from "../context.ts";
import { speedTableFor } from "./link-budget.ts";

/** Time in milliseconds between two saves of learned speeds. */
const SAVE_EVERY_MS = 60_000;
/** Nanoseconds that the main thread of this process has run, and has waited for a processor (Linux). */
const SCHEDULE_FILE = "/proc/self/schedstat";

interface OpenLine {
  readonly means: LinkSetup;
  /** Stores the learned speeds and closes their file. */
  close(): Promise<void>;
}

export function openLine(
  settings: Settings,
  folder: string | undefined,
  transport: UndiciTransport,
): OpenLine {
  const zone = new TimeZone(settings.timeZone);
  const isHoliday =
    settings.holidays === undefined ? undefined : publicHolidaysOf(settings.holidays);
  const counters = lineCounters(transport);
  const overhead = new PacketOverhead(counters, repeatedPackets);
  const gauge = new LineGauge(counters, () => transport.unreadBytesMax);
  const speeds = speedTableFor(settings);
  const keeper = keepSpeeds(settings, folder, speeds);
  return {
    means: {
      wire: {
        setWindow: (bytes) => {
          transport.setWindow(bytes);
          overhead.expect(overheadFor(bytes));
        },
        // Read only under a limit: the first check takes some milliseconds.
        get windowsHeld() {
          return transport.windowsHeld;
        },
        overheadShare: (nowMs, limitBps) => overhead.shareNow(nowMs, limitBps),
        takeBeyond: (receivedBytes) => overhead.takeBeyond(receivedBytes),
        takeCarried: (receivedBytes, limitBps) => gauge.take(receivedBytes, limitBps),
        takeThread: threadSeconds(),
      },
      speeds,
      zone,
      almanac: new Almanac(zone, isHoliday),
    },
    close: async () => keeper?.close(),
  };
}

/** Each call returns figures of the time since the call before. */
function threadSeconds(): () => ThreadSecond {
  let before = performance.eventLoopUtilization();
  let scheduled = scheduledMs() ?? { ran: 0, delayed: 0 };
  let atMs = performance.now();
  return () => {
    const now = performance.eventLoopUtilization();
    // Without figures from the system nothing counts as scheduled; the next second includes it.
    const nowScheduled = scheduledMs() ?? scheduled;
    const nowMs = performance.now();
    const { utilization } = performance.eventLoopUtilization(now, before);
    const share = (key: "ran" | "delayed"): number =>
      (nowScheduled[key] - scheduled[key]) / Math.max(1, nowMs - atMs);
    // A thread that is woken late looks idle to its own event loop.
    const busyShare = Math.max(utilization, share("ran") + share("delayed"));
    const second = { busyShare, delayedShare: share("delayed") };
    [before, scheduled, atMs] = [now, nowScheduled, nowMs];
    return second;
  };
}

/** Time that the main thread ran, and waited for a processor; undefined where the system does not report it. */
function scheduledMs(): { readonly ran: number; readonly delayed: number } | undefined {
  try {
    const [ranNs = 0, delayedNs = 0] = readFileSync(SCHEDULE_FILE, "utf8").split(" ").map(Number);
    return { ran: ranNs / 1e6, delayed: delayedNs / 1e6 };
  } catch {
    return undefined;
  }
}

function keepSpeeds(
  settings: Settings,
  folder: string | undefined,
  speeds: SpeedTable,
): SpeedKeeper | undefined {
  const path =
    settings.speedsFile ?? (folder === undefined ? undefined : join(folder, SERVERS_FILE));
  if (path === undefined) return undefined;
  return new SpeedKeeper(openServerFile(path, settings), speeds);
}

/** Loads the speeds, and saves what was learned every minute and at the end. */
class SpeedKeeper {
  readonly #file: ServerFile;
  readonly #speeds: SpeedTable;
  readonly #timer: NodeJS.Timeout;
  #savedRevision: number;

  constructor(file: ServerFile, speeds: SpeedTable) {
    this.#file = file;
    this.#speeds = speeds;
    speeds.restore(file.rows());
    this.#savedRevision = speeds.revision;
    this.#timer = setInterval(() => void this.#save(), SAVE_EVERY_MS).unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#save();
    await this.#file[Symbol.asyncDispose]();
  }

  /** Errors are not reported: a full disk is reported by the crawl's own store. */
  async #save(): Promise<void> {
    const { revision } = this.#speeds;
    if (revision === this.#savedRevision) return;
    if (await this.#file.save(this.#speeds.rows(this.#savedRevision)))
      this.#savedRevision = revision;
  }
}
