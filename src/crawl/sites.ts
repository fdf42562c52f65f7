/**
 * The sites in memory, with those that have changed since the last commit.
 *
 * Sites that are not awake may be dropped once their row is stored, the longest unused first, so that a web of
 * endless hosts takes disk space and not memory.
 */

import { assert } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";
import type { Politeness } from "../frontier/politeness.ts";
import type { Traps } from "../frontier/traps.ts";
import type { Reason } from "../page/outcome.ts";
import type { SiteRow, Store } from "../store/store.ts";
import { Site } from "./site.ts";

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
  /** By key, because these sites need not be in memory. */
  readonly outages = new Map<string, Outage>();
  /** While all sites are being recrawled: sites whose round began earlier must not be woken yet. */
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
    assert(site !== undefined, "a site with requests is in memory");
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

  /** Whether the store has the current row of the site. */
  #isStored(key: string): boolean {
    const site = this.#byKey.get(key);
    return site === undefined || !this.#changed.has(site);
  }

  wake(site: Site): void {
    site.woken();
    this.#awake += 1;
  }

  /** Takes a site from those that are crawled; one that is unreachable until it is probed. */
  sleep(site: Site): void {
    assert(site.awake, "only a site that is awake can sleep");
    this.#awake -= 1;
    if (this.outages.has(site.key)) site.lost();
    else site.slept();
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

  /** Drops sleeping sites beyond the limit, after a commit. */
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
    const isUnreachable = this.outages.has(row.key);
    const site = new Site(row, this.#parts.clock, this, isUnreachable);
    this.#byId.set(site.id, site);
    this.#byKey.set(site.key, site);
    return site;
  }

  #rowOf(site: Site): SiteRow {
    const { traps, politeness } = this.#parts;
    return site.row({ traps: traps.save(site.id), rate: politeness.saveRate(site.id) });
  }
}

/** The row of a site of which only a URL is known. */
export function emptyRow(id: number, key: string): SiteRow {
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
