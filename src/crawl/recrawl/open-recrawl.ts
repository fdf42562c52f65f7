/**
 * Opens a new round of a site: judges what is known of it, and lets wait again what is to be asked.
 *
 * One site after the other and some hundred URLs at a time, so that the other sites go on meanwhile.
 * How far it came is stored with what it let wait, so a kill in the middle loses nothing; the site is
 * woken when all have been judged, because the likeliest to have changed goes first.
 */

import type { Clock } from "../../base/clock.ts";
import type { Settings } from "../../config/schema.ts";
import {
  fairChance,
  judgeRevisit,
  type RevisitRules,
  visitsBefore,
} from "../../frontier/revisit.ts";
import { expectedBytes } from "../../frontier/round-size.ts";
import type { EndedUrl, Store } from "../../store/store.ts";
import type { Batch } from "../batch.ts";
import type { Refill } from "../queue.ts";
import { predictedBytes, type Roster, type Site } from "../sites.ts";
import type { Tally } from "../counters.ts";

const URLS_AT_ONCE = 500;
/** When the disk is full. */
const AGAIN_AFTER_MS = 2000;

export interface RoundOpeningParts {
  readonly clock: Clock;
  readonly settings: Settings;
  readonly store: Store;
  readonly roster: Roster;
  readonly batch: Batch;
  readonly tally: Tally;
  readonly refill: Refill;
  /** Everything in the queue has been opened. */
  readonly onIdle: () => void;
  readonly onFault: (fault: unknown) => void;
}

/** By its schedule, or because somebody wants every page looked at. */
export type RoundKind = "scheduled" | "refresh";

interface Opening {
  readonly site: Site;
  readonly rules: RevisitRules;
}

export class RoundOpening {
  readonly #parts: RoundOpeningParts;
  readonly #queue: Opening[] = [];
  #cancelTimer: (() => void) | undefined;
  #isStopped = false;

  constructor(parts: RoundOpeningParts) {
    this.#parts = parts;
  }

  get isBusy(): boolean {
    return this.#queue.length > 0;
  }

  /** The site's round has begun, or was begun by an earlier process and not opened to its end. */
  add(site: Site, kind: RoundKind): void {
    const { revisitChance, revisitMaxMs } = this.#parts.settings;
    const isRefresh = kind === "refresh";
    const chanceMin = isRefresh ? 0 : revisitChance;
    site.isOpening = true;
    this.#queue.push({
      site,
      rules: { chanceMin, ageMaxMs: revisitMaxMs, isRefresh },
    });
    if (this.#queue.length === 1) this.#continueAfter(0);
  }

  /** What is left is opened by the next process. */
  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer?.();
  }

  #continueAfter(delayMs: number): void {
    if (this.#isStopped) return;
    this.#cancelTimer = this.#parts.clock.after(delayMs, () => {
      try {
        this.#step();
      } catch (fault) {
        this.#parts.onFault(fault);
      }
    });
  }

  #step(): void {
    const { batch, onIdle } = this.#parts;
    const [opening] = this.#queue;
    if (opening === undefined) return;
    if (batch.isStuck) return this.#continueAfter(AGAIN_AFTER_MS);
    if (this.#openSome(opening)) {
      this.#queue.shift();
      this.#finish(opening.site);
    }
    if (this.isBusy) this.#continueAfter(0);
    else onIdle();
  }

  /** Answers whether that were all. */
  #openSome({ site, rules }: Opening): boolean {
    const { clock, batch, roster } = this.#parts;
    const wallMs = clock.wallMs();
    const urls = batch.ended(site.id, site.round.openedTo ?? 0, URLS_AT_ONCE);
    let bytes = site.round.expectedBytes ?? 0;
    for (const url of urls) bytes += this.#judge({ site, rules }, url, wallMs);
    const isAll = urls.length < URLS_AT_ONCE;
    const openedTo = isAll ? undefined : urls.at(-1)?.id;
    site.round = { ...site.round, expectedBytes: bytes, openedTo };
    roster.changed(site);
    batch.touch();
    return isAll;
  }

  /** Answers how many bytes the URL is expected to bring. */
  #judge({ site, rules }: Opening, url: EndedUrl, wallMs: number): number {
    const { batch, tally } = this.#parts;
    const verdict = judgeRevisit(url, wallMs, rules);
    if (verdict.kind === "left") site.round.news.left += 1;
    if (verdict.kind !== "recrawl") return 0;
    const visits = visitsBefore(url);
    batch.reopenUrl(site.id, { id: url.id, score: verdict.score, visits });
    tally.reopened(url.reason);
    site.pending += 1;
    return url.reason === "robots_denied" ? 0 : expectedBytes(url, fairChance(visits, wallMs));
  }

  #finish(site: Site): void {
    site.isOpening = false;
    site.earlierBytes = predictedBytes(site.round);
    if (site.pending === 0) site.finishedAtMs = this.#parts.clock.nowMs();
    else this.#parts.refill.wake(site);
  }
}
