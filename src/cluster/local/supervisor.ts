/**
 * Several crawling processes on this machine as one crawl: spawns and restarts them, and hosts the bus between them and
 * the leader (`leader.ts`), which does everything else as in a cluster.
 *
 * `openTeam` offers the same handle, status file and mailbox as `openCrawl`. Each process has its own folder inside the
 * crawl's.
 */

import { join } from "node:path";
import { systemClock } from "../../base/clock.ts";
import type { LogEntry } from "../../base/log.ts";
import { systemRandom } from "../../base/random.ts";
import { ownsContents } from "../../config/processes.ts";
import type { Settings } from "../../config/schema.ts";
import { keepRateLog } from "../../control/rate-log.ts";
import type { CrawlResult, Snapshot } from "../../control/snapshot.ts";
import { Control } from "../../control/status-file.ts";
import type { CrawlOrder, OpenCrawl } from "../../crawl/open.ts";
import type { Division } from "../../crawl/ownership.ts";
import { topicSetupFor } from "../../crawl/topics/setup.ts";
import { ProcessHub } from "../../exchange/local/bus-process.ts";
import { closeToOthers } from "../../store/folder.ts";
import { ChangeRequests } from "../change-requests.ts";
import { checkWhole } from "../check-whole.ts";
import { writeDivision } from "../division-codec.ts";
import { Leader } from "../leader.ts";
import { emptyDivision, Ownership } from "../ownership.ts";
import { withoutShared } from "../shared-limit.ts";
import { keepDivision, openTeamFolder, readKeptDivision } from "../team-folder.ts";
import { firstDivision, partitionOf, topicOwners } from "../team-setup.ts";
import type { Job } from "./channel.ts";
import { exactFrom } from "./exact-result.ts";
import { Spawner } from "./spawn.ts";

const LICENCE_MS = 3_000;
const CONFIRM_EVERY_MS = 50;

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
  readonly #leader: Leader;
  readonly #requests = new ChangeRequests(systemClock, systemRandom, "processes");
  readonly #settle = Promise.withResolvers<CrawlResult>();
  readonly #ended = new Map<string, CrawlResult>();
  readonly #stack = new AsyncDisposableStack();
  #isResumed = false;
  #isOver = false;

  constructor(order: TeamOrder) {
    this.#order = order;
    const { settings, seeds, folder, log } = order;
    this.#names = Array.from({ length: settings.procs }, (_, index) => `proc-${index + 1}`);
    this.#leader = new Leader({
      clock: systemClock,
      log,
      bus: this.#hub,
      settings,
      seeds,
      spec: "",
      term: 0,
      licenceMs: LICENCE_MS,
      nodeTimeoutMs: Infinity,
      partOf: (key, value) =>
        key === "connections" ? String(Math.ceil(Number(value) / settings.procs)) : value,
      isLeading: () => true,
      onFault: (fault) => void this.#fail(fault),
      // No earlier leader lives: its processes ended with it. The changes of an earlier run have ended, too.
      record: {
        isStopped: false,
        takeUp: async () => ({
          division: this.#firstDivision(),
          changes: [],
          begunAtMs: undefined,
          isResumed: this.#isResumed,
          over: undefined,
          isFirst: true,
        }),
        write: async ({ division }) => {
          keepDivision(folder, division);
          return true;
        },
        stop: () => undefined,
      },
    });
    this.#spawner = new Spawner({
      hub: this.#hub,
      jobOf: (name, isFirstStart) => this.#jobOf(name, isFirstStart),
      onGone: (name) => this.#onGone(name),
      onResult: (name, result) => this.#onResult(name, result),
      onLog: (name, entry) => this.#log(name, entry),
      onFailed: (error) => void this.#fail(error),
      progressOf: (name) => this.#leader.knownTo(name),
    });
    this.done = this.#settle.promise;
  }

  async start(): Promise<void> {
    const { folder, settings, log } = this.#order;
    this.#isResumed = openTeamFolder(folder, settings, this.#names).isResumed;
    closeToOthers(folder, log);
    checkWhole(this.#order);
    await this.#leader.start();
    for (const name of this.#names) this.#spawner.start(name);
    const snapshot = (): Snapshot => this.snapshot();
    this.#stack.use(new Control({ folder, snapshot, change: (k, v) => this.change(k, v) }));
    this.#stack.use(keepRateLog(folder, snapshot));
  }

  snapshot(): Snapshot {
    return this.#leader.snapshot();
  }

  stop(why: string): void {
    this.#leader.end(why);
  }

  async change(key: string, value: string): Promise<string> {
    const confirmed = this.#requests.request(key, value);
    const look = (): void => {
      for (const request of this.#requests.open) {
        this.#leader.onRequest(request);
        const outcome = this.#leader.outcomeOf(request.id);
        if (outcome !== undefined) this.#requests.onOutcome(outcome);
      }
    };
    look();
    const timer = setInterval(look, CONFIRM_EVERY_MS);
    return confirmed.finally(() => clearInterval(timer));
  }

  #firstDivision(): Division {
    const { settings, seeds, folder } = this.#order;
    const { coordination, grain } = settings;
    const partition = partitionOf(settings);
    if (coordination === "independent")
      return { ...emptyDivision(partition), members: new Set(this.#names) };
    const kept = settings.fresh ? undefined : readKeptDivision(folder, this.#names);
    const first = kept ?? firstDivision(topicOwners(settings, this.#names), this.#names);
    const workers = this.#names.map((name) => ({ name, weight: 1 }));
    const seeded = seeds.map((url) => partition.bucketOf(url));
    return new Ownership({ coordination, partition, grain, seeded }, workers, first).division;
  }

  #jobOf(name: string, isFirstStart: boolean): Job {
    const { settings, seeds, spellings = {}, folder, log } = this.#order;
    const size = this.#names.length;
    const place = this.#names.indexOf(name);
    const isAlone = settings.coordination === "independent";
    const { division } = this.#leader;
    const hasOwnSeeds = isAlone || ownsContents(settings);
    return {
      name,
      size,
      settings: partOfSettings(settings, size, isFirstStart),
      seeds,
      spellings,
      ownSeeds: hasOwnSeeds ? seeds.filter((_, at) => at % size === place) : seeds,
      folder: join(folder, name),
      leastLogged: log.least ?? "debug",
      division: isAlone || division === undefined ? null : writeDivision(division),
    };
  }

  #onGone(name: string): void {
    this.#leader.gone(name);
    const message = "the process has died and is restarted";
    this.#log(name, { level: "warn", message, values: {} });
  }

  #onResult(name: string, result: CrawlResult): void {
    this.#leader.onResult(name, result);
    this.#ended.set(name, result);
    if (this.#ended.size === this.#names.length)
      this.#finish().then(this.#settle.resolve, this.#settle.reject);
  }

  async #finish(): Promise<CrawlResult> {
    await this.#close();
    const { folder, settings } = this.#order;
    return this.#leader.result(await exactFrom(folder, settings, [...this.#ended.values()]));
  }

  async #fail(error: unknown): Promise<void> {
    if (this.#isOver) return;
    this.#spawner.close();
    await this.#close();
    this.#settle.reject(error);
  }

  async #close(): Promise<void> {
    this.#isOver = true;
    this.#requests.close();
    await this.#stack.disposeAsync();
    await this.#leader.stop();
    await this.#hub.close();
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
