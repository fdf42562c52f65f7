/**
 * The waiting hall: keeps a few URLs of every awake site on the workbench, and wakes sites while
 * there is room for more.
 *
 * Everything else waits in the store. A new URL goes straight to the workbench when all of its site's
 * URLs are there anyway, which spares the store most reads; otherwise it is read back in its turn.
 */

import type { Addressee } from "../frontier/politeness.ts";
import type { Workbench } from "../frontier/workbench.ts";
import type { Verdict } from "../fetch/robots.ts";
import type { NamedReason } from "../page/outcome.ts";
import type { Store, WaitingUrl } from "../store/store.ts";
import { pathOf } from "../url/url.ts";
import { type Job, jobOf, retryOf } from "./job.ts";
import type { Batch } from "./batch.ts";
import type { Roster, Site } from "./sites.ts";
import type { Settler } from "./end-url.ts";

export interface RefillLimits {
  readonly perSiteMax: number;
  readonly entriesMax: number;
  readonly sitesAwakeMax: number;
  /** Whether a site with better URLs takes the place of one that has waited in vain. */
  readonly bestSitesFirst: boolean;
}

export interface RefillParts {
  readonly store: Store;
  readonly roster: Roster;
  readonly workbench: Workbench<Job>;
  readonly batch: Batch;
  readonly settler: Settler;
  readonly limits: RefillLimits;
  /** Finds out where a site is and what it allows, and opens it. */
  readonly prepare: (site: Site) => void;
  readonly isUnderWay: (urlId: number) => boolean;
  /** Whether the site is this process's to ask, at present. */
  readonly mayAsk: (site: Site) => boolean;
  /** Whether the site cannot be reached, and is left alone until its next probe. */
  readonly isAway: (site: Site) => boolean;
  /** Whether nobody else is still handing over what is known of the URL. */
  readonly mayFetch: (url: string) => boolean;
  /** Of a site nothing waits but what has failed: something else must show whether it responds. */
  readonly onDoubt: (site: Site) => void;
  /** Something of the site waits now that did not before. */
  readonly onWaiting: (site: Site) => void;
  /** What other processes share of it: their consent is needed, or their part left to them. */
  readonly shared: (site: Site, to: Addressee) => Addressee;
}

/** Others are woken when this part of the places is taken at most: the list is read for many at once. */
const WAKE_BELOW = 7 / 8;
/** Of sites that are awake so many are looked at for one to give its place up, and it must be worse by this factor. */
const PLACES_LOOKED_AT = 16;
const WORSE_BY = 1.5;
const HOPEFUL_MAX = 256;
/** A site's retries take this many times the places of its other URLs before those wait for them. */
const RETRIES_TIMES = 4;
/** Waiting URLs read from the store at once when a whole site is settled. */
const SETTLED_AT_ONCE = 1000;

export class Refill {
  readonly #parts: RefillParts;
  /** Sites whose rules are in the batch and not stored yet. */
  readonly #ruled = new Set<Site>();
  #cursor = 0;
  /** Whether sites with work may be asleep for want of room. */
  #hasSleepers = false;
  /** Sites that found no place, and the best score of what waits there. */
  readonly #hopeful = new Map<string, number>();
  /** Goes round all sites, to look for one that can give its place up. */
  #round: Iterator<Site> | undefined;

  constructor(parts: RefillParts) {
    this.#parts = parts;
  }

  /** Wakes sleeping sites that have work, as many as there is room for. */
  wakeSites(): void {
    const { roster, limits } = this.#parts;
    for (let round = 0; round < 2;) {
      const isFromStart = this.#cursor === 0;
      const awakeBefore = roster.awakeCount;
      // Those already awake may come first in the list; past the end it starts anew.
      const rows = roster.withWork(this.#cursor, limits.sitesAwakeMax);
      for (const row of rows) {
        if (roster.awakeCount >= limits.sitesAwakeMax) {
          this.#hasSleepers = true;
          return;
        }
        this.#cursor = row.id;
        this.wake(roster.adopt(row));
      }
      const isWholeList = isFromStart && rows.length < limits.sitesAwakeMax;
      if (isWholeList) this.#hasSleepers = false;
      if (roster.awakeCount > awakeBefore) return;
      // Only sites that are awake or cannot be reached: more may follow.
      if (rows.length === limits.sitesAwakeMax) continue;
      this.#cursor = 0;
      round += 1;
    }
  }

  wake(site: Site): void {
    const { roster, limits, prepare } = this.#parts;
    if (site.awake || site.isOpening || site.pending === 0) return;
    if (!this.#parts.mayAsk(site) || this.#parts.isAway(site)) return;
    if (roster.awakeCount >= limits.sitesAwakeMax) {
      this.#hasSleepers = true;
      return;
    }
    roster.wake(site);
    prepare(site);
  }

  /** The site's address is known: it gets its place on the workbench. */
  open(site: Site, to: Addressee): void {
    site.to = this.#parts.shared(site, to);
    this.#parts.workbench.open(site.to);
  }

  /** A URL has just been noted. */
  feed(site: Site, row: WaitingUrl): void {
    const { workbench, limits, onWaiting } = this.#parts;
    onWaiting(site);
    if (!site.awake) {
      if (limits.bestSitesFirst) this.#makeRoom(row.score);
      this.wake(site);
      if (limits.bestSitesFirst && !site.awake) this.#remember(site.key, row.score);
      return;
    }
    if (site.to === undefined || site.rules === undefined || !this.#parts.mayFetch(row.url)) return;
    const queued = workbench.queued(site.id);
    const othersAreHere = this.#heldPages(site) >= site.pending - 1;
    const hasRoom = queued < limits.perSiteMax && workbench.entries < limits.entriesMax;
    const goesFirst = row.score > workbench.bestScore(site.id) && queued < 2 * limits.perSiteMax;
    if ((othersAreHere && (hasRoom || queued === 0)) || goesFirst) this.#put(site, row);
  }

  /** Of sites without a place, the most promising: they are next. */
  #remember(key: string, score: number): void {
    this.#hopeful.set(key, Math.max(score, this.#hopeful.get(key) ?? score));
    if (this.#hopeful.size <= HOPEFUL_MAX) return;
    const [worst] = [...this.#hopeful].reduce((a, b) => (b[1] < a[1] ? b : a));
    this.#hopeful.delete(worst);
  }

  #wakeHopeful(): void {
    const { roster, limits } = this.#parts;
    while (this.#hopeful.size > 0 && roster.awakeCount < limits.sitesAwakeMax) {
      const [best] = [...this.#hopeful].reduce((a, b) => (b[1] > a[1] ? b : a));
      this.#hopeful.delete(best);
      this.wake(roster.of(best));
    }
  }

  /** Where the best go first, the others would keep their places for ever and be asked for nothing. */
  #makeRoom(score: number): void {
    const { roster, workbench, limits } = this.#parts;
    if (roster.awakeCount < limits.sitesAwakeMax) return;
    let worst: Site | undefined;
    let worstScore = score / WORSE_BY;
    for (let count = 0; count < PLACES_LOOKED_AT; count++) {
      this.#round ??= roster.inMemory()[Symbol.iterator]();
      const { value, done } = this.#round.next();
      if (done === true) this.#round = undefined;
      const site = value as Site | undefined;
      if (site?.awake !== true || site.errands > 0 || !workbench.has(site.id)) continue;
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
    const { workbench, batch, limits, isUnderWay } = this.#parts;
    if (site.to === undefined || site.rules === undefined) return;
    const retries = workbench.retries(site.id);
    const fresh = workbench.queued(site.id) - retries;
    if (fresh > limits.perSiteMax / 4 || retries > RETRIES_TIMES * limits.perSiteMax) return;
    if (this.#heldPages(site) >= site.pending) return;
    const wanted = workbench.entries < limits.entriesMax ? limits.perSiteMax - fresh : 2;
    const held = workbench.held(site.id);
    let added = 0;
    for (const row of batch.waiting(site.id, wanted + held.size)) {
      if (added >= wanted) break;
      if (held.has(row.id) || isUnderWay(row.id)) continue;
      if (!this.#parts.mayFetch(row.url)) continue;
      this.#put(site, row);
      added += 1;
    }
    if (added > 0 && workbench.queued(site.id) === workbench.retries(site.id))
      this.#parts.onDoubt(site);
  }

  /** The site's rules are stored with the next commit, before its first page is requested. */
  refillAfterCommit(site: Site): void {
    this.#ruled.add(site);
  }

  /** A URL of the site that had ended waits again. */
  reopened(site: Site): void {
    this.#parts.onWaiting(site);
    if (site.awake) this.refill(site);
    else this.wake(site);
  }

  /** Takes a site off the workbench; what waits of it stays in the store, what is under way goes on. */
  layAside(site: Site): void {
    const { workbench, roster } = this.#parts;
    if (workbench.has(site.id))
      for (const job of workbench.close(site.id)) if (job.errand !== undefined) site.errands -= 1;
    this.#ruled.delete(site);
    if (site.awake) roster.sleep(site);
  }

  /** A waiting URL is about to end without a request. */
  withdraw(site: Site, urlId: number): void {
    this.#parts.workbench.withdraw(site.id, urlId);
  }

  afterCommit(): void {
    const { roster, limits } = this.#parts;
    this.#wakeHopeful();
    if (this.#hasSleepers && roster.awakeCount <= limits.sitesAwakeMax * WAKE_BELOW)
      this.wakeSites();
    const sites = [...this.#ruled];
    this.#ruled.clear();
    for (const site of sites) {
      this.refill(site);
      this.sleepIfDone(site);
    }
  }

  /** Puts a site with nothing left to do to sleep; another one is let in after the next commit. */
  sleepIfDone(site: Site): void {
    const { roster, workbench } = this.#parts;
    if (!site.awake || site.to === undefined || site.pending > 0) return;
    if (workbench.held(site.id).size > 0) return;
    workbench.close(site.id);
    roster.sleep(site);
  }

  /** Ends all waiting URLs of a site with one reason: it has no name, or no robots.txt that can be read. */
  settleAll(site: Site, reason: NamedReason, detail: string): void {
    this.layAside(site);
    const { batch, settler, isUnderWay } = this.#parts;
    for (let underWay = 0; site.pending > underWay;) {
      const rows = batch.waiting(site.id, SETTLED_AT_ONCE + underWay);
      const unasked = rows.filter(({ id }) => !isUnderWay(id));
      // Requests under way end by themselves.
      underWay = rows.length - unasked.length;
      for (const row of unasked) settler.settle(site, row, reason, detail);
      if (unasked.length === 0) return;
    }
  }

  #put(site: Site, row: WaitingUrl): void {
    const { workbench, settler } = this.#parts;
    const verdict = site.rules?.allows(pathOf(row.url));
    if (verdict?.allowed === false)
      return settler.settle(site, row, "robots_denied", ruleText(verdict));
    const trial = site.trials.get(row.id);
    workbench.put(site.id, trial === undefined ? jobOf(row) : retryOf(row, trial.notBeforeMs));
  }

  #heldPages(site: Site): number {
    return this.#parts.workbench.held(site.id).size - site.errands;
  }
}

export function ruleText({ rule }: Verdict): string {
  if (rule === undefined) return "robots.txt could not be fetched";
  return `robots.txt line ${rule.line}: ${rule.allow ? "Allow" : "Disallow"}: ${rule.pattern}`;
}
