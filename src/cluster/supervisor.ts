/**
 * Several crawling processes on this machine as one crawl: starts them, coordinates them, and shows, changes
 * and ends them as if they were one.
 *
 * Whoever has a crawl by `openCrawl` can have one by `openTeam`: the same handle, the same files to look
 * at and to change it by. Each process has a folder of its own inside the crawl's.
 */

import { couldNotBeReached } from "../crawl/unreachable.ts";
import { join } from "node:path";
import { systemClock } from "../base/clock.ts";
import { CrawlError } from "../base/errors.ts";
import type { LogEntry } from "../base/log.ts";
import type { Settings } from "../config/schema.ts";
import { metricsOf, type ParallelMetrics } from "../results/parallel-metrics.ts";
import { measuredRate } from "../crawl/make-snapshot.ts";
import { topicSetupFor } from "../crawl/topics/setup.ts";
import { ownsContents } from "../config/processes.ts";
import { overlap } from "../partition/metrics.ts";
import { closeToOthers, hasStore } from "../store/folder.ts";
import { serversOf } from "../store/joined/joined-servers.ts";
import { openMemoryStore } from "../store/memory/store-memory.ts";
import { openReadOnly } from "../store/joined/open-read-only.ts";
import { partFolders } from "../store/team-file.ts";
import { keepRateLog } from "../control/rate-log.ts";
import { speedTableFor } from "../crawl/limit/link-budget.ts";
import { checkPromises } from "../crawl/deadlines/check-promises.ts";
import { Control } from "../control/status-file.ts";
import type { CrawlOrder, OpenCrawl } from "../crawl/open.ts";
import type { CrawlResult, CrawlState, ParallelView, Snapshot } from "../control/snapshot.ts";
import type { Waiting } from "../crawl/peers/peer.ts";
import { ProcessHub } from "../exchange/bus-process.ts";
import { ChangeList, isMadeByEach } from "./change-list.ts";
import { Coordinator } from "./coordinator.ts";
import { Crew } from "./crew.ts";
import { Dealing } from "./dealing.ts";
import type { Job } from "./job.ts";
import { type Ended, mergeResults, mergeSnapshots } from "./merge.ts";
import { MessageReader } from "./message-reader.ts";
import { COORDINATOR } from "./notes.ts";
import { writeDivision } from "./written-division.ts";
import { withoutShared } from "./shared-line.ts";
import { SharedSettings } from "./shared-settings.ts";
import { firstDivision, partitionOf, topicOwners } from "./team-means.ts";
import { importedIn, topicsIn } from "./topics-in.ts";
import { openTeamFolder, readKeptDivision, keepDivision } from "./team-folder.ts";

const LICENCE_MS = 3_000;
const LOOK_EVERY_MS = 250;
export interface TeamOrder extends CrawlOrder {
  readonly folder: string;
}

export async function openTeam(order: TeamOrder): Promise<OpenCrawl> {
  // What each process would stumble over is said once, and before there is a folder.
  topicSetupFor(order.settings);
  const supervisor = new Supervisor(order);
  await supervisor.start();
  return supervisor;
}

class Supervisor implements OpenCrawl {
  readonly done: Promise<CrawlResult>;
  readonly #order: TeamOrder;
  readonly #names: readonly string[];
  readonly #hub = new ProcessHub();
  readonly #crew: Crew;
  readonly #dealing: Dealing | undefined;
  readonly #settle = Promise.withResolvers<CrawlResult>();
  readonly #shared: SharedSettings;
  readonly #reader: MessageReader;
  /** When the first process was told what to do: as with a crawl of one, loading the program does not count. */
  #startedAtMs: number | undefined;
  readonly #changes = new ChangeList();
  readonly #ended: Ended[] = [];
  readonly #timers: NodeJS.Timeout[] = [];
  #coordinator: Coordinator | undefined;
  #stack = new AsyncDisposableStack();
  #state: CrawlState = "starting";
  #stoppedBy = "";
  #resumed = false;

  constructor(order: TeamOrder) {
    this.#order = order;
    const { settings } = order;
    this.#names = Array.from({ length: settings.procs }, (_, index) => `proc-${index + 1}`);
    this.#reader = new MessageReader(order.log);
    this.#shared = new SharedSettings({
      clock: systemClock,
      settings,
      coordinator: () => this.#coordinator,
      onStop: (why) => this.stop(why),
    });
    this.#dealing = this.#makeDealing();
    this.#crew = new Crew({
      hub: this.#hub,
      jobOf: (name, isFirstStart) => this.#jobOf(name, isFirstStart),
      onGone: (name) => this.#onGone(name),
      onResult: (name, result) => void this.#onResult(name, result),
      onLog: (name, entry) => this.#log(name, entry),
      onFailed: (error) => void this.#fail(error),
      progressOf: (name) => this.#snapshotOf(name)?.totals.known ?? 0,
    });
    this.done = this.#settle.promise;
  }

  async start(): Promise<void> {
    const { folder, settings } = this.#order;
    this.#resumed = openTeamFolder(folder, settings, this.#names).isResumed;
    closeToOthers(folder, this.#order.log);
    await this.#checkPromises();
    const member = await this.#hub.join(COORDINATOR, {
      onParcel: () => undefined,
      onReceipt: () => undefined,
      onNote: (from, note) => {
        const message = this.#reader.read(from, note);
        if (message !== undefined) this.#coordinator?.onMessage(from, message);
        const bytes = this.#coordinator?.members.get(from)?.report?.bytes;
        if (bytes !== undefined) this.#shared.line.received(from, bytes);
      },
    });
    this.#coordinator = new Coordinator({
      clock: systemClock,
      bus: member,
      licenceMs: LICENCE_MS,
      division: this.#dealing?.division,
      handOut: (dry, waiting) => this.#handOut(dry, waiting),
      onReport: ({ name }, { handedOver }) => {
        if (this.#dealing?.handedOver(name, handedOver) === true) this.#redivide(this.#dealing);
      },
      onDone: (unreachable) =>
        unreachable > 0
          ? this.stop(couldNotBeReached(unreachable))
          : this.#coordinator?.end("finish", ""),
      limitBps: this.#shared.line.agreedBps(),
      pagesMax: settings.pagesMax,
    });
    for (const name of this.#names) this.#coordinator.members.add(name);
    for (const name of this.#names) this.#crew.start(name);
    this.#state = "running";
    this.#look();
    this.#timers.push(setInterval(() => this.#look(), LOOK_EVERY_MS));
    if (settings.timeMaxMs !== undefined)
      this.#stack.defer(systemClock.after(settings.timeMaxMs, () => this.stop("time limit")));
    const snapshot = (): Snapshot => this.snapshot();
    this.#stack.use(new Control({ folder, snapshot, change: (k, v) => this.change(k, v) }));
    this.#stack.use(keepRateLog(folder, snapshot));
  }

  /** As one process does before its first request: see `promise-check.ts`. */
  async #checkPromises(): Promise<void> {
    const { folder, settings, seeds, log } = this.#order;
    const isKnown = !settings.fresh && partFolders(folder).some(hasStore);
    const store = isKnown ? openReadOnly(folder) : openMemoryStore();
    const limitBps = this.#shared.line.agreedBps();
    const speeds = speedTableFor(settings);
    speeds.restore(serversOf(folder, settings.speedsFile));
    try {
      checkPromises({ settings, seeds, store, clock: systemClock, log, speeds, limitBps });
    } finally {
      await store.close();
    }
  }

  snapshot(): Snapshot {
    const all = this.#names.flatMap((name) => this.#snapshotOf(name) ?? []);
    const nowMs = systemClock.nowMs();
    const { because } = this.#shared;
    const busy = all.filter(({ pending }) => pending > 0);
    const areAllPaused =
      busy.length > 0 && busy.every((one) => one.state === "paused" && one.unreachable > 0);
    const isPaused = this.#state === "running" && (because !== "" || areAllPaused);
    const reasons = new Set(areAllPaused ? busy.map((one) => one.because) : []);
    if (because !== "") reasons.add(because);
    return mergeSnapshots(all, {
      state: isPaused ? "paused" : this.#state,
      because: [...reasons].join("; "),
      elapsedMs: this.#elapsedMs,
      resumed: this.#resumed,
      limitBps: this.#shared.limitBps,
      recentBps: this.#shared.line.meter.recentBps(nowMs),
      parallel: this.#parallel(),
    });
  }

  stop(why: string): void {
    if (this.#state !== "running") return;
    this.#state = "stopping";
    this.#stoppedBy = why;
    this.#coordinator?.end("stop", why);
  }

  change(key: string, value: string): string {
    const partOf = this.#partOf(key, value);
    const why = this.#changes.whyNot({ key, value: partOf });
    if (why !== undefined) throw new CrawlError("USAGE", why);
    const message = this.#shared.apply(key, value);
    if (!isMadeByEach(key)) return message;
    this.#changes.add({ id: "", key, value: partOf }, message);
    this.#coordinator?.setChanges(this.#changes.all);
    return message;
  }

  #partOf(key: string, value: string): string {
    return key === "connections" ? String(Math.ceil(Number(value) / this.#names.length)) : value;
  }

  #makeDealing(): Dealing | undefined {
    const { settings, seeds, folder } = this.#order;
    const { coordination, grain } = settings;
    if (coordination === "independent") return undefined;
    const partition = partitionOf(settings);
    const seeded = seeds.map((url) => partition.bucketOf(url));
    const workers = this.#names.map((name) => ({ name, weight: 1 }));
    const before = settings.fresh ? undefined : readKeptDivision(folder, this.#names);
    const kept = before ?? firstDivision(topicOwners(settings, this.#names), this.#names);
    return new Dealing({ coordination, partition, grain, seeded }, workers, kept);
  }

  #handOut(dry: string, waiting: ReadonlyMap<number, number>): readonly Waiting[] {
    const given = this.#dealing?.handOut(dry, waiting) ?? [];
    if (this.#dealing !== undefined && given.length > 0) this.#redivide(this.#dealing);
    return given;
  }

  #redivide(dealing: Dealing): void {
    keepDivision(this.#order.folder, dealing.division);
    this.#coordinator?.redivide(dealing.division);
  }

  #jobOf(name: string, isFirstStart: boolean): Job {
    const { settings, seeds, spellings = {}, folder, log } = this.#order;
    this.#startedAtMs ??= systemClock.nowMs();
    const size = this.#names.length;
    const place = this.#names.indexOf(name);
    const division = this.#dealing?.division;
    return {
      name,
      size,
      settings: partOfSettings(settings, size, isFirstStart),
      seeds,
      spellings,
      ownSeeds: this.#hasOwnSeeds ? seeds.filter((_, at) => at % size === place) : seeds,
      folder: join(folder, name),
      leastLogged: log.least ?? "debug",
      division: division === undefined ? null : writeDivision(division),
    };
  }

  #onGone(name: string): void {
    this.#coordinator?.gone(name);
    this.#shared.line.forget(name);
    this.#log(name, {
      level: "warn",
      message: "the process has died and is restarted",
      values: {},
    });
  }

  async #onResult(name: string, result: CrawlResult): Promise<void> {
    this.#ended.push({ name, result });
    if (this.#ended.length < this.#names.length) return;
    try {
      this.#settle.resolve(await this.#finish());
    } catch (error) {
      this.#settle.reject(error);
    }
  }

  async #finish(): Promise<CrawlResult> {
    const { folder, settings } = this.#order;
    const ended = this.#ended.toSorted((a, b) => this.#placeOf(a.name) - this.#placeOf(b.name));
    const pending = ended.reduce((sum, { result }) => sum + result.urls.pending, 0);
    const stoppedBy = this.#whyStopped(pending);
    const isComplete = pending === 0 && stoppedBy === "";
    this.#state = isComplete ? "done" : "stopped";
    await this.#close();
    const store = openReadOnly(folder);
    try {
      const { referenceFolder } = settings;
      return mergeResults(ended, store.totals, {
        seconds: this.#elapsedMs / 1000,
        bandwidth: this.#bandwidth(ended),
        parallel: this.#measured(await metricsOf({ folder, store, referenceFolder }), ended),
        topics: await topicsIn(folder, settings),
        resumed: this.#resumed,
        complete: isComplete,
        stoppedBy,
      });
    } finally {
      await store.close();
    }
  }

  /** What stores tell, with what only the exchange knows. */
  #measured(metrics: ParallelMetrics, ended: readonly Ended[]): CrawlResult["parallel"] {
    const { urlsSent, sentBytes } = this.#coordinator?.exchange() ?? { urlsSent: 0, sentBytes: 0 };
    // A page that was handed over was fetched by who handed it over, and is kept by who was given it.
    const exported = ended.reduce((sum, { result }) => sum + (result.outcomes["exported"] ?? 0), 0);
    const imported = importedIn(this.#order.folder);
    const downloaded = metrics.downloaded - imported + exported;
    return {
      ...metrics,
      downloaded,
      overlap: overlap(downloaded, metrics.unique),
      urlsExchanged: urlsSent,
      communicationOverhead: downloaded === 0 ? 0 : urlsSent / downloaded,
      exchangeBytes: sentBytes,
      coverage: metrics.coverage ?? null,
      quality: metrics.quality ?? null,
    };
  }

  get #elapsedMs(): number {
    const nowMs = systemClock.nowMs();
    return nowMs - (this.#startedAtMs ?? nowMs);
  }

  /** Whether each process begins with addresses of its own. */
  get #hasOwnSeeds(): boolean {
    return this.#dealing === undefined || ownsContents(this.#order.settings);
  }

  #whyStopped(pending: number): string {
    if (this.#stoppedBy !== "" || pending === 0) return pending === 0 ? "" : this.#stoppedBy;
    return this.#order.settings.pagesMax === undefined ? "" : "pages limit";
  }

  #bandwidth(ended: readonly Ended[]): CrawlResult["bandwidth"] {
    return {
      ...measuredRate(this.#shared.line.meter, this.#shared.limitBps, this.#elapsedMs),
      rankInversion: mean(ended.map(({ result }) => result.bandwidth.rankInversion)),
      secondsCpuBound: Math.max(0, ...ended.map(({ result }) => result.bandwidth.secondsCpuBound)),
      longestWaitMs: Math.max(0, ...ended.map(({ result }) => result.bandwidth.longestWaitMs)),
    };
  }

  async #fail(error: unknown): Promise<void> {
    if (this.#state === "stopped") return;
    this.#state = "stopped";
    this.#crew.close();
    await this.#close();
    this.#settle.reject(error);
  }

  async #close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#coordinator?.stop();
    await this.#stack.disposeAsync();
    await this.#hub.close();
  }

  /** What may be taken of the line now, and whether the quota is used up. */
  #look(): void {
    this.#shared.look();
    if (this.#state !== "running") return;
    const usages = this.#names.map((name) => this.#snapshotOf(name)?.totals.usage ?? "");
    const why = this.#shared.line.whyQuotaEnds(usages);
    if (why !== undefined) this.stop(why);
  }

  #parallel(): ParallelView {
    const members = this.#names.map((name) => this.#coordinator?.members.get(name));
    return {
      procs: members.map((member, index) => ({
        name: this.#names[index] as string,
        pages: member?.snapshot?.totals.pages ?? 0,
        pending: member?.snapshot?.pending ?? 0,
        rateBps: member?.report?.usedBps ?? 0,
        limitBps: member?.snapshot?.limitBps,
        state: member?.report === undefined ? "away" : (member.snapshot?.state ?? "starting"),
      })),
      droppedMessages: members.reduce(
        (sum, member) => sum + (member?.report?.droppedMessages ?? 0),
        this.#reader.dropped,
      ),
      flows: members.map((member) => this.#names.map((to) => member?.exchange?.sentTo[to] ?? 0)),
    };
  }

  #snapshotOf(name: string): Snapshot | undefined {
    return this.#coordinator?.members.get(name)?.snapshot;
  }

  #placeOf(name: string): number {
    return this.#names.indexOf(name);
  }

  #log(name: string, entry: LogEntry): void {
    this.#order.log.write({ ...entry, values: { process: name, ...entry.values } });
  }
}

/** What of the settings each process goes by: the whole's limits are shared out while they run. */
function partOfSettings(settings: Settings, size: number, isFirstStart: boolean): Settings {
  return {
    ...withoutShared(settings),
    fresh: settings.fresh && isFirstStart,
    speedsFile: undefined,
    logFile: undefined,
    connectionsMax: Math.max(1, Math.ceil(settings.connectionsMax / size)),
    memoryBytes: Math.ceil(settings.memoryBytes / size),
  };
}

function mean(numbers: readonly number[]): number {
  return numbers.length === 0 ? 0 : numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
}
