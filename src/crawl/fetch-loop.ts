/**
 * The fetch loop: starts requests as long as there is room, and takes each through its phases.
 *
 * One function starts them, `pump`, called after every change that may allow a request: one has ended, a URL was
 * found, the delay of a site is over. There are never more requests than connections, nor more pages in progress than
 * may be stored.
 */

import { assert } from "../base/assert.ts";
import type { Taken } from "../frontier/workbench.ts";
import type { CrawlContext } from "./context.ts";
import type { UrlFetch } from "./fetch-url.ts";
import type { Queue } from "./queue.ts";
import {
  type Answer,
  endOf,
  type QueuedRequest,
  type RateLimit,
  type Request,
} from "./requests.ts";
import type { SiteSetup } from "./site-setup.ts";
import type { Site } from "./site.ts";

/** Requests without a shortage of descriptors or ports before one more is allowed at the same time. */
const CALM_BEFORE_MORE = 64;
/** Under a limit, sockets are read after this many new requests over TLS: a handshake takes up to half a millisecond. */
const SECURE_BEGUN_MAX = 8;
/** Bytes of responses that are being processed, at most: more would only take memory. */
const ANSWERED_BYTES_MAX = 8 * 2 ** 20;

interface FetchLoopParts {
  readonly queue: Queue;
  readonly limiter: RateLimit;
  readonly urlFetch: UrlFetch;
  readonly siteSetup: SiteSetup;
}

export class FetchLoop {
  readonly #context: CrawlContext;
  readonly #parts: FetchLoopParts;
  #connectionsMax: number;
  /** As configured; fewer are used while the machine lacks descriptors or ports. */
  #connectionsWanted: number;
  #endedCalmly = 0;
  #isRunning = false;
  /** Requests over TLS since sockets were last read; and whether they are being read. */
  #secureBegun = 0;
  #isReading = false;
  #cancelTimer: (() => void) | undefined;
  #timerAtMs = Infinity;

  constructor(context: CrawlContext, parts: FetchLoopParts) {
    this.#context = context;
    this.#parts = parts;
    this.#connectionsMax = context.settings.connectionsMax;
    this.#connectionsWanted = this.#connectionsMax;
  }

  get connectionsMax(): number {
    return this.#connectionsMax;
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

  /** Starts no request; those in progress continue. */
  pause(): void {
    this.#isRunning = false;
    this.#disarm();
  }

  pump(): void {
    const { clock, sites, workbench, requests, emit } = this.#context;
    const { limiter, queue } = this.#parts;
    while (this.#isRunning && !this.#isReading && requests.sent < this.#connectionsMax) {
      // Pages wait in memory for processing and the archive, so their number is bounded.
      if (requests.answered > 2 * this.#connectionsMax) return;
      if (requests.answeredBytes > ANSWERED_BYTES_MAX) return;
      if (requests.urls >= this.#allowance() || limiter.isShut()) break;
      const taken = workbench.take(clock.nowMs(), limiter.search);
      if (taken === undefined) break;
      const site = sites.byId(taken.turn.to.siteId);
      this.#run(site, taken).catch((fault: unknown) => emit({ kind: "fault", fault }));
      queue.refill(site);
    }
    if (this.#isRunning) this.#arm();
    if (requests.isQuiet) emit({ kind: "idle" });
  }

  /** URLs that may still be fetched under the limit of pages; Infinity without one. */
  #allowance(): number {
    const { clock, ownership, requests, counters } = this.#context;
    if (ownership !== undefined && clock.nowMs() >= ownership.licensedUntilMs) return 0;
    return requests.pagesMax - counters.pagesCounted;
  }

  /** Lets sockets be read after many requests that may need a handshake. */
  #mindHandshakes({ key }: Site): void {
    if (!key.startsWith("https:")) return;
    this.#secureBegun += 1;
    if (this.#secureBegun < SECURE_BEGUN_MAX) return;
    this.#secureBegun = 0;
    this.#isReading = true;
    this.#context.clock.soon(() => {
      this.#isReading = false;
      this.pump();
    });
  }

  /** undefined without a delay: then the time at which it is sent does not matter. */
  #onSentFor({ turn }: Request): (() => void) | undefined {
    if (turn === undefined || (turn.to.delayMs === 0 && turn.to.addressDelayMs === 0))
      return undefined;
    return () => {
      this.#context.workbench.sent(this.#context.clock.nowMs(), turn);
      this.#arm();
    };
  }

  /** Takes a request through its phases. */
  async #run(site: Site, taken: Taken<QueuedRequest>): Promise<void> {
    const { limiter, urlFetch, siteSetup } = this.#parts;
    const request = this.#context.requests.begin(site, taken);
    limiter.begin(request, taken);
    if (limiter.isHolding) this.#mindHandshakes(site);
    request.onSent = this.#onSentFor(request);
    const isFile = request.file !== undefined;
    if (!isFile) siteSetup.refreshIfOld(site);
    const sent = isFile ? siteSetup.send(request) : urlFetch.send(request);
    // A refused request frees its connection in the same tick.
    const answer = sent instanceof Promise ? await sent : sent;
    this.#answered(request, answer);
    if (answer.kind === "page" && !isFile && request.flow !== undefined) await limiter.nextSlice();
    const next = await (isFile
      ? siteSetup.record(request, answer)
      : urlFetch.record(request, answer));
    this.#ended(request, next);
  }

  #answered(request: Request, answer: Answer): void {
    const { clock, random, workbench, requests, emit } = this.#context;
    const end = endOf(answer);
    requests.answer(request, end.traffic.receivedBytes);
    this.#parts.limiter.end(request, end.traffic, end.reason);
    if (end.reason === "local_resource") this.#useFewer();
    else if (this.#connectionsMax < this.#connectionsWanted) this.#useMore();
    assert(request.turn !== undefined, "what was sent had its turn");
    workbench.end(clock.nowMs(), request.turn, { ...end, chance: random.next() });
    emit({ kind: "requestEnded", site: request.site, reason: end.reason });
    this.pump();
  }

  #ended(request: Request, phase: "recorded" | "queued"): void {
    const { workbench, requests } = this.#context;
    const { queue } = this.#parts;
    const { id, site, file } = request;
    if (file !== undefined) {
      workbench.release(site.id, id);
      site.fileEnded();
    }
    requests.end(request, phase);
    // Rows of requests in progress were skipped until now.
    queue.refill(site);
    queue.sleepIfDone(site);
    this.pump();
  }

  /** Descriptors or ports are used up: no more requests at a time than are in progress now. */
  #useFewer(): void {
    const connectionsMax = Math.max(1, this.#context.requests.sent);
    if (connectionsMax >= this.#connectionsMax) return;
    this.#connectionsMax = connectionsMax;
    this.#endedCalmly = 0;
    const message = "no file descriptors or ports left; fewer concurrent requests";
    this.#context.log.write({ level: "warn", message, values: { connectionsMax } });
  }

  #useMore(): void {
    this.#endedCalmly += 1;
    if (this.#endedCalmly % CALM_BEFORE_MORE === 0) this.#connectionsMax += 1;
  }

  /** Wakes the loop at the next time a site may be requested from. */
  #arm(): void {
    const { clock, workbench, requests } = this.#context;
    const { limiter } = this.#parts;
    // Without a free connection, or with enough requests in progress, only the end of one changes anything.
    const hasRoom = requests.sent < this.#connectionsMax && requests.urls < this.#allowance();
    const nextAtMs = workbench.nextAtMs();
    // A request that could start now and did not is held back by the limit, and the limiter wakes the loop.
    const isHeld = limiter.isHolding && nextAtMs <= clock.nowMs();
    const atMs = hasRoom && !isHeld ? nextAtMs : Infinity;
    if (atMs === this.#timerAtMs) return;
    this.#disarm();
    if (atMs === Infinity) return;
    this.#timerAtMs = atMs;
    // Timers may fire early by less than a millisecond; one more avoids a second wake-up.
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
