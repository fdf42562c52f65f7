/**
 * Hands over what is known of a part of the web to its new owner: what waits, so that it waits there, and what
 * has ended, so that it is not fetched again.
 *
 * A site that is being asked is laid aside first, and moves when its last request has ended. Rows and the
 * messages that carry them are in one commit. Whoever is killed meanwhile does it again from the start,
 * which costs messages and nothing else: what has moved already is known as such.
 */

import type { MovedUrl } from "../../exchange/url-message.ts";
import type { StoredUrl } from "../../store/store.ts";
import { siteOf } from "../../url/site.ts";
import type { CrawlContext } from "../context.ts";
import { endUrl } from "../end-url.ts";
import type { Ownership } from "../ownership.ts";
import type { Queue } from "../queue.ts";
import type { Site } from "../site.ts";
import type { UrlMerge } from "./merge-url.ts";
import type { LinkRouter } from "./route-links.ts";

interface HandOverParts {
  readonly ownership: Ownership;
  readonly queue: Queue;
  readonly router: LinkRouter;
  readonly merge: UrlMerge;
}

const ROWS_AT_ONCE = 1_000;
const LOOK_AGAIN_MS = 50;
const SITES_AT_ONCE = 1_000;

/** A site on its way, and how far its rows have been read. */
interface Leaving {
  readonly key: string;
  afterId: number;
}

export class HandOver {
  readonly #context: CrawlContext;
  readonly #parts: HandOverParts;
  #lost: ReadonlySet<number> = new Set();
  #leaving: Leaving[] = [];
  #onDone: () => void = () => undefined;
  #cancelTimer: (() => void) | undefined;

  constructor(context: CrawlContext, parts: HandOverParts) {
    this.#context = context;
    this.#parts = parts;
  }

  /** Whether everything that had to go is noted in messages. */
  get isDone(): boolean {
    return this.#leaving.length === 0;
  }

  /** Begins with all that is known of these buckets; `onDone` when all of it is noted in messages. */
  begin(lost: ReadonlySet<number>, onDone: () => void): void {
    this.#onDone = onDone;
    const { sites } = this.#context;
    const { ownership } = this.#parts;
    if (lost.size === 0 && this.isDone) return onDone();
    this.#lost = new Set([...this.#lost, ...lost]);
    // From the start: what has come back between, and is lost again, has to go once more.
    this.#leaving = [];
    for (const key of sites.keys())
      if (!ownership.keepsSites || this.#isLost(`${key}/`)) this.#leaving.push({ key, afterId: 0 });
    this.#goOn();
  }

  /** Tells the owners of these buckets again what was told to somebody who is gone. */
  sendAgain(buckets: ReadonlySet<number>): void {
    if (buckets.size === 0) return;
    const { sites, batch } = this.#context;
    const { ownership, router } = this.#parts;
    if (ownership.ownsContents) return this.#fetchAgain();
    const isAmong = (url: string): boolean => buckets.has(ownership.bucketOf(url));
    for (const key of sites.keys()) {
      if (ownership.keepsSites && !isAmong(`${key}/`)) continue;
      for (let afterId = 0; ;) {
        const rows = batch.urlsOfSite(sites.of(key).id, afterId, ROWS_AT_ONCE);
        const among = rows.filter(({ url }) => isAmong(url));
        const told = among.flatMap((row) => toldAgain(row));
        if (told.length > 0) router.handOver(told);
        for (const row of among) if (row.reason === "elsewhere") this.#doubt(row);
        afterId = rows.at(-1)?.id ?? afterId;
        if (rows.length < ROWS_AT_ONCE) break;
      }
    }
  }

  /** Whoever fetched it may be the one who is lost: it waits again, here or with its owner. */
  #doubt(row: StoredUrl): void {
    const { ownership, router, merge } = this.#parts;
    merge.reopen(row);
    if (ownership.isOwn(row.url)) return;
    this.#moveAway(this.#context.sites.of(siteOf(row.url)), row);
    router.handOver([movedUrl(row, "waiting")]);
  }

  stop(): void {
    this.#cancelTimer?.();
  }

  /**
   * Pages that were handed to somebody who is lost are lost with them, and so is what only they led to. Which of
   * those that were handed over these are nobody remembers: all wait again, and go to whoever owns them now.
   */
  #fetchAgain(): void {
    const { sites, batch } = this.#context;
    for (const key of sites.keys())
      for (let afterId = 0; ;) {
        const rows = batch.urlsOfSite(sites.of(key).id, afterId, ROWS_AT_ONCE);
        for (const row of rows) if (row.reason === "exported") this.#parts.merge.reopen(row);
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
    this.#cancelTimer = this.#context.clock.after(LOOK_AGAIN_MS, () => {
      try {
        this.#goOn();
      } catch (fault) {
        this.#context.emit({ kind: "fault", fault });
      }
    });
  }

  /** Moves some rows of a site; returns how many it read, and whether there is more to do. */
  #move(leaving: Leaving): { readonly rows: number; readonly hasMore: boolean } {
    const { batch, sites, requests } = this.#context;
    const { ownership, queue, router } = this.#parts;
    if (ownership.keepsSites && !this.#isLost(`${leaving.key}/`))
      return { rows: 0, hasMore: false };
    const site = sites.of(leaving.key);
    if (ownership.keepsSites) queue.layAside(site);
    const rows = batch.urlsOfSite(site.id, leaving.afterId, ROWS_AT_ONCE);
    const moved: MovedUrl[] = [];
    let afterId = rows.at(-1)?.id ?? leaving.afterId;
    for (const row of rows) {
      if (!ownership.keepsSites && !this.#isLost(row.url)) continue;
      if (requests.isUnderWay(row.id)) {
        afterId = row.id - 1;
        break;
      }
      // Whoever has these has heard of them.
      if (row.reason === "sent" || row.reason === "moved_away") continue;
      // Of a URL that is nobody's only who has it must know that it has ended.
      if (ownership.ownsContents && row.reason !== undefined) continue;
      moved.push(movedUrl(row));
      if (row.reason !== undefined) continue;
      queue.withdraw(site, row.id);
      this.#moveAway(site, row);
    }
    queue.sleepIfDone(site);
    if (moved.length > 0) router.handOver(moved);
    const isEnd = rows.length < ROWS_AT_ONCE && afterId === (rows.at(-1)?.id ?? leaving.afterId);
    leaving.afterId = afterId;
    return { rows: rows.length, hasMore: !isEnd };
  }

  /** Who goes while links are nobody's has more to hand over with every page that was under way. */
  #foundSince(): Leaving[] {
    const { ownership } = this.#parts;
    if (!ownership.ownsContents || this.#lost.size === 0) return [];
    if (ownership.owned().length > 0) return [];
    return this.#context.sites.withWork(0, SITES_AT_ONCE).map(({ key }) => ({ key, afterId: 0 }));
  }

  #moveAway(site: Site, row: StoredUrl): void {
    const waiting = { ...row, etag: "", lastModified: "" };
    endUrl(this.#context, site, waiting, { reason: "moved_away" });
  }

  /** It may have become ours again meanwhile. */
  #isLost(url: string): boolean {
    const { ownership } = this.#parts;
    // Whoever has a URL keeps it, until nothing is left that it could be asked for.
    if (ownership.ownsContents) return ownership.owned().length === 0;
    const isLost = this.#lost.has(ownership.bucketOf(url));
    return isLost && !ownership.isOwn(url);
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
