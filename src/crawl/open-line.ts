/**
 * What a real crawl knows of the line: the counters of its interface, the hours of its place, and the
 * speeds of servers, which are kept in a file from crawl to crawl.
 */

import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { Almanac } from "../bandwidth/day-kind.ts";
import { TimeZone } from "../bandwidth/local-time.ts";
import type { SpeedTable } from "../bandwidth/speed-table.ts";
import { overheadFor } from "../bandwidth/window.ts";
import { publicHolidaysOf } from "../config/holidays.ts";
import type { Settings } from "../config/schema.ts";
import { lineCounters } from "../fetch/line-counters.ts";
import { LineGauge } from "../fetch/line-gauge.ts";
import { PacketOverhead, repeatedPackets } from "../fetch/packet-overhead.ts";
import type { UndiciTransport } from "../fetch/transport-undici.ts";
import { openServerFile, type ServerFile, SERVERS_FILE } from "../store/server-file.ts";
import { type LineMeans, speedTableFor } from "./line.ts";

const SAVE_EVERY_MS = 60_000;

export interface OpenLine {
  readonly means: LineMeans;
  /** Stores what was learned and lets the file go. */
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
        // Asked only under a limit: finding out takes some milliseconds.
        get windowsHeld() {
          return transport.windowsHeld;
        },
        overheadShare: (nowMs, limitBps) => overhead.shareNow(nowMs, limitBps),
        takeBeyond: (receivedBytes) => overhead.takeBeyond(receivedBytes),
        takeCarried: (receivedBytes, limitBps) => gauge.take(receivedBytes, limitBps),
        takeBusyShare: busyShares(),
      },
      speeds,
      zone,
      almanac: new Almanac(zone, isHoliday),
    },
    close: async () => keeper?.close(),
  };
}

/** Each answer is of the time since the one before. */
function busyShares(): () => number {
  let before = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    return utilization;
  };
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

/** Takes the speeds from their file, and brings back what was learned, every minute and at the end. */
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

  /** A full disk is told by the crawl's own store; speeds can wait. */
  async #save(): Promise<void> {
    const { revision } = this.#speeds;
    if (revision === this.#savedRevision) return;
    if (await this.#file.save(this.#speeds.rows(this.#savedRevision)))
      this.#savedRevision = revision;
  }
}
