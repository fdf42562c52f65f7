/**
 * The meter: starts what may be started, as long as there is room, and hands on what came.
 *
 * One function does the starting, `pump`, called whenever something changed: a fetch ended, a URL
 * came in, a site's time has come. Never more fetches than connections, never more pages under way
 * than may still be wanted.
 */

import { assert, unreachable } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Random } from "../base/random.ts";
import type { Turn } from "../frontier/politeness.ts";
import type { Taken, Workbench } from "../frontier/workbench.ts";
import type { FetchResult } from "../fetch/fetcher.ts";
import type { Traffic } from "../fetch/transport.ts";
import type { Reason } from "../page/outcome.ts";
import type { WaitingUrl } from "../store/store.ts";
import type { Errand, Job } from "./job.ts";
import type { Refill } from "./queue.ts";
import type { Roster, Site } from "./sites.ts";
import type { Passage, Sluice } from "./limit/limiter.ts";

/** After so many requests without trouble on this machine, one more at a time is tried. */
const CALM_BEFORE_MORE = 64;
/** Under a limit the line is served after so many requests over TLS: each may need a greeting of half a millisecond. */
const SECURE_BEGUN_MAX = 8;
/** What has come and is not noted yet, in bytes; more would only be memory. */
const RECORDING_BYTES_MAX = 8 * 2 ** 20;

/** How a request ended, as far as manners and the line go. */
export interface Ended {
  readonly reason: Reason;
  readonly retryAfterMs: number | undefined;
  readonly traffic: Traffic;
}

/** What a request tells about itself while it goes on. */
export interface Progress {
  /** undefined when nobody has to know: no delay was agreed. */
  readonly sent: (() => void) | undefined;
  /** Its way past the limit: every byte goes through here. */
  readonly passage: Passage;
  /** To be called once, as soon as the request is over. */
  readonly ended: (how: Ended) => void;
}

export function endOf(result: FetchResult): Ended {
  const { traffic } = result;
  switch (result.kind) {
    case "page":
      return { reason: "ok", retryAfterMs: undefined, traffic };
    case "not_modified":
    case "redirect":
      return { reason: result.kind, retryAfterMs: undefined, traffic };
    case "busy":
      return { reason: result.reason, retryAfterMs: result.retryAfterMs, traffic };
    case "failed":
      return { reason: result.reason, retryAfterMs: undefined, traffic };
    default:
      return unreachable(result);
  }
}

/** The request never left this machine, for want of descriptors or ports: it is asked again. */
export function isOurTrouble(result: FetchResult): boolean {
  return result.kind === "failed" && result.reason === "local_resource";
}

export interface FetchLoopParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly workbench: Workbench<Job>;
  readonly roster: Roster;
  readonly refill: Refill;
  readonly sluice: Sluice;
  /** Fetches a URL; resolves when all is noted. */
  readonly fetchUrl: (site: Site, row: WaitingUrl, progress: Progress) => Promise<void>;
  readonly runErrand: (site: Site, errand: Errand, progress: Progress) => Promise<void>;
  /** A request is over, and politeness knows. */
  readonly onEnded: (site: Site, reason: Reason) => void;
  /** How many more URLs may be fetched: Infinity, or what the limit of pages leaves. */
  readonly allowance: () => number;
  readonly onIdle: () => void;
  readonly onFault: (fault: unknown) => void;
}

export class FetchLoop {
  readonly #parts: FetchLoopParts;
  readonly #underWay = new Set<number>();
  #connectionsMax: number;
  /** What was asked for; less is used while the machine cannot carry it. */
  #connectionsWanted: number;
  #endedCalmly = 0;
  #requests = 0;
  /** Fetched and not yet noted: waiting for the archive, for a hook. */
  #recording = 0;
  #recordingBytes = 0;
  #isRunning = false;
  /** Begun over TLS since the line was last served; and whether it is being served. */
  #secureBegun = 0;
  #isServing = false;
  #cancelTimer: (() => void) | undefined;
  #timerAtMs = Infinity;

  constructor(parts: FetchLoopParts, connectionsMax: number) {
    this.#parts = parts;
    this.#connectionsMax = connectionsMax;
    this.#connectionsWanted = connectionsMax;
  }

  get requests(): number {
    return this.#requests;
  }

  get connectionsMax(): number {
    return this.#connectionsMax;
  }

  get isQuiet(): boolean {
    return this.#requests === 0 && this.#recording === 0;
  }

  isUnderWay(urlId: number): boolean {
    return this.#underWay.has(urlId);
  }

  setConnectionsMax(connectionsMax: number): void {
    this.#connectionsMax = connectionsMax;
    this.#connectionsWanted = connectionsMax;
    this.pump();
  }

  run(): void {
    this.#isRunning = true;
    this.pump();
  }

  /** Starts nothing new; what is under way goes on. */
  pause(): void {
    this.#isRunning = false;
    this.#disarm();
  }

  pump(): void {
    const { clock, workbench, sluice, allowance } = this.#parts;
    while (this.#isRunning && !this.#isServing && this.#requests < this.#connectionsMax) {
      // Pages wait in memory to be read and for the archive, so there are never too many of them.
      if (this.#recording > 2 * this.#connectionsMax) return;
      if (this.#recordingBytes > RECORDING_BYTES_MAX) return;
      if (this.#underWay.size >= allowance() || sluice.isShut()) break;
      const taken = workbench.take(clock.nowMs(), sluice.search);
      if (taken === undefined) break;
      this.#start(taken);
    }
    if (this.#isRunning) this.#arm();
    if (this.isQuiet) this.#parts.onIdle();
  }

  /** Lets the line be served when many have begun that may need a greeting. */
  #mindGreetings({ key }: Site): void {
    if (!key.startsWith("https:")) return;
    this.#secureBegun += 1;
    if (this.#secureBegun < SECURE_BEGUN_MAX) return;
    this.#secureBegun = 0;
    this.#isServing = true;
    this.#parts.clock.soon(() => {
      this.#isServing = false;
      this.pump();
    });
  }

  #start(taken: Taken<Job>): void {
    const { roster, refill, sluice, onFault } = this.#parts;
    const { entry, turn } = taken;
    const site = roster.byId(turn.to.siteId);
    const passage = sluice.begin(site, taken);
    if (sluice.isHolding) this.#mindGreetings(site);
    this.#requests += 1;
    site.uses += 1;
    let isOver = false;
    let bytes = 0;
    const ended = (how: Ended): void => {
      assert(!isOver, "a request ends once");
      isOver = true;
      bytes = how.traffic.receivedBytes;
      this.#requests -= 1;
      this.#recording += 1;
      this.#recordingBytes += bytes;
      passage.end(how.traffic, how.reason);
      this.#end(site, turn, how);
    };
    const work = this.#work(site, entry, { sent: this.#sentBy(turn), passage, ended });
    work.then(() => {
      assert(isOver, "a request ends before its work is done");
      this.#recording -= 1;
      this.#recordingBytes -= bytes;
      site.uses -= 1;
      // Rows that were under way are skipped until now.
      refill.refill(site);
      refill.sleepIfDone(site);
      this.pump();
    }, onFault);
    refill.refill(site);
  }

  #sentBy(turn: Turn): (() => void) | undefined {
    if (turn.to.delayMs === 0 && turn.to.addressDelayMs === 0) return undefined;
    return () => {
      this.#parts.workbench.sent(this.#parts.clock.nowMs(), turn);
      this.#arm();
    };
  }

  async #work(site: Site, job: Job, progress: Progress): Promise<void> {
    const { fetchUrl, runErrand, workbench, refill } = this.#parts;
    if (job.errand !== undefined) {
      await runErrand(site, job.errand, progress);
      workbench.release(site.id, job.id);
      site.errands -= 1;
      refill.refill(site);
      return;
    }
    assert(job.row !== undefined, "a job without an errand has a URL");
    this.#underWay.add(job.id);
    try {
      await fetchUrl(site, job.row, progress);
    } finally {
      this.#underWay.delete(job.id);
    }
  }

  #end(site: Site, turn: Turn, how: Ended): void {
    const { clock, random, workbench, onEnded } = this.#parts;
    if (how.reason === "local_resource") this.#askLess();
    else if (this.#connectionsMax < this.#connectionsWanted) this.#askMore();
    workbench.end(clock.nowMs(), turn, { ...how, chance: random.next() });
    onEnded(site, how.reason);
    this.pump();
  }

  /** The machine carries no more than what is still under way: descriptors or ports are used up. */
  #askLess(): void {
    const connectionsMax = Math.max(1, this.#requests);
    if (connectionsMax >= this.#connectionsMax) return;
    this.#connectionsMax = connectionsMax;
    this.#endedCalmly = 0;
    const message = "no file descriptors or ports left; fewer concurrent requests";
    this.#parts.log.write({ level: "warn", message, values: { connectionsMax } });
  }

  #askMore(): void {
    this.#endedCalmly += 1;
    if (this.#endedCalmly % CALM_BEFORE_MORE === 0) this.#connectionsMax += 1;
  }

  /** Wakes the loop at the next time a site may be asked. */
  #arm(): void {
    const { clock, workbench, sluice, allowance } = this.#parts;
    // Without a free connection, or with enough under way, only an ending changes anything.
    const hasRoom = this.#requests < this.#connectionsMax && this.#underWay.size < allowance();
    const nextAtMs = workbench.nextAtMs();
    // What could begin now and did not is held back by the limit, and the sluice wakes for that.
    const isHeld = sluice.isHolding && nextAtMs <= clock.nowMs();
    const atMs = hasRoom && !isHeld ? nextAtMs : Infinity;
    if (atMs === this.#timerAtMs) return;
    this.#disarm();
    if (atMs === Infinity) return;
    this.#timerAtMs = atMs;
    // Timers may fire a little early; a millisecond more spares a second waking.
    this.#cancelTimer = clock.after(Math.max(0, Math.ceil(atMs - clock.nowMs())) + 1, () => {
      this.#timerAtMs = Infinity;
      this.pump();
    });
  }

  #disarm(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#timerAtMs = Infinity;
  }
}
