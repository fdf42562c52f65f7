/**
 * What was promised of each site: its deadline and how much it counts, as the settings say or as
 * somebody has changed it since; and how that stands against the clock.
 */

import type { Clock } from "../../base/clock.ts";
import { CrawlError } from "../../base/errors.ts";
import { visible } from "../../base/visible.ts";
import type { Settings, SiteSettings } from "../../config/schema.ts";
import type { Store } from "../../store/store.ts";
import { siteOf } from "../../url/site.ts";
import type { CanonicalUrl } from "../../url/url.ts";
import { settingsBySite } from "../site-setup.ts";
import type { Roster, Site } from "../sites.ts";

export interface PromisedParts {
  readonly clock: Clock;
  readonly settings: Settings;
  readonly seeds: readonly CanonicalUrl[];
  readonly roster: Roster;
  /** When the time began that a site's deadline counts from. */
  readonly beganAtMs: (site: Site) => number;
}

/** The fact, kept in the store, when the crawl began, on the wall clock. */
const BEGUN = "begun";

/** A crawl that refused its promises has not begun. */
export function rememberBegun(store: Pick<Store, "recall" | "remember">, wallMs: number): void {
  if (store.recall(BEGUN) === undefined) store.remember(BEGUN, String(wallMs));
}

/** How long ago the crawl began: a promise goes on while nobody works on it. */
export function sinceBegun(store: Pick<Store, "recall">, wallMs: number): number {
  return Math.max(0, wallMs - Number(store.recall(BEGUN) ?? wallMs));
}

export class Promised {
  readonly #parts: PromisedParts;
  readonly #own: ReadonlyMap<string, SiteSettings>;
  readonly #seeds: ReadonlySet<string>;
  readonly #deadlinesMs = new Map<string, number | undefined>();
  readonly #priorities = new Map<string, number>();

  constructor(parts: PromisedParts) {
    this.#parts = parts;
    this.#own = settingsBySite(parts.settings.sites);
    this.#seeds = new Set(parts.seeds.map(siteOf));
  }

  /** What the operator said of the site. */
  saidOf(key: string): SiteSettings | undefined {
    return this.#own.get(key);
  }

  priorityOf(key: string): number {
    return this.#priorities.get(key) ?? this.#own.get(key)?.priority ?? 1;
  }

  /** Counted from the start of the site's round; undefined when it has none. */
  deadlineMsOf(key: string): number | undefined {
    if (this.#deadlinesMs.has(key)) return this.#deadlinesMs.get(key);
    const own = this.#own.get(key)?.deadlineMs;
    return own ?? (this.#seeds.has(key) ? this.#parts.settings.deadlineMs : undefined);
  }

  /** Counted from now. */
  deadlineInMs(site: Site): number | undefined {
    const deadlineMs = this.deadlineMsOf(site.key);
    if (deadlineMs === undefined) return undefined;
    return this.#parts.beganAtMs(site) + deadlineMs - this.#parts.clock.nowMs();
  }

  /** What was promised, and when the site was done: both counted from the start of its time. */
  keptBy(site: Site): {
    readonly deadlineMs: number | undefined;
    readonly finishedMs: number | undefined;
  } {
    const { pending, finishedAtMs } = site;
    const isDone = pending === 0 && finishedAtMs !== undefined;
    return {
      deadlineMs: this.deadlineMsOf(site.key),
      finishedMs: isDone ? finishedAtMs - this.#parts.beganAtMs(site) : undefined,
    };
  }

  setDeadline(key: string, deadlineMs: number | undefined): void {
    this.#refuseStranger(key);
    this.#deadlinesMs.set(key, deadlineMs);
  }

  setPriority(key: string, priority: number): void {
    this.#refuseStranger(key);
    this.#priorities.set(key, priority);
  }

  #refuseStranger(key: string): void {
    for (const site of this.#parts.roster.inMemory()) if (site.key === key) return;
    throw new CrawlError("USAGE", `this crawl has no site ${visible(key, 200)}`);
  }
}
