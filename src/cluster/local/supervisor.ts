/**
 * Several crawling processes on this machine as one crawl: starts and coordinates them, shows them as one, and applies
 * changes to all.
 *
 * `openTeam` offers the same handle, status file and mailbox as `openCrawl`. Each process has its own folder inside the
 * crawl's.
 */

import { couldNotBeReached } from "../../crawl/unreachable.ts";
import { join } from "node:path";
import { systemClock } from "../../base/clock.ts";
import { CrawlError } from "../../base/errors.ts";
import type { LogEntry } from "../../base/log.ts";
import type { Settings } from "../../config/schema.ts";
import { metricsOf, type ParallelMetrics } from "../../results/parallel-metrics.ts";
import { measuredRate } from "../../crawl/make-snapshot.ts";
import { topicSetupFor } from "../../crawl/topics/setup.ts";
import { ownsContents } from "../../config/processes.ts";
import { overlap } from "../../partition/metrics.ts";
import { closeToOthers, hasStore } from "../../store/folder.ts";
import { serversOf } from "../../store/joined/joined-servers.ts";
import { openMemoryStore } from "../../store/sqlite/store-sqlite.ts";
import { openReadOnly } from "../../store/joined/open-read-only.ts";
import { partFolders } from "../../store/team-file.ts";
import { keepRateLog } from "../../control/rate-log.ts";
import { speedTableFor } from "../../crawl/limit/link-budget.ts";
import { checkPromises } from "../../crawl/deadlines/check-promises.ts";
import { Control } from "../../control/status-file.ts";
import type { CrawlOrder, OpenCrawl } from "../../crawl/open.ts";
import type { CrawlResult, CrawlState, ParallelView, Snapshot } from "../../control/snapshot.ts";
import type { Waiting } from "../../crawl/peers/peer.ts";
import { ProcessHub } from "../../exchange/local/bus-process.ts";
import { ChangeList, isMadeByEach } from "../change-list.ts";
import { Coordinator } from "../coordinator.ts";
import { Spawner } from "./spawn.ts";
import { Ownership } from "../ownership.ts";
import type { Job } from "./channel.ts";
import { type Ended, mergeResults, mergeSnapshots } from "../merge-results.ts";
import { MessageReader } from "../message-reader.ts";
import { COORDINATOR } from "../messages.ts";
import { writeDivision } from "../division-codec.ts";
import { withoutShared } from "../shared-limit.ts";
import { SharedSettings } from "../shared-settings.ts";
import { firstDivision, partitionOf, topicOwners } from "../team-setup.ts";
import { importedIn, topicsIn } from "../topic-results.ts";
import { openTeamFolder, readKeptDivision, keepDivision } from "../team-folder.ts";

const LICENCE_MS = 3_000;
const LOOK_EVERY_MS = 250;
export interface TeamOrder extends CrawlOrder {
  readonly folder: string;
}

export async function openTeam(order: TeamOrder): Promise<OpenCrawl> {
  // An error that every process would report is reported once, before the folder is created.
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
  readonly #spawner: Spawner;
  readonly #ownership: Ownership | undefined;
  readonly #settle = Promise.withResolvers<CrawlResult>();
  readonly #shared: SharedSettings;
  readonly #reader: MessageReader;
  /** When the first process received its job: as with one process, loading the program does not count. */
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
    this.#ownership = this.#makeOwnership();
    this.#spawner = new Spawner({
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
      onMessage: (from, control) => {
        const message = this.#reader.read(from, control);
        if (message !== undefined) this.#coordinator?.onMessage(from, message);
        const bytes = this.#coordinator?.members.get(from)?.report?.bytes;
        if (bytes !== undefined) this.#shared.line.received(from, bytes);
      },
    });
    this.#coordinator = new Coordinator({
      clock: systemClock,
      bus: member,
      licenceMs: LICENCE_MS,
      division: this.#ownership?.division,
      handOut: (dry, waiting) => this.#handOut(dry, waiting),
      onReport: ({ name }, { handedOver }) => {
        if (this.#ownership?.handedOver(name, handedOver) === true) this.#redivide(this.#ownership);
      },
      onDone: (unreachable) =>
        unreachable > 0
          ? this.stop(couldNotBeReached(unreachable))
          : this.#coordinator?.end("finish", ""),
      limitBps: this.#shared.line.agreedBps(),
      pagesMax: settings.pagesMax,
    });
    for (const name of this.#names) this.#coordinator.members.add(name);
    for (const name of this.#names) this.#spawner.start(name);
    this.#state = "running";
    this.#look();
    this.#timers.push(setInterval(() => this.#look(), LOOK_EVERY_MS));
    if (settings.timeMaxMs !== undefined)
      this.#stack.defer(systemClock.after(settings.timeMaxMs, () => this.stop("time limit")));
    const snapshot = (): Snapshot => this.snapshot();
    this.#stack.use(new Control({ folder, snapshot, change: (k, v) => this.change(k, v) }));
    this.#stack.use(keepRateLog(folder, snapshot));
  }

  /** As one process does before its first request: see `check-promises.ts`. */
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

  #makeOwnership(): Ownership | undefined {
    const { settings, seeds, folder } = this.#order;
    const { coordination, grain } = settings;
    if (coordination === "independent") return undefined;
    const partition = partitionOf(settings);
    const seeded = seeds.map((url) => partition.bucketOf(url));
    const workers = this.#names.map((name) => ({ name, weight: 1 }));
    const before = settings.fresh ? undefined : readKeptDivision(folder, this.#names);
    const kept = before ?? firstDivision(topicOwners(settings, this.#names), this.#names);
    return new Ownership({ coordination, partition, grain, seeded }, workers, kept);
  }

  #handOut(dry: string, waiting: ReadonlyMap<number, number>): readonly Waiting[] {
    const given = this.#ownership?.handOut(dry, waiting) ?? [];
    if (this.#ownership !== undefined && given.length > 0) this.#redivide(this.#ownership);
    return given;
  }

  #redivide(ownership: Ownership): void {
    keepDivision(this.#order.folder, ownership.division);
    this.#coordinator?.redivide(ownership.division);
  }

  #jobOf(name: string, isFirstStart: boolean): Job {
    const { settings, seeds, spellings = {}, folder, log } = this.#order;
    this.#startedAtMs ??= systemClock.nowMs();
    const size = this.#names.length;
    const place = this.#names.indexOf(name);
    const division = this.#ownership?.division;
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

  /** Metrics from the stores, with those that only the exchange knows. */
  #measured(metrics: ParallelMetrics, ended: readonly Ended[]): CrawlResult["parallel"] {
    const { urlsSent, sentBytes } = this.#coordinator?.exchange() ?? { urlsSent: 0, sentBytes: 0 };
    // An exported page was fetched by one process and is stored by another.
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

  /** Whether each process begins with seeds of its own. */
  get #hasOwnSeeds(): boolean {
    return this.#ownership === undefined || ownsContents(this.#order.settings);
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
    this.#spawner.close();
    await this.#close();
    this.#settle.reject(error);
  }

  async #close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#coordinator?.stop();
    await this.#stack.disposeAsync();
    await this.#hub.close();
  }

  /** Applies the limit of this moment, and stops when the quota is used up. */
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

/** The settings of each process; limits of the whole crawl are shared out while it runs. */
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
