/**
 * Hands over what is known of a part of the web to its new owner: what waits, so that it waits there, and what
 * has ended, so that it is not fetched again.
 *
 * A site that is being asked is laid aside first, and moves when its last request has ended. Rows and the
 * letters that carry them are in one commit. Whoever is killed meanwhile does it again from the start,
 * which costs letters and nothing else: what has moved already is known as such.
 */

import type { Clock } from "../../base/clock.ts";
import type { MovedUrl } from "../../exchange/wire.ts";
import type { Partition } from "../../partition/partition.ts";
import type { StoredUrl } from "../../store/store.ts";
import { siteOf } from "../../url/site.ts";
import type { CanonicalUrl } from "../../url/url.ts";
import type { Border } from "./route-links.ts";
import type { Batch } from "../batch.ts";
import type { Refill } from "../queue.ts";
import type { Roster } from "../sites.ts";
import type { Settler } from "../end-url.ts";

export interface MovingParts {
  readonly clock: Clock;
  readonly batch: Batch;
  readonly roster: Roster;
  readonly refill: Refill;
  readonly settler: Settler;
  readonly partition: Partition;
  /** Whether contents are owned and not addresses. */
  readonly ownsContents: boolean;
  readonly border: Border;
  /** Lets a URL wait again that has ended. */
  readonly reopen: (row: StoredUrl) => void;
  readonly isUnderWay: (urlId: number) => boolean;
  readonly onFault: (fault: unknown) => void;
}

const ROWS_AT_ONCE = 1_000;
const LOOK_AGAIN_MS = 50;
const SITES_AT_ONCE = 1_000;

/** A site on its way, and how far its rows have been read. */
interface Leaving {
  readonly key: string;
  afterId: number;
}

export class Moving {
  readonly #parts: MovingParts;
  #lost: ReadonlySet<number> = new Set();
  #leaving: Leaving[] = [];
  #onDone: () => void = () => undefined;
  #cancelTimer: (() => void) | undefined;

  constructor(parts: MovingParts) {
    this.#parts = parts;
  }

  /** Whether everything that had to go is noted in letters. */
  get isDone(): boolean {
    return this.#leaving.length === 0;
  }

  /** Begins with all that is known of these buckets; `onDone` when all of it is noted in letters. */
  begin(lost: ReadonlySet<number>, onDone: () => void): void {
    this.#onDone = onDone;
    const { roster, partition } = this.#parts;
    if (lost.size === 0 && this.isDone) return onDone();
    this.#lost = new Set([...this.#lost, ...lost]);
    // From the start: what has come back between, and is lost again, has to go once more.
    this.#leaving = [];
    for (const key of roster.keys())
      if (!partition.keepsSites || this.#isLost(`${key}/`)) this.#leaving.push({ key, afterId: 0 });
    this.#goOn();
  }

  /** Tells the owners of these buckets again what was told to somebody who is gone. */
  sendAgain(buckets: ReadonlySet<number>): void {
    if (buckets.size === 0) return;
    const { roster, batch, partition, ownsContents, border } = this.#parts;
    if (ownsContents) return this.#fetchAgain();
    const isAmong = (url: string): boolean => buckets.has(partition.bucketOf(url as CanonicalUrl));
    for (const key of roster.keys()) {
      if (partition.keepsSites && !isAmong(`${key}/`)) continue;
      for (let afterId = 0; ;) {
        const rows = batch.urlsOfSite(roster.of(key).id, afterId, ROWS_AT_ONCE);
        const among = rows.filter(({ url }) => isAmong(url));
        const told = among.flatMap((row) => toldAgain(row));
        if (told.length > 0) border.handOver(told);
        for (const row of among) if (row.reason === "elsewhere") this.#doubt(row);
        afterId = rows.at(-1)?.id ?? afterId;
        if (rows.length < ROWS_AT_ONCE) break;
      }
    }
  }

  /** Whoever fetched it may be the one who is lost: it waits again, here or with its owner. */
  #doubt(row: StoredUrl): void {
    const { border, reopen, roster, settler } = this.#parts;
    reopen(row);
    if (border.isOwn(row.url as CanonicalUrl)) return;
    const site = roster.of(siteOf(row.url));
    settler.settle(site, { ...row, etag: "", lastModified: "" }, "moved_away");
    border.handOver([movedUrl(row, "waiting")]);
  }

  stop(): void {
    this.#cancelTimer?.();
  }

  /**
   * Pages that were handed to somebody who is lost are lost with them, and so is what only they led to. Which of
   * those that were handed over these are nobody remembers: all wait again, and go to whoever owns them now.
   */
  #fetchAgain(): void {
    const { roster, batch, reopen } = this.#parts;
    for (const key of roster.keys())
      for (let afterId = 0; ;) {
        const rows = batch.urlsOfSite(roster.of(key).id, afterId, ROWS_AT_ONCE);
        for (const row of rows) if (row.reason === "exported") reopen(row);
        afterId = rows.at(-1)?.id ?? afterId;
        if (rows.length < ROWS_AT_ONCE) break;
      }
  }

  #goOn(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    // Rows move in slices, with room for everything else between.
    for (let room = ROWS_AT_ONCE; room > 0;) {
      const site = this.#leaving.shift();
      if (site === undefined) break;
      const { rows, hasMore } = this.#move(site);
      room -= rows;
      if (!hasMore) continue;
      this.#leaving.push(site);
      break;
    }
    if (this.#leaving.length === 0) this.#leaving = this.#foundSince();
    if (this.#leaving.length === 0) {
      this.#lost = new Set();
      return this.#onDone();
    }
    this.#cancelTimer = this.#parts.clock.after(LOOK_AGAIN_MS, () => {
      try {
        this.#goOn();
      } catch (fault) {
        this.#parts.onFault(fault);
      }
    });
  }

  /** Moves some rows of a site; returns how many it read, and whether there is more to do. */
  #move(leaving: Leaving): { readonly rows: number; readonly hasMore: boolean } {
    const { batch, roster, refill, partition, settler, border } = this.#parts;
    if (partition.keepsSites && !this.#isLost(`${leaving.key}/`))
      return { rows: 0, hasMore: false };
    const site = roster.of(leaving.key);
    if (partition.keepsSites) refill.layAside(site);
    const rows = batch.urlsOfSite(site.id, leaving.afterId, ROWS_AT_ONCE);
    const moved: MovedUrl[] = [];
    let afterId = rows.at(-1)?.id ?? leaving.afterId;
    for (const row of rows) {
      if (!partition.keepsSites && !this.#isLost(row.url)) continue;
      if (this.#parts.isUnderWay(row.id)) {
        afterId = row.id - 1;
        break;
      }
      // Whoever has these has heard of them.
      if (row.reason === "sent" || row.reason === "moved_away") continue;
      // Of a URL that is nobody's only who has it must know that it has ended.
      if (this.#parts.ownsContents && row.reason !== undefined) continue;
      moved.push(movedUrl(row));
      if (row.reason !== undefined) continue;
      refill.withdraw(site, row.id);
      settler.settle(site, { ...row, etag: "", lastModified: "" }, "moved_away");
    }
    refill.sleepIfDone(site);
    if (moved.length > 0) border.handOver(moved);
    const isEnd = rows.length < ROWS_AT_ONCE && afterId === (rows.at(-1)?.id ?? leaving.afterId);
    leaving.afterId = afterId;
    return { rows: rows.length, hasMore: !isEnd };
  }

  /** Who goes while links are nobody's has more to hand over with every page that was under way. */
  #foundSince(): Leaving[] {
    const { ownsContents, border, roster } = this.#parts;
    if (!ownsContents || this.#lost.size === 0 || border.owned().length > 0) return [];
    return roster.withWork(0, SITES_AT_ONCE).map(({ key }) => ({ key, afterId: 0 }));
  }

  /** It may have become ours again meanwhile. */
  #isLost(url: string): boolean {
    const { partition, border, ownsContents } = this.#parts;
    // Whoever has a URL keeps it, until nothing is left that it could be asked for.
    if (ownsContents) return border.owned().length === 0;
    const isLost = this.#lost.has(partition.bucketOf(url as CanonicalUrl));
    return isLost && !border.isOwn(url as CanonicalUrl);
  }
}

/** What went to somebody who is lost waits again; what has ended here need not be fetched again. */
function toldAgain(row: StoredUrl): MovedUrl[] {
  const { reason } = row;
  if (reason === "sent" || reason === "moved_away") return [movedUrl(row, "waiting")];
  return reason === undefined || reason === "elsewhere" ? [] : [movedUrl(row)];
}

function movedUrl(
  { url, written, depth, redirects, score, attempts, reason }: StoredUrl,
  state: MovedUrl["state"] = reason === undefined ? "waiting" : "ended",
): MovedUrl {
  return { url, written, depth, redirects, score, attempts, links: 1, state };
}
