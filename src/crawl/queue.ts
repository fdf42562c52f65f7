/**
 * The queue: keeps a few URLs of every site that is crawled on the workbench, and wakes other sites while there is
 * room for more.
 *
 * All other URLs are in the store. A new URL goes straight to the workbench if all URLs of its site are there,
 * which saves most reads; otherwise it is read from the store later.
 */

import type { Addressee } from "../frontier/politeness.ts";
import type { Verdict } from "../fetch/robots.ts";
import type { When } from "../frontier/traps.ts";
import { isLast, lastScore } from "../frontier/priority.ts";
import type { NamedReason } from "../page/outcome.ts";
import type { WaitingUrl } from "../store/store.ts";
import { pathOf, splitPath } from "../url/url.ts";
import { entriesIn, SITES, WAITING } from "./allotments.ts";
import type { CrawlContext } from "./context.ts";
import { endUrl } from "./end-url.ts";
import { type QueuedRequest, requestFor, retryFor } from "./requests.ts";
import type { Site } from "./site.ts";

interface QueueLimits {
  readonly perSiteMax: number;
  readonly entriesMax: number;
  readonly sitesAwakeMax: number;
  /** Whether a site with better URLs takes the place of a site with worse ones. */
  readonly bestSitesFirst: boolean;
}

/** URLs of a site on the workbench: breadth-first scores are final, others change while URLs wait. */
const URLS_PER_SITE = { settled: 256, changing: 32 };
/** Sites are woken when at most this share of the places is taken, many at once. */
const WAKE_BELOW = 7 / 8;
/** Sites compared to find one that gives up its place, and by what factor its best score must be lower. */
const PLACES_LOOKED_AT = 16;
const WORSE_BY = 1.5;
const HOPEFUL_MAX = 256;
/** A site may have this many times as many retries as other URLs on the workbench. */
const RETRIES_TIMES = 4;
/** URLs of worthless shapes that are sampled at once: what one brings decides about the next. */
const SAMPLED_AT_ONCE = 2;
/** Waiting URLs read from the store at once when all URLs of a site end. */
const SETTLED_AT_ONCE = 1000;

export class Queue {
  readonly #context: CrawlContext;
  readonly #limits: QueueLimits;
  /** Sites whose rules are in the batch and not stored yet. */
  readonly #ruled = new Set<Site>();
  /** Sites whose URLs have been put last in the batch, and are not stored so yet. */
  readonly #reordered = new Set<Site>();
  #cursor = 0;
  /** Whether sites with work may be asleep because all places were taken. */
  #hasSleepers = false;
  /** Sites that found no place, and their best score. */
  readonly #hopeful = new Map<string, number>();
  /** Iterates over all sites, to find one that can give up its place. */
  #round: Iterator<Site> | undefined;

  constructor(context: CrawlContext) {
    this.#context = context;
    const { settings, hooks } = context;
    const { order } = settings;
    const isScored = hooks.score !== undefined;
    this.#limits = {
      perSiteMax: URLS_PER_SITE[order === "breadth" && !isScored ? "settled" : "changing"],
      entriesMax: entriesIn(settings, WAITING),
      sitesAwakeMax: Math.ceil(entriesIn(settings, SITES) / 2),
      bestSitesFirst: order === "topic" && !isScored,
    };
  }

  /** Wakes sleeping sites that have work, as long as places are free. */
  wakeSites(): void {
    const { sites } = this.#context;
    const limits = this.#limits;
    for (let round = 0; round < 2;) {
      const isFromStart = this.#cursor === 0;
      const awakeBefore = sites.awakeCount;
      // Sites that are awake may come first in the list; after its end it starts again.
      const rows = sites.withWork(this.#cursor, limits.sitesAwakeMax);
      for (const row of rows) {
        if (sites.awakeCount >= limits.sitesAwakeMax) {
          this.#hasSleepers = true;
          return;
        }
        this.#cursor = row.id;
        this.wake(sites.adopt(row));
      }
      const mayFollow = rows.length === limits.sitesAwakeMax;
      if (mayFollow) this.#hasSleepers = true;
      else if (isFromStart) this.#hasSleepers = false;
      if (sites.awakeCount > awakeBefore) return;
      // Only sites that are awake or cannot be reached: more may follow.
      if (mayFollow) continue;
      this.#cursor = 0;
      round += 1;
    }
  }

  wake(site: Site): void {
    const { sites, ownership, emit } = this.#context;
    const limits = this.#limits;
    if (site.awake || site.isOpening || site.pending === 0) return;
    if (sites.isHeldBack(site) || ownership?.mayCrawl(site.key) === false) return;
    if (sites.awakeCount >= limits.sitesAwakeMax) {
      this.#hasSleepers = true;
      return;
    }
    sites.wake(site);
    emit({ kind: "siteWoken", site });
  }

  /** The site's address is known: it gets its place on the workbench. */
  open(site: Site, to: Addressee): void {
    const { ownership, workbench } = this.#context;
    const shared = ownership?.shared(site.key, to) ?? to;
    site.placed(shared);
    workbench.open(shared);
  }

  /** A URL has just been added. */
  feed(site: Site, row: WaitingUrl): void {
    const { workbench, ownership, emit } = this.#context;
    const limits = this.#limits;
    emit({ kind: "siteGrown", site });
    if (!site.awake) {
      if (limits.bestSitesFirst) this.#makeRoom(row.score);
      this.wake(site);
      if (limits.bestSitesFirst && !site.awake) this.#remember(site.key, row.score);
      return;
    }
    if (!site.isReady) return;
    if (ownership?.hasArrived(row.url) === false) return;
    // Judged when no other is left.
    if (isLast(row.score)) {
      if (workbench.queued(site.id) === 0) this.refillAfterCommit(site);
      return;
    }
    const queued = workbench.queued(site.id);
    const othersAreHere = this.#heldPages(site) >= site.pending - 1;
    const hasRoom = queued < limits.perSiteMax && workbench.entries < limits.entriesMax;
    const goesFirst = row.score > workbench.bestScore(site.id) && queued < 2 * limits.perSiteMax;
    if (!(othersAreHere && (hasRoom || queued === 0)) && !goesFirst) return;
    const request = this.#requestFor(site, row);
    if (request !== undefined) workbench.put(site.id, request);
  }

  /** Remembers the best sites without a place: they are next. */
  #remember(key: string, score: number): void {
    this.#hopeful.set(key, Math.max(score, this.#hopeful.get(key) ?? score));
    if (this.#hopeful.size <= HOPEFUL_MAX) return;
    const [worst] = [...this.#hopeful].reduce((a, b) => (b[1] < a[1] ? b : a));
    this.#hopeful.delete(worst);
  }

  #wakeHopeful(): void {
    const { sites } = this.#context;
    const limits = this.#limits;
    while (this.#hopeful.size > 0 && sites.awakeCount < limits.sitesAwakeMax) {
      const [best] = [...this.#hopeful].reduce((a, b) => (b[1] > a[1] ? b : a));
      this.#hopeful.delete(best);
      this.wake(sites.of(best));
    }
  }

  /** If the best sites go first, the others would keep their places without being requested. */
  #makeRoom(score: number): void {
    const { sites, workbench } = this.#context;
    const limits = this.#limits;
    if (sites.awakeCount < limits.sitesAwakeMax) return;
    let worst: Site | undefined;
    let worstScore = score / WORSE_BY;
    for (let count = 0; count < PLACES_LOOKED_AT; count++) {
      this.#round ??= sites.inMemory()[Symbol.iterator]();
      const { value, done } = this.#round.next();
      if (done === true) this.#round = undefined;
      const site = value as Site | undefined;
      if (site?.awake !== true || site.files > 0 || !workbench.has(site.id)) continue;
      const best = workbench.queued(site.id) === 0 ? Infinity : workbench.bestScore(site.id);
      if (best >= worstScore) continue;
      worst = site;
      worstScore = best;
    }
    if (worst === undefined) return;
    this.#hasSleepers = true;
    this.layAside(worst);
  }

  /** Fills a site's short queue from the store. */
  refill(site: Site): void {
    const { workbench, batch, requests, ownership, emit } = this.#context;
    const limits = this.#limits;
    if (!site.isReady || this.#reordered.has(site)) return;
    const retries = workbench.retries(site.id);
    const fresh = workbench.queued(site.id) - retries;
    if (fresh > limits.perSiteMax / 4 || retries > RETRIES_TIMES * limits.perSiteMax) return;
    if (this.#heldPages(site) >= site.pending) return;
    const wanted = workbench.entries < limits.entriesMax ? limits.perSiteMax - fresh : 2;
    const held = workbench.held(site.id);
    const last: WaitingUrl[] = [];
    let added = 0;
    for (const row of batch.waiting(site.id, wanted + held.size)) {
      if (added >= wanted) break;
      if (held.has(row.id) || requests.isUnderWay(row.id)) continue;
      if (ownership?.hasArrived(row.url) === false) continue;
      const request = isLast(row.score) ? undefined : this.#requestFor(site, row);
      if (request !== undefined) workbench.put(site.id, request);
      if (isLast(row.score)) last.push(row);
      else if (request !== undefined || !this.#reordered.has(site)) added += 1;
    }
    // A page under way may bring URLs that go before them.
    if (added === 0 && fresh === 0 && site.uses === 0) added = this.#sample(site, last);
    const retriesNow = workbench.retries(site.id);
    if (added > 0 && retriesNow > 0 && workbench.queued(site.id) === retriesNow)
      emit({ kind: "siteDoubted", site });
  }

  /** A shape of the site has become worthless: its URLs in the queue go behind the others. */
  putLast(site: Site): void {
    const { workbench } = this.#context;
    const isMeant = (row: WaitingUrl | undefined): boolean =>
      row !== undefined && !isLast(row.score) && this.#whenToRequest(site, row) === "last";
    for (const { row } of workbench.withdrawAll(site.id, ({ row }) => isMeant(row)))
      if (row !== undefined) this.#rescore(site, row);
    this.refill(site);
  }

  /** Requests some of the URLs that go last, and ends others of worthless shapes; returns how many wait now. */
  #sample(site: Site, rows: readonly WaitingUrl[]): number {
    let added = 0;
    for (const row of rows) {
      if (added >= SAMPLED_AT_ONCE) return added;
      if (this.#whenToRequest(site, row) === "never")
        endUrl(this.#context, site, row, { reason: "trap_useless" });
      else {
        const request = this.#requestFor(site, row);
        if (request === undefined) continue;
        this.#context.workbench.put(site.id, request);
        added += 1;
      }
    }
    // More may be stored.
    if (added === 0 && rows.length > 0 && site.pending > 0) this.#refillLater(site);
    return added;
  }

  #whenToRequest(site: Site, { url, score, depth }: WaitingUrl): When {
    if (depth === 0) return "now";
    const place = { siteId: site.id, ...splitPath(url) };
    return this.#context.traps.whenToRequest(place, isLast(score));
  }

  #rescore(site: Site, { id, score }: WaitingUrl): void {
    this.#context.batch.setScore(id, lastScore(score));
    this.#reordered.add(site);
    this.#refillLater(site);
  }

  #refillLater(site: Site): void {
    this.refillAfterCommit(site);
    this.#context.batch.touch();
  }

  /** The site's rules are stored with the next commit, before its first page is requested. */
  refillAfterCommit(site: Site): void {
    this.#ruled.add(site);
  }

  /** A URL of the site that had ended waits again. */
  reopened(site: Site): void {
    this.#context.emit({ kind: "siteGrown", site });
    if (site.awake) this.refill(site);
    else this.wake(site);
  }

  /** Takes a site off the workbench; what waits of it stays in the store, what is under way goes on. */
  layAside(site: Site): void {
    const { workbench, sites } = this.#context;
    if (workbench.has(site.id))
      for (const { file } of workbench.close(site.id)) if (file !== undefined) site.fileEnded();
    this.#ruled.delete(site);
    if (site.awake) sites.sleep(site);
  }

  /** A waiting URL is about to end without a request. */
  withdraw(site: Site, urlId: number): void {
    this.#context.workbench.withdraw(site.id, urlId);
  }

  afterCommit(): void {
    const { sites } = this.#context;
    const limits = this.#limits;
    this.#reordered.clear();
    this.#wakeHopeful();
    if (this.#hasSleepers && sites.awakeCount <= limits.sitesAwakeMax * WAKE_BELOW)
      this.wakeSites();
    const ruled = [...this.#ruled];
    this.#ruled.clear();
    for (const site of ruled) {
      site.rulesStored();
      this.refill(site);
      this.sleepIfDone(site);
    }
  }

  /** Puts a site with nothing left to do to sleep; another one is let in after the next commit. */
  sleepIfDone(site: Site): void {
    const { sites, workbench } = this.#context;
    if (!site.awake || site.to === undefined || site.pending > 0) return;
    if (workbench.held(site.id).size > 0) return;
    workbench.close(site.id);
    sites.sleep(site);
  }

  /** Ends all waiting URLs of a site with one reason: it has no name, or no robots.txt that can be read. */
  endAll(site: Site, reason: NamedReason, detail: string): void {
    this.layAside(site);
    const { batch, requests } = this.#context;
    for (let underWay = 0; site.pending > underWay;) {
      const rows = batch.waiting(site.id, SETTLED_AT_ONCE + underWay);
      const unasked = rows.filter(({ id }) => !requests.isUnderWay(id));
      // Requests under way end by themselves.
      underWay = rows.length - unasked.length;
      for (const row of unasked) endUrl(this.#context, site, row, { reason, detail });
      if (unasked.length === 0) return;
    }
  }

  /** undefined for a URL that robots.txt forbids, which ends, and for one that goes behind the others now. */
  #requestFor(site: Site, row: WaitingUrl): QueuedRequest | undefined {
    if (!isLast(row.score) && this.#whenToRequest(site, row) === "last") {
      this.#rescore(site, row);
      return undefined;
    }
    const verdict = site.rules?.allows(pathOf(row.url));
    if (verdict?.allowed === false) {
      const end = { reason: "robots_denied", detail: ruleText(verdict) } as const;
      endUrl(this.#context, site, row, end);
      return undefined;
    }
    const trial = site.trial(row.id);
    return trial === undefined ? requestFor(row) : retryFor(row, trial.notBeforeMs);
  }

  #heldPages(site: Site): number {
    return this.#context.workbench.held(site.id).size - site.files;
  }
}

export function ruleText({ rule }: Verdict): string {
  if (rule === undefined) return "robots.txt could not be fetched";
  return `robots.txt line ${rule.line}: ${rule.allow ? "Allow" : "Disallow"}: ${rule.pattern}`;
}
