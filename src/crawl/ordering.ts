/**
 * Keeps the scores of waiting URLs in step with what is found: which goes first is decided as late as can be.
 *
 * `backlinks`: every page that links to a waiting URL raises its score by one. `pagerank`: the rank of a URL
 * among all that have been seen (`frontier/pagerank-seen.ts`), refreshed in slices; a URL gets its new
 * rank whenever somebody links to it, and some of those that wait long get it in every refresh.
 */

import { unreachable } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";
import type { Settings } from "../config/schema.ts";
import type { Candidate } from "../frontier/priority.ts";
import { SeenRanks } from "../frontier/pagerank-seen.ts";
import type { Focus } from "../topics/focus.ts";
import type { Store } from "../store/store.ts";
import type { CanonicalUrl } from "../url/url.ts";
import type { Border } from "./peers/route-links.ts";
import type { Intake } from "./admit.ts";
import type { Batch } from "./batch.ts";
import type { Roster } from "./sites.ts";
import { fingerprintsIn } from "../results/fingerprints.ts";
import { FocusOrder } from "./topics/focus-order.ts";
import type { Reading } from "./parse-page.ts";

/** The links of a page that have been let in. */
export interface AdmittedReading extends Reading {
  /** URLs with this id or a higher one were new with this page: its link is in their first score. */
  readonly firstNewId: number;
}

export interface Ordering {
  /** A page has come, and its links are about to be let in. */
  linking(url: string, reading: Reading): void;
  /** What a new URL begins with; undefined for what the order's own rule says. */
  scoreOf(found: Candidate): number | undefined;
  /** A page's links have been let in. */
  linked(fromId: number, reading: AdmittedReading): void;
  start(): void;
  stop(): void;
}

export interface OrderingParts {
  readonly clock: Clock;
  readonly store: Store;
  readonly roster: Roster;
  readonly batch: Batch;
  readonly intake: Intake;
  readonly border: Border | undefined;
  /** What tells how likely a link leads to the topic; undefined where none is looked for. */
  readonly focus: Focus | undefined;
  /** For the ranks of what has been seen. */
  readonly rankBytesMax: number;
  readonly onFault: (fault: unknown) => void;
}

/** undefined where scores are settled from the start. */
export function orderingFor(order: Settings["order"], parts: OrderingParts): Ordering | undefined {
  switch (order) {
    case "breadth":
      return undefined;
    case "backlinks":
      return new BacklinkOrder(parts);
    case "pagerank":
      return new RankOrder(parts);
    case "topic":
      return parts.focus === undefined ? undefined : new FocusOrder(parts.focus);
    default:
      return unreachable(order);
  }
}

class BacklinkOrder implements Ordering {
  readonly #parts: OrderingParts;

  constructor(parts: OrderingParts) {
    this.#parts = parts;
  }

  linking(): void {}

  scoreOf(): undefined {
    return undefined;
  }

  linked(_: number, { links, firstNewId }: AdmittedReading): void {
    const { batch, border } = this.#parts;
    for (const id of batch.lookup(fingerprintsIn(links))) {
      if (id === 0 || id >= firstNewId) continue;
      const target = batch.url(id);
      if (target?.reason === "sent") border?.countLink(target.url as CanonicalUrl);
      if (target === undefined || target.reason !== undefined) continue;
      batch.setScore(id, target.score + 1);
    }
  }

  start(): void {}
  stop(): void {}
}

const STEP_EVERY_MS = 20;
const REST_MS = 1_000;
/** Links or nodes in a step: a few milliseconds. */
const STEP_WORK = 200_000;
const RESCORED_AT_ONCE = 500;
const SITES_AT_ONCE = 50;
const PAGES_READ_AT_ONCE = 200;
/** For each node two ranks and a place, and its links, of which a page has twenty or so. */
const NODE_BYTES = 24;
const LINK_SHARE = 3 / 4;

class RankOrder implements Ordering {
  readonly #parts: OrderingParts;
  readonly #ranks: SeenRanks;
  #afterSiteId = 0;
  #cancelTimer: (() => void) | undefined;

  constructor(parts: OrderingParts) {
    this.#parts = parts;
    const { rankBytesMax } = parts;
    this.#ranks = new SeenRanks({
      nodesMax: Math.max(1024, Math.floor((rankBytesMax * (1 - LINK_SHARE)) / NODE_BYTES)),
      linkBytesMax: Math.floor(rankBytesMax * LINK_SHARE),
    });
  }

  linking(): void {}

  scoreOf(): undefined {
    return undefined;
  }

  linked(fromId: number, { links }: AdmittedReading): void {
    const { batch } = this.#parts;
    const known = [...batch.lookup(fingerprintsIn(links))].filter((id) => id !== 0);
    const elsewhere = Math.max(0, links.byteLength / 8 - known.length);
    this.#ranks.putLinks(fromId, known, elsewhere);
    for (const id of known) {
      if (batch.url(id)?.reason === undefined) batch.setScore(id, this.#ranks.scoreOf(id));
    }
  }

  /** After a restart the links of what is stored are read again, a few pages at a time. */
  start(): void {
    this.#readAfter(0);
  }

  stop(): void {
    this.#cancelTimer?.();
  }

  #readAfter(seq: number): void {
    const { store } = this.#parts;
    let last = seq;
    let count = 0;
    for (const { seq: number, page } of store.pagesAfter(seq)) {
      const ids = [...store.lookup(fingerprintsIn(page.links))].filter((id) => id !== 0);
      this.#ranks.putLinks(page.id, ids);
      last = number;
      count += 1;
      if (count >= PAGES_READ_AT_ONCE) break;
    }
    if (count < PAGES_READ_AT_ONCE) return this.#stepOn();
    this.#later(STEP_EVERY_MS, () => this.#readAfter(last));
  }

  #stepOn(): void {
    const isBusy = this.#ranks.step(STEP_WORK);
    if (!isBusy) this.#rescoreSome();
    this.#later(isBusy ? STEP_EVERY_MS : REST_MS, () => this.#stepOn());
  }

  /** Those that nobody links to any more have their turn, too, site after site. */
  #rescoreSome(): void {
    const { roster, batch } = this.#parts;
    const sites = roster.withWork(this.#afterSiteId, SITES_AT_ONCE);
    this.#afterSiteId = sites.at(-1)?.id ?? 0;
    const each = Math.ceil(RESCORED_AT_ONCE / Math.max(1, sites.length));
    for (const { id: siteId } of sites)
      for (const { id, score } of batch.waiting(siteId, each)) {
        const rank = this.#ranks.scoreOf(id);
        const isOther = Math.abs(rank - score) > 0.01 * Math.abs(score);
        if (isOther) batch.setScore(id, rank);
      }
  }

  #later(delayMs: number, work: () => void): void {
    this.#cancelTimer = this.#parts.clock.after(delayMs, () => {
      try {
        work();
      } catch (fault) {
        this.#parts.onFault(fault);
      }
    });
  }
}
