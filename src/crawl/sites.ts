/**
 * The sites in memory: rows of the store with what a running crawl must know beside them.
 *
 * A site is awake while it is on the workbench. Sites that are not may be dropped once their row is
 * stored, the longest unused first, so that a web of endless hosts costs disk and not memory.
 */

import { Books } from "../bandwidth/history/ledger.ts";
import { assert } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";
import type { RobotsRules } from "../fetch/robots.ts";
import type { Addressee, Politeness } from "../frontier/politeness.ts";
import type { Traps } from "../frontier/traps.ts";
import {
  NO_NEWS,
  type RoundNews,
  type SiteRow,
  type Store,
  type StoredRobots,
  type StoredRound,
} from "../store/store.ts";
import type { Reason } from "../page/outcome.ts";
import { domainOfSite } from "../url/site.ts";

/** The present time that a site is crawled. */
export interface Round extends Omit<StoredRound, "startedAtMs" | "news"> {
  /** On the clock that never leaps; may lie before the process began. */
  readonly startedAtMs: number;
  readonly startedWallMs: number;
  readonly news: { -readonly [Kind in keyof RoundNews]: number };
}

/** A promise can rest on a server's speed after so many of its pages. */
export const TRIED_PAGES = 8;
/** And is really known after so many. */
export const PAGES_TO_KNOW = 40;

export interface Site {
  readonly id: number;
  readonly key: string;
  /** Registrable domain, or the address itself. */
  readonly domain: string;
  known: number;
  pending: number;
  pages: number;
  /** What it sent, by what it was for. */
  readonly books: Books;
  robots: StoredRobots | undefined;
  sitemapsRead: boolean;
  round: Round;
  /** What this round is expected to bring, by earlier ones; undefined in the first. */
  earlierBytes: number | undefined;

  /** Its known URLs are being judged for a new round: it is woken when all have been. */
  isOpening: boolean;
  /** On the workbench, or on its way there. */
  awake: boolean;
  /** Requests under way, and pages that are being kept: till then it stays in memory, asleep or not. */
  uses: number;
  /** Address and pace, once its name has been resolved. */
  to: Addressee | undefined;
  /** What its name led to, checked; asked for again from time to time. */
  addresses: readonly string[];
  addressesUntilMs: number;
  isLoopback: boolean;
  /** Parsed robots.txt; undefined until it is known, and no page is asked for before. */
  rules: RobotsRules | undefined;
  rulesUntilMs: number;
  /** Responses for its robots.txt that could not be used, in a row. */
  failedStarts: number;
  /** A request for robots.txt is waiting that only shows whether the site responds. */
  isChecking: boolean;
  /** Its URLs that have failed and are requested again, behind the others. */
  readonly trials: Map<number, Trial>;
  /** Requests for its robots.txt and sitemaps, queued or under way. */
  files: number;
  /** How long its answers take to begin; undefined before the first. */
  waitMs: number | undefined;
  /** Mean time from a header to its body. */
  bodyMs: number;
  /** Answers while nothing held it, and of the last few what they brought and took: what a request gets now. */
  answered: number;
  gaveBytes: number;
  gaveMs: number;
  /** When its last waiting URL was settled. */
  finishedAtMs: number | undefined;
}

/** A URL that has failed, and why. */
export interface Trial {
  /** Failures that were its own. */
  readonly attempts: number;
  readonly reason: Reason;
  readonly detail: string;
  readonly notBeforeMs: number;
}

/** A site that did not respond when it was last probed. */
export interface Outage {
  readonly siteId: number;
  readonly sinceMs: number;
  /** When it is probed next; while it is on the workbench, politeness decides that. */
  untilMs: number;
  reason: Reason;
  detail: string;
}

export type SiteEvent =
  /** A site that was not known before. */
  | { readonly kind: "siteFound"; readonly site: Site }
  /** It has left the workbench. */
  | { readonly kind: "siteAsleep"; readonly site: Site };

type SitesStore = Pick<Store, "siteByKey" | "nextSiteId" | "sites" | "sitesWithWork">;

interface SitesParts {
  readonly store: SitesStore;
  readonly traps: Traps;
  readonly politeness: Pick<Politeness, "restoreRate" | "saveRate" | "forget">;
  readonly clock: Clock;
  /** Sites in memory, at most. */
  readonly sitesMax: number;
  readonly emit: (event: SiteEvent) => void;
}

export class Sites {
  readonly #parts: SitesParts;
  readonly #byKey = new Map<string, Site>();
  readonly #byId = new Map<number, Site>();
  readonly #changed = new Set<Site>();
  /** By key, as these sites need not be in memory. */
  readonly outages = new Map<string, Outage>();
  /** While all sites are being recrawled: those whose round began earlier must not be woken yet. */
  recrawlSinceMs = -Infinity;
  #nextId: number;
  #awake = 0;

  constructor(parts: SitesParts) {
    this.#parts = parts;
    this.#nextId = parts.store.nextSiteId;
  }

  /** Sites known, in memory or not. */
  get count(): number {
    return this.#nextId - 1;
  }

  get awakeCount(): number {
    return this.#awake;
  }

  inMemory(): Iterable<Site> {
    return this.#byId.values();
  }

  /** The site of this key, from memory, from the store, or new. */
  of(key: string): Site {
    const held = this.#byKey.get(key);
    if (held !== undefined) return held;
    const row = this.#parts.store.siteByKey(key);
    if (row !== undefined) return this.adopt(row);
    const site = this.#hold(emptyRow(this.#nextId++, key));
    this.#changed.add(site);
    this.#parts.emit({ kind: "siteFound", site });
    return site;
  }

  byId(id: number): Site {
    const site = this.#byId.get(id);
    assert(site !== undefined, "a site at work is in memory");
    return site;
  }

  adopt(row: SiteRow): Site {
    const held = this.#byKey.get(row.key);
    if (held !== undefined) return held;
    const site = this.#hold(row);
    this.#parts.traps.restore(site.id, site.domain, row.traps);
    this.#parts.politeness.restoreRate(site.id, row.rate);
    return site;
  }

  /** All known sites. */
  *keys(): Iterable<string> {
    const unstored = [...this.#changed].filter(({ id }) => id >= this.#parts.store.nextSiteId);
    for (const { key } of this.#parts.store.sites()) yield key;
    for (const { key } of unstored) yield key;
  }

  /** Sites with waiting URLs and an id above `afterId`, in order of id. */
  withWork(afterId: number, countMax: number): SiteRow[] {
    const changed = [...this.#changed].filter(({ id }) => id > afterId);
    const rows = this.#parts.store
      .sitesWithWork(afterId, countMax + changed.length)
      .filter(({ key }) => this.#isStored(key));
    for (const site of changed) if (site.pending > 0) rows.push(this.#rowOf(site));
    return rows.sort((a, b) => a.id - b.id).slice(0, countMax);
  }

  /** Whether a site must not be woken now: its recrawl has not begun, or it cannot be reached. */
  isHeldBack({ key, round }: Site): boolean {
    const probeAtMs = this.outages.get(key)?.untilMs ?? -Infinity;
    return round.startedWallMs < this.recrawlSinceMs || probeAtMs > this.#parts.clock.nowMs();
  }

  /** Whether the store has the present state of the site. */
  #isStored(key: string): boolean {
    const site = this.#byKey.get(key);
    return site === undefined || !this.#changed.has(site);
  }

  wake(site: Site): void {
    assert(!site.awake, "a site is woken once");
    site.awake = true;
    this.#awake += 1;
  }

  sleep(site: Site): void {
    assert(site.awake, "only what is awake can sleep");
    site.awake = false;
    this.#awake -= 1;
    site.to = undefined;
    site.rules = undefined;
    site.failedStarts = 0;
    site.isChecking = false;
    this.#parts.emit({ kind: "siteAsleep", site });
  }

  changed(site: Site): void {
    this.#changed.add(site);
  }

  /** Rows of all sites changed since the last call, new ones in order of id. */
  takeChangedRows(): SiteRow[] {
    const rows = [...this.#changed].map((site) => this.#rowOf(site)).sort((a, b) => a.id - b.id);
    this.#changed.clear();
    return rows;
  }

  /** Drops sleeping sites beyond the limit; to be called when everything changed has been stored. */
  shed(): void {
    const { sitesMax } = this.#parts;
    if (this.#byId.size <= sitesMax) return;
    for (const site of this.#byId.values()) {
      if (this.#byId.size <= sitesMax) return;
      if (site.awake || site.isOpening || site.uses > 0 || this.#changed.has(site)) continue;
      this.#byId.delete(site.id);
      this.#byKey.delete(site.key);
      this.#parts.traps.forget(site.id);
      this.#parts.politeness.forget(site.id);
    }
  }

  #hold(row: SiteRow): Site {
    const site: Site = {
      id: row.id,
      key: row.key,
      domain: domainOfSite(row.key),
      known: row.known,
      pending: row.pending,
      pages: row.pages,
      books: Books.restore(row),
      robots: row.robots,
      sitemapsRead: row.sitemapsRead,
      ...this.#roundOf(row),
      isOpening: false,
      awake: false,
      uses: 0,
      to: undefined,
      addresses: [],
      addressesUntilMs: 0,
      isLoopback: false,
      rules: undefined,
      rulesUntilMs: 0,
      failedStarts: 0,
      isChecking: false,
      trials: new Map(),
      files: 0,
      waitMs: undefined,
      bodyMs: 0,
      answered: 0,
      gaveBytes: 0,
      gaveMs: 0,
      finishedAtMs: undefined,
    };
    this.#byId.set(site.id, site);
    this.#byKey.set(site.key, site);
    return site;
  }

  /** A date that lies in the future is from a clock that was wrong then, or is now. */
  #roundOf({ round, bytes }: SiteRow): Pick<Site, "round" | "earlierBytes"> {
    const nowMs = this.#parts.clock.nowMs();
    const wallMs = this.#parts.clock.wallMs();
    const kept = round ?? firstRound(wallMs, bytes);
    const startedWallMs = Math.min(kept.startedAtMs, wallMs);
    const startedAtMs = nowMs - (wallMs - startedWallMs);
    return {
      round: { ...kept, startedAtMs, startedWallMs, news: { ...kept.news } },
      earlierBytes: kept.openedTo === undefined ? predictedBytes(kept) : undefined,
    };
  }

  #rowOf(site: Site): SiteRow {
    const { startedWallMs, ...round } = site.round;
    return {
      id: site.id,
      key: site.key,
      known: site.known,
      pending: site.pending,
      pages: site.pages,
      ...site.books.stored(),
      robots: site.robots,
      sitemapsRead: site.sitemapsRead,
      traps: this.#parts.traps.save(site.id),
      rate: this.#parts.politeness.saveRate(site.id),
      round: { ...round, startedAtMs: startedWallMs, news: { ...round.news } },
    };
  }
}

function emptyRow(id: number, key: string): SiteRow {
  return {
    id,
    key,
    known: 0,
    pending: 0,
    pages: 0,
    bytes: 0,
    ledger: {},
    robots: undefined,
    sitemapsRead: false,
    traps: "",
    rate: "",
    round: undefined,
  };
}

/** What a round will bring, once all of its URLs have been judged. */
export function predictedBytes({
  expectedBytes,
  surplus,
}: Round | StoredRound): number | undefined {
  return expectedBytes === undefined ? undefined : expectedBytes * surplus;
}

/** What the site had sent before its present round; the first one may say so of stores from before there were rounds. */
export function bytesBeforeRound({ round }: SiteRow): number {
  return round !== undefined && round.number > 1 ? round.bytesBefore : 0;
}

function firstRound(wallMs: number, bytes: number): StoredRound {
  return {
    number: 1,
    startedAtMs: wallMs,
    // A store from before there were rounds has had its first.
    bytesBefore: bytes,
    expectedBytes: undefined,
    surplus: 1,
    openedTo: undefined,
    sitemapsAtMs: 0,
    news: NO_NEWS,
  };
}
