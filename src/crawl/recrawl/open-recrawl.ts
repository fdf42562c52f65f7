/**
 * Opens a recrawl of a site: judges its known URLs, and queues those that are to be requested again.
 *
 * One site after the other and 500 URLs at a time, so that other sites are crawled meanwhile. The progress is
 * stored with the queued URLs, so a kill in the middle loses nothing. The site is woken when all have been judged,
 * because the URLs most likely to have changed go first.
 */

import {
  fairChance,
  judgeRevisit,
  type RevisitRules,
  visitsBefore,
} from "../../frontier/revisit.ts";
import { expectedBytes } from "../../frontier/round-size.ts";
import type { EndedUrl } from "../../store/store.ts";
import type { CrawlContext } from "../context.ts";
import type { Queue } from "../queue.ts";
import type { Site } from "../site.ts";

const URLS_AT_ONCE = 500;
/** Pause when the disk is full. */
const AGAIN_AFTER_MS = 2000;

/** By its schedule, or by --refresh, which requests every page. */
export type RecrawlKind = "scheduled" | "refresh";

interface Opening {
  readonly site: Site;
  readonly rules: RevisitRules;
}

export class RecrawlOpening {
  readonly #context: CrawlContext;
  readonly #sitesQueue: Queue;
  readonly #queue: Opening[] = [];
  #cancelTimer: (() => void) | undefined;
  #isStopped = false;

  /** Called when everything that was added has been opened. */
  readonly #onOpened: () => void;

  constructor(context: CrawlContext, queue: Queue, onOpened: () => void) {
    this.#context = context;
    this.#sitesQueue = queue;
    this.#onOpened = onOpened;
  }

  get isBusy(): boolean {
    return this.#queue.length > 0;
  }

  /** The recrawl of the site has begun, now or in an earlier process that did not open it completely. */
  add(site: Site, kind: RecrawlKind): void {
    const { revisitChance, revisitMaxMs } = this.#context.settings;
    const isRefresh = kind === "refresh";
    const chanceMin = isRefresh ? 0 : revisitChance;
    site.opens();
    this.#queue.push({
      site,
      rules: { chanceMin, ageMaxMs: revisitMaxMs, isRefresh },
    });
    if (this.#queue.length === 1) this.#continueAfter(0);
  }

  /** The next process opens the rest. */
  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer?.();
  }

  #continueAfter(delayMs: number): void {
    if (this.#isStopped) return;
    this.#cancelTimer = this.#context.clock.after(delayMs, () => {
      try {
        this.#step();
      } catch (fault) {
        this.#context.emit({ kind: "fault", fault });
      }
    });
  }

  #step(): void {
    const { batch } = this.#context;
    const [opening] = this.#queue;
    if (opening === undefined) return;
    if (batch.isStuck) return this.#continueAfter(AGAIN_AFTER_MS);
    if (this.#openSome(opening)) {
      this.#queue.shift();
      this.#finish(opening.site);
    }
    if (this.isBusy) this.#continueAfter(0);
    else this.#onOpened();
  }

  /** Returns whether those were all. */
  #openSome({ site, rules }: Opening): boolean {
    const { clock, batch } = this.#context;
    const wallMs = clock.wallMs();
    const urls = batch.ended(site.id, site.round.openedTo ?? 0, URLS_AT_ONCE);
    let bytes = site.round.expectedBytes ?? 0;
    for (const url of urls) bytes += this.#judge({ site, rules }, url, wallMs);
    const isAll = urls.length < URLS_AT_ONCE;
    const openedTo = isAll ? undefined : urls.at(-1)?.id;
    site.openedTo(bytes, openedTo);
    batch.touch();
    return isAll;
  }

  /** Returns the bytes that the URL is expected to bring. */
  #judge({ site, rules }: Opening, url: EndedUrl, wallMs: number): number {
    const { batch, counters } = this.#context;
    const verdict = judgeRevisit(url, wallMs, rules);
    if (verdict.kind === "left") site.countNews("left");
    if (verdict.kind !== "recrawl") return 0;
    const visits = visitsBefore(url);
    batch.reopenUrl(site.id, { id: url.id, score: verdict.score, visits });
    counters.reopened(url.reason);
    site.reopened();
    return url.reason === "robots_denied" ? 0 : expectedBytes(url, fairChance(visits, wallMs));
  }

  #finish(site: Site): void {
    const { clock, sites } = this.#context;
    site.opened(clock.nowMs(), sites.outages.has(site.key));
    if (site.pending > 0) this.#sitesQueue.wake(site);
  }
}
