/**
 * The deadline and the priority of each site, as configured or as changed since, what was promised
 * at the start, and when the site was done.
 */

import { CrawlError } from "../../base/errors.ts";
import { visible } from "../../base/visible.ts";
import type { SiteSettings } from "../../config/schema.ts";
import type { Store } from "../../store/store.ts";
import { siteOf } from "../../url/site.ts";
import type { CrawlContext } from "../context.ts";
import { settingsBySite } from "../allotments.ts";
import type { Site } from "../site.ts";
import { type Promised, StoredPromises } from "./stored-promises.ts";

/** The fact, kept in the store, when the crawl began, on the wall clock. */
const BEGUN = "begun";

/** How long ago the crawl began: a promise goes on while nobody works on it. */
function sinceBegun(store: Pick<Store, "recall">, wallMs: number): number {
  return Math.max(0, wallMs - Number(store.recall(BEGUN) ?? wallMs));
}

type DeadlinesContext = Pick<CrawlContext, "clock" | "settings" | "seeds" | "sites"> & {
  readonly store: Pick<Store, "recall" | "remember">;
};

export class Deadlines {
  readonly #context: DeadlinesContext;
  /** When the crawl began, in whatever run. */
  readonly #beganAtMs: number;
  readonly #own: ReadonlyMap<string, SiteSettings>;
  readonly #seeds: ReadonlySet<string>;
  readonly #deadlinesMs = new Map<string, number | undefined>();
  readonly #priorities = new Map<string, number>();
  readonly #promises: StoredPromises;

  constructor(context: DeadlinesContext) {
    this.#context = context;
    const { clock, settings, seeds, store } = context;
    this.#own = settingsBySite(settings.sites);
    this.#seeds = new Set(seeds.map(siteOf));
    this.#promises = new StoredPromises(store);
    this.#beganAtMs = clock.nowMs() - sinceBegun(store, clock.wallMs());
  }

  /** The crawl has begun: one that refused its promises has not. */
  begin(): void {
    const { store, clock } = this.#context;
    if (store.recall(BEGUN) === undefined) store.remember(BEGUN, String(clock.wallMs()));
  }

  /** Stores what the first plan promises; times count from now. */
  promise(promises: ReadonlyMap<Site, Promised>): void {
    const nowMs = this.#context.clock.nowMs();
    const fromStart = Array.from(promises, ([site, promised]): [string, Promised] => [
      site.key,
      { ...promised, finishMs: nowMs - this.#startOf(site) + promised.finishMs },
    ]);
    this.#promises.make(new Map(fromStart));
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
    return own ?? (this.#seeds.has(key) ? this.#context.settings.deadlineMs : undefined);
  }

  /** Counted from now. */
  deadlineInMs(site: Site): number | undefined {
    const deadlineMs = this.deadlineMsOf(site.key);
    if (deadlineMs === undefined) return undefined;
    return this.#startOf(site) + deadlineMs - this.#context.clock.nowMs();
  }

  /** The deadline, the promise and the finish of a site, all counted from the start of its time. */
  keptBy(site: Site): {
    readonly deadlineMs: number | undefined;
    readonly finishedMs: number | undefined;
    readonly promised: Promised | undefined;
  } {
    const { pending, finishedAtMs } = site;
    const isDone = pending === 0 && finishedAtMs !== undefined;
    return {
      deadlineMs: this.deadlineMsOf(site.key),
      promised: this.#promises.of(site.key),
      finishedMs: isDone ? finishedAtMs - this.#startOf(site) : undefined,
    };
  }

  /** When the time began that a site's deadline counts from. */
  #startOf({ round }: Site): number {
    return round.number > 1 ? round.startedAtMs : this.#beganAtMs;
  }

  setDeadline(key: string, deadlineMs: number | undefined): void {
    this.#refuseStranger(key);
    this.#deadlinesMs.set(key, deadlineMs);
    this.#promises.forget(key);
  }

  setPriority(key: string, priority: number): void {
    this.#refuseStranger(key);
    this.#priorities.set(key, priority);
  }

  #refuseStranger(key: string): void {
    for (const site of this.#context.sites.inMemory()) if (site.key === key) return;
    throw new CrawlError("USAGE", `this crawl has no site ${visible(key, 200)}`);
  }
}
