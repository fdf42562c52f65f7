/** What servers give by hour and kind of day, those measured most first. */

import { measuredHours } from "../bandwidth/history/speed-table.ts";
import { serversOf } from "../store/joined/joined-servers.ts";
import { TimeZone } from "../bandwidth/clock/local-time.ts";
import { savedHours } from "../config/saved-settings.ts";
import type { StoredServer } from "../store/sqlite/server-file.ts";
import { highest } from "../report/gather.ts";
import type { ServerLine, ServersAnswer } from "./shapes.ts";

const LINES_MAX = 60;
const HOURS = 24;

export function serversAnswer(folder: string, speedsFile: string | undefined): ServersAnswer {
  const { kept, count } = highest(serversOf(folder, speedsFile), LINES_MAX, measuredOf);
  const { minuteOfDay } = new TimeZone(savedHours(folder).timeZone).at(Date.now());
  return { total: count, hour: Math.floor(minuteOfDay / 60), lines: kept.map(lineOf) };
}

function measuredOf({ workingCount, holidayCount }: StoredServer): number {
  return workingCount + holidayCount;
}

function lineOf(server: StoredServer): ServerLine {
  const { address, sites, bps, workingCount, holidayCount } = server;
  const day = (from: number, count: number): (number | null)[] =>
    count === 0 ? [] : Array.from(bps.subarray(from, from + HOURS), orNull);
  return {
    address,
    sites: sites.slice(0, 3),
    measured: measuredOf(server),
    workingBps: day(0, workingCount),
    holidayBps: day(HOURS, holidayCount),
    workingHours: measuredHours(server.workingHours),
    holidayHours: measuredHours(server.holidayHours),
  };
}

/** JSON knows no NaN. */
function orNull(bps: number): number | null {
  return Number.isFinite(bps) ? bps : null;
}
