/** `weir status DIR`: the state of a crawl, once or until it ends. */

import { Almanac } from "../../bandwidth/clock/day-kind.ts";
import { TimeZone } from "../../bandwidth/clock/local-time.ts";
import { sleep, systemClock } from "../../base/clock.ts";
import type { FieldTable, Resolved } from "../../config/field.ts";
import { publicHolidaysOf } from "../../config/holidays.ts";
import { onOff } from "../../config/readers.ts";
import { SETTINGS } from "../../config/schema.ts";
import { savedHours } from "../../config/saved-settings.ts";
import { type ParallelMetrics, parallelMetrics } from "../../results/parallel-metrics.ts";
import { roundPagesOf, type Snapshot } from "../../control/snapshot.ts";
import { serversOf } from "../../store/joined/joined-servers.ts";
import { storeFolders } from "../../store/team-file.ts";
import { plural, showCount } from "../amounts.ts";
import { JSON_FLAG, readArgs } from "../args.ts";
import { crawlLines, crawlsInside } from "../crawl-list.ts";
import { runningSnapshot, storedSnapshot } from "../../results/crawl-folder.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { frameOf, type Screen } from "../frame.ts";
import type { Command } from "../help.ts";
import { LiveView } from "../live-view.ts";
import { PlainView } from "../plain-view.ts";
import { serverLines, serversAsJson, surveyed } from "../server-lines.ts";
import { isLively, paletteFor, sizeOf } from "../terminal.ts";

const LOOK_EVERY_MS = 250;
const COLUMNS_IN_PIPES = 120;
const ROWS_MAX = 60;
const SERVERS_IN_JSON_MAX = 10_000;

const FLAGS = {
  watch: {
    key: "watch",
    meaning: "Update until the crawl ends.",
    fallback: "false",
    reader: onOff,
  },
  ...JSON_FLAG,
  servers: {
    key: "servers",
    meaning: "Show measured and expected server speeds instead, by hour and kind of day.",
    fallback: "false",
    reader: onOff,
  },
  referenceFolder: SETTINGS.referenceFolder,
  speedsFile: SETTINGS.speedsFile,
  timeZone: SETTINGS.timeZone,
  holidays: SETTINGS.holidays,
} as const satisfies FieldTable;

export const command: Command = {
  run,
  page: {
    usage: "weir status DIR [--watch | --servers | --reference DIR] [--json]",
    about:
      "Shows the state of the crawl in DIR, running or not, without affecting it. If DIR contains the folders of several crawls, it lists them.",
    examples: [
      ["weir status weir-data/example.org", "progress and outcomes"],
      ["weir status weir-data/example.org --watch", "the live view, from another terminal"],
      ["weir status weir-data/example.org --servers", "speed of servers by hour"],
      [
        "weir status four-processes --reference one-process",
        "coverage compared with another crawl",
      ],
      ["weir status weir-data", "all crawls in weir-data, one per line"],
    ],
    groups: { Flags: FLAGS },
  },
};

async function run(words: readonly string[]): Promise<ExitCode> {
  const { positional, flags } = readArgs(words, ["DIR"], FLAGS);
  const [folder = ""] = positional;
  const crawls = await crawlsInside(folder);
  if (crawls.length > 0) {
    const lines = flags.json
      ? [JSON.stringify({ crawls })]
      : crawlLines(folder, crawls, "weir status");
    process.stdout.write(`${lines.join("\n")}\n`);
    return EXIT.done;
  }
  if (flags.servers) return showServers(folder, flags);
  if (flags.watch && runningSnapshot(folder) !== undefined) await watch(folder, flags.json);
  const running = runningSnapshot(folder);
  const snapshot = running ?? (await storedSnapshot(folder));
  const parallel = await parallelOf(folder, snapshot, flags);
  if (flags.json)
    process.stdout.write(
      `${JSON.stringify(statusOf(snapshot, running !== undefined, parallel))}\n`,
    );
  else show(snapshot, running !== undefined, parallel);
  return EXIT.done;
}

/** Measured only where it does not slow the crawl: when it has ended, or on request. */
async function parallelOf(
  folder: string,
  { parallel, processId }: Snapshot,
  { referenceFolder }: Pick<Resolved<typeof FLAGS>, "referenceFolder">,
): Promise<ParallelMetrics | undefined> {
  const isAtRest = processId === 0;
  if (referenceFolder === undefined && (parallel === undefined || !isAtRest)) return undefined;
  return parallelMetrics(folder, referenceFolder);
}

/** Draws until the crawl ends or the user interrupts. */
async function watch(folder: string, isJson: boolean): Promise<void> {
  let last = runningSnapshot(folder);
  if (last === undefined) return;
  const stream = isJson ? process.stderr : process.stdout;
  const latest = (): Snapshot => (last = runningSnapshot(folder) ?? last) as Snapshot;
  const view = isLively(stream, process.env)
    ? new LiveView(stream, paletteFor(stream, process.env), latest)
    : new PlainView((line) => stream.write(`${line}\n`), latest);
  const enough = new AbortController();
  process.once("SIGINT", () => enough.abort());
  while (!enough.signal.aborted && runningSnapshot(folder) !== undefined)
    await sleep(systemClock, LOOK_EVERY_MS, enough.signal);
  view.close();
}

/** Servers as last saved: within the last minute while the crawl runs. */
function showServers(folder: string, flags: Resolved<typeof FLAGS>): ExitCode {
  // Throws when the folder holds no crawl.
  storeFolders(folder);
  const nowMs = Date.now();
  const hours = savedHours(folder);
  const holidays = flags.holidays ?? hours.holidays;
  const isHoliday = holidays === undefined ? undefined : publicHolidaysOf(holidays);
  const zone = new TimeZone(flags.timeZone ?? hours.timeZone);
  const moment = new Almanac(zone, isHoliday).at(nowMs);
  const rows = serversOf(folder, flags.speedsFile);
  const servers = surveyed(rows, moment, flags.json ? SERVERS_IN_JSON_MAX : ROWS_MAX);
  const text = flags.json
    ? JSON.stringify(serversAsJson(servers))
    : serverLines(servers, nowMs, screenNow()).join("\n");
  process.stdout.write(`${text}\n`);
  return EXIT.done;
}

function show(snapshot: Snapshot, isRunning: boolean, parallel: ParallelMetrics | undefined): void {
  const lines = [
    ...frameOf(snapshot, screenNow()),
    ...(parallel === undefined ? [] : ["", parallelLine(parallel)]),
  ];
  const hint =
    isRunning || snapshot.pending === 0
      ? []
      : ["", "Not running; the same `weir crawl` command resumes it."];
  process.stdout.write(`${[...lines, ...hint].join("\n")}\n`);
}

function screenNow(): Screen {
  return {
    columns: process.stdout.isTTY ? sizeOf(process.stdout).columns : COLUMNS_IN_PIPES,
    rows: ROWS_MAX,
    palette: paletteFor(process.stdout, process.env),
  };
}

function statusOf(
  snapshot: Snapshot,
  isRunning: boolean,
  parallel: ParallelMetrics | undefined,
): object {
  const { totals, pending, remainingMs, ledger, limitBps } = snapshot;
  const { known, done, failed, skipped } = totals;
  return {
    running: isRunning,
    state: snapshot.state,
    because: snapshot.because,
    processId: isRunning ? snapshot.processId : null,
    pages: totals.pages,
    bytes: totals.bytes,
    seconds: snapshot.elapsedMs / 1000,
    urls: { known, done, failed, skipped, pending },
    unreachable: snapshot.unreachable,
    outcomes: totals.outcomes,
    duplicates: { exact: totals.duplicatesExact, near: totals.duplicatesNear },
    rateBps: snapshot.rateBps,
    bandwidth: {
      limitBps: limitBps ?? null,
      rateBps: snapshot.rateBps,
      predictedBps: snapshot.predictedBps,
      utilisation: utilisationOf(snapshot),
      waitingReaders: snapshot.waitingReaders,
    },
    ledger: { ...ledger, open: openBytes(snapshot) },
    pagesPerSecond: snapshot.pagesPerSecond,
    remainingSeconds: remainingMs === undefined ? null : remainingMs / 1000,
    connections: { open: snapshot.connectionsOpen, max: snapshot.connectionsMax },
    sites: snapshot.sites.map(
      ({ site, pages, bytes, pending: waiting, state, slowed, round, ...own }) => ({
        site,
        pages,
        bytes,
        deadlineSeconds: inSeconds(own.deadlineMs),
        finishedSeconds: inSeconds(own.finishedMs),
        promised: promisedOf(own.promised),
        pending: waiting,
        state,
        slowed: slowed ?? null,
        round: round.number,
        nextRoundInSeconds: round.nextInMs === undefined ? null : round.nextInMs / 1000,
        roundPages: roundPagesOf(round),
      }),
    ),
    processes: snapshot.parallel?.procs ?? [],
    parallel: parallel === undefined ? null : { coverage: null, quality: null, ...parallel },
  };
}

/** What the first plan promised for a site. */
function promisedOf(promised: Snapshot["sites"][number]["promised"]): object | null {
  if (promised === undefined) return null;
  return { finishSeconds: promised.finishMs / 1000, certainty: promised.certainty };
}

function inSeconds(ms: number | undefined): number | null {
  return ms === undefined ? null : ms / 1000;
}

/** Over the last minute; null without a limit. */
function utilisationOf({ recentBps, limitBps }: Snapshot): number | null {
  if (limitBps === undefined || limitBps === 0 || recentBps.length === 0) return null;
  return recentBps.reduce((sum, bytes) => sum + bytes, 0) / recentBps.length / limitBps;
}

/** Bytes of requests that have not ended. */
function openBytes({ totals, ledger }: Snapshot): number {
  return totals.bytes - Object.values(ledger).reduce((sum, bytes) => sum + bytes, 0);
}

/** The measures of a crawl by several processes, in one line. */
function parallelLine(metrics: ParallelMetrics): string {
  const { procs, urlsExchanged, coverage, quality } = metrics;
  const parts = [
    `${plural(metrics.downloaded, "page")} fetched, ${showCount(metrics.unique)} different, overlap ${share(metrics.overlap)}`,
    `${showCount(urlsExchanged)} URLs sent, ${share(metrics.communicationOverhead)} for each page`,
  ];
  if (coverage !== undefined)
    parts.push(
      quality === undefined
        ? `coverage ${share(coverage)}, estimated from a sample`
        : `coverage ${share(coverage)}, quality ${share(quality)}`,
    );
  return `${procs === 1 ? "1 process" : `${showCount(procs)} processes`}: ${parts.join("; ")}`;
}

function share(number: number): string {
  return number.toFixed(3);
}
