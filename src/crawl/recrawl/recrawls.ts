/**
 * Recrawls sites: begins the next round of a site when its schedule demands it.
 *
 * A round requests the known URLs of a site again (`open-recrawl.ts`) and follows new links; other sites are not
 * disturbed. A round that is due while the previous one is in progress begins when that is done, with a warning.
 * Number, start and progress of a round are in the row of the site, so they survive the process; a round that was
 * missed meanwhile begins once.
 *
 * `--refresh` is a round of every site at once, in which every page is requested.
 *
 * Intervals are measured on the monotonic clock, times of day on the wall clock. A site with a schedule takes about
 * 40 bytes of memory.
 */

import { Heap } from "../../base/heap.ts";
import { surplusAfter } from "../../frontier/round-size.ts";
import { nextDueMs, type Schedule } from "../../frontier/schedule.ts";
import { hasEnded, rememberPagesUsedUp } from "../../results/last-run.ts";
import { NO_NEWS, type SiteRow, type StoredRound } from "../../store/store.ts";
import { domainOfSite, siteOf } from "../../url/site.ts";
import type { CrawlContext } from "../context.ts";
import type { Queue } from "../queue.ts";
import { settingsBySite } from "../allotments.ts";
import type { Site } from "../site.ts";
import { type RecrawlKind, RecrawlOpening } from "./open-recrawl.ts";

interface Due {
  readonly key: string;
  readonly atMs: number;
}

/** Store key: when the recrawl of all sites began; empty when none is in progress. */
const REFRESHING = "refreshing since";
/** Most time between two checks of times of day: the wall clock may be set, and machines sleep. */
const LOOK_EVERY_MS = 60_000;
/** Longest pause between two times of day of a schedule: a longer one means that the wall clock was set. */
const TIME_OF_DAY_MAX_MS = 15 * 86_400_000;
/** As for robots.txt. */
const SITEMAPS_GOOD_FOR_MS = 86_400_000;

export class Recrawls {
  readonly #context: CrawlContext;
  readonly #opening: RecrawlOpening;
  /** By site, and by domain for sites that are not seeds. */
  readonly #ownSchedules: ReadonlyMap<string, Schedule>;
  readonly #seeds: ReadonlySet<string>;
  /** Sites by due time, on the clock of their schedule. */
  readonly #due: Readonly<Record<Schedule["kind"], Heap<Due>>> = { every: byTime(), at: byTime() };
  /** Sites that are due while their previous round is in progress. */
  readonly #late = new Set<string>();
  #refresh: Iterator<SiteRow> | undefined;
  #cancelTimer: (() => void) | undefined;
  #isStopped = false;

  constructor(context: CrawlContext, queue: Queue) {
    this.#context = context;
    this.#ownSchedules = schedulesOf(context);
    this.#seeds = new Set(context.seeds.map(siteOf));
    this.#opening = new RecrawlOpening(context, queue, () => this.#onOpened());
  }

  /** Whether URLs will be queued later, even if none waits now. */
  get goesOn(): boolean {
    if (this.#isStopped) return false;
    const { every, at } = this.#due;
    const isScheduled = every.size + at.size + this.#late.size > 0;
    return isScheduled || this.#opening.isBusy || this.#refresh !== undefined;
  }

  /** A site was found that was not known before. */
  siteFound({ key, round }: Site): void {
    if (!this.#context.settings.watch) return;
    this.#enter(key, round.startedAtMs, round.startedWallMs);
    this.#arm();
  }

  /** Continues what an earlier process began; called before any site is woken. */
  start(): void {
    const { store, settings, clock } = this.#context;
    const mayRefresh = hasEnded(store);
    rememberPagesUsedUp(store, false);
    if (settings.refresh) this.#beginRefresh(mayRefresh);
    const since = store.recall(REFRESHING) ?? "";
    if (since !== "") {
      this.#context.sites.recrawlSinceMs = Number(since);
      this.#refresh = store.sites()[Symbol.iterator]();
      this.#refreshNext();
    }
    if (!settings.watch) return;
    const sinceMs = clock.wallMs() - clock.nowMs();
    for (const row of store.sites()) {
      const startedWallMs = Math.min(row.round?.startedAtMs ?? clock.wallMs(), clock.wallMs());
      this.#enter(row.key, startedWallMs - sinceMs, startedWallMs);
      if (row.round?.openedTo !== undefined) this.#open(row);
    }
    this.#look();
  }

  #beginRefresh(mayRefresh: boolean): void {
    const { store, clock, counters, log } = this.#context;
    if (mayRefresh) {
      store.remember(REFRESHING, String(clock.wallMs()));
      return counters.recrawlBegins();
    }
    if (store.totals.known === 0) return;
    const message = "--refresh: the previous run had not finished; this run finishes it";
    log.write({ level: "warn", message, values: {} });
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer?.();
    this.#opening.stop();
  }

  /** Time until the next round of a site, 0 if it is late; undefined without a schedule. */
  nextInMs(key: string, round: Pick<StoredRound, "startedAtMs"> | undefined): number | undefined {
    const { settings, clock, line } = this.#context;
    const schedule = settings.watch ? this.#scheduleOf(key) : undefined;
    if (schedule === undefined || round === undefined) return undefined;
    const wallMs = clock.wallMs();
    return Math.max(
      0,
      nextDueMs(schedule, Math.min(round.startedAtMs, wallMs), line.zone) - wallMs,
    );
  }

  /** The site whose round begins next. */
  next(): { readonly site: string; readonly inMs: number } | undefined {
    const { clock } = this.#context;
    const [late] = this.#late;
    if (late !== undefined) return { site: late, inMs: 0 };
    const every = this.#due.every.peek();
    const at = this.#due.at.peek();
    const everyInMs = every === undefined ? Infinity : every.atMs - clock.nowMs();
    const atInMs = at === undefined ? Infinity : at.atMs - clock.wallMs();
    const site = everyInMs <= atInMs ? every?.key : at?.key;
    if (site === undefined) return undefined;
    return { site, inMs: Math.max(0, Math.min(everyInMs, atInMs)) };
  }

  #scheduleOf(key: string): Schedule | undefined {
    const own = this.#ownSchedules;
    const ofDomain = this.#seeds.has(key) ? undefined : own.get(domainOfSite(key));
    return own.get(key) ?? ofDomain ?? this.#context.settings.schedule;
  }

  #enter(key: string, startedAtMs: number, startedWallMs: number): void {
    const schedule = this.#scheduleOf(key);
    if (schedule === undefined) return;
    const atMs =
      schedule.kind === "every"
        ? startedAtMs + schedule.everyMs
        : nextDueMs(schedule, startedWallMs, this.#context.line.zone);
    this.#due[schedule.kind].push({ key, atMs });
  }

  /** Begins the rounds that are due. */
  #look(): void {
    const { clock } = this.#context;
    this.#mendTimes();
    for (const [kind, nowMs] of [
      ["every", clock.nowMs()],
      ["at", clock.wallMs()],
    ] as const) {
      const heap = this.#due[kind];
      for (let due = heap.peek(); due !== undefined && due.atMs <= nowMs; due = heap.peek()) {
        heap.pop();
        this.#beginOrWait(due.key);
      }
    }
    this.#arm();
  }

  #arm(): void {
    this.#cancelTimer?.();
    const next = this.next();
    if (this.#isStopped || next === undefined) return;
    // A late site begins when its previous round ends, without this timer.
    const inMs = this.#late.size > 0 ? LOOK_EVERY_MS : next.inMs;
    this.#cancelTimer = this.#context.clock.after(Math.min(LOOK_EVERY_MS, Math.ceil(inMs)), () =>
      this.#look(),
    );
  }

  /** A wall clock that was set back leaves times of day too far in the future. */
  #mendTimes(): void {
    const { clock } = this.#context;
    const { at } = this.#due;
    const wallMs = clock.wallMs();
    const first = at.peek();
    if (first === undefined || first.atMs - wallMs <= TIME_OF_DAY_MAX_MS) return;
    const keys: string[] = [];
    for (let due = at.pop(); due !== undefined; due = at.pop()) keys.push(due.key);
    for (const key of keys) this.#enter(key, clock.nowMs(), wallMs);
  }

  #beginOrWait(key: string): void {
    const { sites, log } = this.#context;
    const site = sites.of(key);
    if (isIdle(site)) return this.#begin(site, "scheduled");
    this.#late.add(key);
    const message = `recrawl ${site.round.number + 1} of ${key} is due; it starts when the previous one is done`;
    log.write({ level: "warn", message, values: { site: key, waiting: site.pending } });
  }

  siteAsleep(site: Site): void {
    const { clock, log, settings } = this.#context;
    if (!settings.watch || this.#isStopped || site.pending > 0) return;
    const { number, news } = site.round;
    const message = `recrawl ${number} of ${site.key} is done`;
    log.write({ level: "info", message, values: { site: site.key, round: number, ...news } });
    if (!this.#late.has(site.key)) return;
    // In a tick of its own, because the caller may still have changes to make.
    clock.after(0, () => {
      if (this.#isStopped || !this.#late.delete(site.key)) return;
      this.#beginOrWait(site.key);
      this.#arm();
    });
  }

  #begin(site: Site, kind: RecrawlKind): void {
    const { clock, log } = this.#context;
    const nowMs = clock.nowMs();
    const wallMs = clock.wallMs();
    const { number, bytesBefore, expectedBytes, surplus, ...before } = site.round;
    const { bytes } = site.books;
    const round = { expectedBytes, bytes: bytes - bytesBefore };
    const sitemapsAtMs = before.sitemapsAtMs || before.startedWallMs;
    const readsSitemaps = Math.abs(wallMs - sitemapsAtMs) >= SITEMAPS_GOOD_FOR_MS;
    const begun = {
      number: number + 1,
      startedAtMs: nowMs,
      startedWallMs: wallMs,
      bytesBefore: bytes,
      expectedBytes: 0,
      surplus: surplusAfter(surplus, round),
      openedTo: 0,
      sitemapsAtMs: readsSitemaps ? wallMs : sitemapsAtMs,
      news: NO_NEWS,
    };
    site.roundBegins(begun, readsSitemaps);
    if (this.#context.settings.watch) this.#enter(site.key, nowMs, wallMs);
    const message = `recrawl ${number + 1} of ${site.key} starts`;
    log.write({ level: "info", message, values: { site: site.key, round: number + 1 } });
    this.#opening.add(site, kind);
  }

  #open(row: SiteRow): void {
    const site = this.#context.sites.adopt(row);
    if (!site.isOpening)
      this.#opening.add(site, this.#refresh === undefined ? "scheduled" : "refresh");
  }

  #onOpened(): void {
    if (this.#refresh !== undefined) this.#refreshNext();
    this.#context.emit({ kind: "mayStart" });
  }

  /** Begins the next site of a recrawl of all; their rows are read one by one. */
  #refreshNext(): void {
    const { batch, sites } = this.#context;
    while (this.#refresh !== undefined) {
      const { value: row, done } = this.#refresh.next();
      if (done === true) {
        this.#refresh = undefined;
        sites.recrawlSinceMs = -Infinity;
        // With the last site's round, or not at all.
        batch.setFact(REFRESHING, "");
        return;
      }
      const isBegun = (row.round?.startedAtMs ?? 0) >= sites.recrawlSinceMs;
      if (isBegun && row.round?.openedTo === undefined) continue;
      if (isBegun) return this.#open(row);
      const site = sites.adopt(row);
      if (site.awake || site.isOpening) continue;
      return this.#begin(site, "refresh");
    }
  }
}

function schedulesOf({ settings }: CrawlContext): Map<string, Schedule> {
  const schedules = new Map<string, Schedule>();
  for (const [key, { schedule }] of settingsBySite(settings.sites)) {
    if (schedule === undefined) continue;
    schedules.set(key, schedule);
    // Other hosts of a site, or the one it moved to, are usually of the same domain.
    const domain = domainOfSite(key);
    if (!schedules.has(domain)) schedules.set(domain, schedule);
  }
  return schedules;
}

function isIdle(site: Site): boolean {
  return site.pending === 0 && !site.awake && !site.isOpening;
}

function byTime(): Heap<Due> {
  return new Heap((a, b) => a.atMs - b.atMs);
}
