/**
 * Crawls sites again and again: begins a new round of a site when its schedule says so.
 *
 * In a round what is known of a site waits again (`round-opening.ts`), its starting addresses are
 * asked for new links, and other sites are not disturbed. A round that is due while the one before
 * goes on begins when that is done, which is said. Number, start and progress of a round are in the
 * site's row, so that they outlive the process; what was missed meanwhile is made up for once.
 *
 * `--refresh` is a round of every site at once, in which every page is asked for.
 *
 * Intervals are counted on the clock that never leaps, times of day on the wall clock. In memory is an
 * entry of some forty bytes for every site with a schedule.
 */

import type { TimeZone } from "../../bandwidth/clock/local-time.ts";
import type { Log } from "../../base/log.ts";
import { Heap } from "../../base/heap.ts";
import { surplusAfter } from "../../frontier/round-size.ts";
import { nextDueMs, type Schedule } from "../../frontier/schedule.ts";
import { NO_NEWS, type SiteRow, type Store, type StoredRound } from "../../store/store.ts";
import { domainOfSite, siteOf } from "../../url/site.ts";
import type { CanonicalUrl } from "../../url/url.ts";
import { settingsBySite } from "../site-setup.ts";
import type { Site } from "../sites.ts";
import { type RoundKind, RoundOpening, type RoundOpeningParts } from "./open-recrawl.ts";

export interface RoundsParts extends Omit<RoundOpeningParts, "onIdle"> {
  readonly log: Log;
  readonly seeds: readonly CanonicalUrl[];
  readonly zone: TimeZone;
  /** Something waits again, or nothing does after all. */
  readonly pump: () => void;
}

interface Due {
  readonly key: string;
  readonly atMs: number;
}

/** The fact, kept in the store, that all sites are being begun again, and since when. */
const REFRESHING = "refreshing since";
/** The fact, kept in the store, that the last run ended because it had all pages that --pages allows. */
export const PAGES_USED_UP = "pages used up";
/** The wall clock may be set, and machines sleep: times of day are looked at so often. */
const LOOK_EVERY_MS = 60_000;
/** No schedule has a longer pause between times of day; what seems further away was reckoned wrongly. */
const TIME_OF_DAY_MAX_MS = 15 * 86_400_000;
/** As for robots.txt. */
const SITEMAPS_GOOD_FOR_MS = 86_400_000;

export class Rounds {
  readonly #parts: RoundsParts;
  readonly #opening: RoundOpening;
  /** By site, and by domain for the sites that were not asked for themselves. */
  readonly #ownSchedules: ReadonlyMap<string, Schedule>;
  readonly #seeds: ReadonlySet<string>;
  /** Sites by the time they are due, each on the clock of its schedule. */
  readonly #due: Readonly<Record<Schedule["kind"], Heap<Due>>> = { every: byTime(), at: byTime() };
  /** Due, and still busy with the round before. */
  readonly #late = new Set<string>();
  #refresh: Iterator<SiteRow> | undefined;
  #refreshSinceMs = 0;
  #cancelTimer: (() => void) | undefined;
  #isStopped = false;

  constructor(parts: RoundsParts) {
    this.#parts = parts;
    this.#ownSchedules = schedulesOf(parts);
    this.#seeds = new Set(parts.seeds.map(siteOf));
    this.#opening = new RoundOpening({ ...parts, onIdle: () => this.#onOpened() });
    if (!parts.settings.watch) return;
    parts.roster.onNew = (site) => {
      this.#enter(site.key, site.round.startedAtMs, site.round.startedWallMs);
      this.#arm();
    };
    parts.roster.onSleep = (site) => this.#onSleep(site);
  }

  /** Whether more will come to do, although nothing waits now. */
  get goesOn(): boolean {
    if (this.#isStopped) return false;
    const { every, at } = this.#due;
    const isScheduled = every.size + at.size + this.#late.size > 0;
    return isScheduled || this.#opening.isBusy || this.#refresh !== undefined;
  }

  /** Whether a recrawl of all sites has yet to begin with this one, which may not be woken before. */
  isToBegin(site: Site): boolean {
    return this.#refresh !== undefined && site.round.startedWallMs < this.#refreshSinceMs;
  }

  /** Goes on with what an earlier process began; to be called before any site is woken. */
  start(): void {
    const { store, settings, clock } = this.#parts;
    const mayRefresh = hasEnded(store);
    store.remember(PAGES_USED_UP, "");
    if (settings.refresh) this.#beginRefresh(mayRefresh);
    const since = store.recall(REFRESHING) ?? "";
    if (since !== "") {
      this.#refreshSinceMs = Number(since);
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
    const { store, clock, tally, log } = this.#parts;
    if (mayRefresh) {
      store.remember(REFRESHING, String(clock.wallMs()));
      return tally.recrawlBegins();
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

  /** How long until the next round of a site is due, 0 when it is late; undefined without a schedule. */
  nextInMs(key: string, round: Pick<StoredRound, "startedAtMs"> | undefined): number | undefined {
    const { settings, clock, zone } = this.#parts;
    const schedule = settings.watch ? this.#scheduleOf(key) : undefined;
    if (schedule === undefined || round === undefined) return undefined;
    const wallMs = clock.wallMs();
    return Math.max(0, nextDueMs(schedule, Math.min(round.startedAtMs, wallMs), zone) - wallMs);
  }

  /** The site whose round begins next. */
  next(): { readonly site: string; readonly inMs: number } | undefined {
    const { clock } = this.#parts;
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
    return own.get(key) ?? ofDomain ?? this.#parts.settings.schedule;
  }

  #enter(key: string, startedAtMs: number, startedWallMs: number): void {
    const schedule = this.#scheduleOf(key);
    if (schedule === undefined) return;
    const atMs =
      schedule.kind === "every"
        ? startedAtMs + schedule.everyMs
        : nextDueMs(schedule, startedWallMs, this.#parts.zone);
    this.#due[schedule.kind].push({ key, atMs });
  }

  /** Begins whatever is due. */
  #look(): void {
    const { clock } = this.#parts;
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
    // What is late waits for an ending, and that asks for itself.
    const inMs = this.#late.size > 0 ? LOOK_EVERY_MS : next.inMs;
    this.#cancelTimer = this.#parts.clock.after(Math.min(LOOK_EVERY_MS, Math.ceil(inMs)), () =>
      this.#look(),
    );
  }

  /** A wall clock that was set back has left times of day too far away. */
  #mendTimes(): void {
    const { clock } = this.#parts;
    const { at } = this.#due;
    const wallMs = clock.wallMs();
    const first = at.peek();
    if (first === undefined || first.atMs - wallMs <= TIME_OF_DAY_MAX_MS) return;
    const keys: string[] = [];
    for (let due = at.pop(); due !== undefined; due = at.pop()) keys.push(due.key);
    for (const key of keys) this.#enter(key, clock.nowMs(), wallMs);
  }

  #beginOrWait(key: string): void {
    const { roster, log } = this.#parts;
    const site = roster.of(key);
    if (isIdle(site)) return this.#begin(site, "scheduled");
    this.#late.add(key);
    const message = `round ${site.round.number + 1} of ${key} is due; it begins when the one before is done`;
    log.write({ level: "warn", message, values: { site: key, waiting: site.pending } });
  }

  #onSleep(site: Site): void {
    const { clock, log } = this.#parts;
    if (this.#isStopped || site.pending > 0) return;
    const { number, news } = site.round;
    const message = `round ${number} of ${site.key} is done`;
    log.write({ level: "info", message, values: { site: site.key, round: number, ...news } });
    if (!this.#late.has(site.key)) return;
    // In a moment of its own: whoever put it to sleep has more to do.
    clock.after(0, () => {
      if (this.#isStopped || !this.#late.delete(site.key)) return;
      this.#beginOrWait(site.key);
      this.#arm();
    });
  }

  #begin(site: Site, kind: RoundKind): void {
    const { clock, roster, log } = this.#parts;
    const nowMs = clock.nowMs();
    const wallMs = clock.wallMs();
    const { number, bytesBefore, expectedBytes, surplus, ...before } = site.round;
    const { bytes } = site.books;
    const round = { expectedBytes, bytes: bytes - bytesBefore };
    const sitemapsAtMs = before.sitemapsAtMs || before.startedWallMs;
    const readsSitemaps = Math.abs(wallMs - sitemapsAtMs) >= SITEMAPS_GOOD_FOR_MS;
    if (readsSitemaps) site.sitemapsRead = false;
    site.round = {
      number: number + 1,
      startedAtMs: nowMs,
      startedWallMs: wallMs,
      bytesBefore: bytes,
      expectedBytes: 0,
      surplus: surplusAfter(surplus, round),
      openedTo: 0,
      sitemapsAtMs: readsSitemaps ? wallMs : sitemapsAtMs,
      news: { ...NO_NEWS },
    };
    site.earlierBytes = undefined;
    site.finishedAtMs = undefined;
    roster.changed(site);
    if (this.#parts.settings.watch) this.#enter(site.key, nowMs, wallMs);
    const message = `round ${number + 1} of ${site.key} begins`;
    log.write({ level: "info", message, values: { site: site.key, round: number + 1 } });
    this.#opening.add(site, kind);
  }

  #open(row: SiteRow): void {
    const site = this.#parts.roster.adopt(row);
    if (!site.isOpening)
      this.#opening.add(site, this.#refresh === undefined ? "scheduled" : "refresh");
  }

  #onOpened(): void {
    if (this.#refresh !== undefined) this.#refreshNext();
    this.#parts.pump();
  }

  /** The next site that has not been begun again; they are read as they are needed. */
  #refreshNext(): void {
    const { batch, roster } = this.#parts;
    while (this.#refresh !== undefined) {
      const { value: row, done } = this.#refresh.next();
      if (done === true) {
        this.#refresh = undefined;
        // With the last site's round, or not at all.
        batch.setFact(REFRESHING, "");
        return;
      }
      const isBegun = (row.round?.startedAtMs ?? 0) >= this.#refreshSinceMs;
      if (isBegun && row.round?.openedTo === undefined) continue;
      if (isBegun) return this.#open(row);
      const site = roster.adopt(row);
      if (site.awake || site.isOpening) continue;
      return this.#begin(site, "refresh");
    }
  }
}

function schedulesOf({ settings }: RoundsParts): Map<string, Schedule> {
  const schedules = new Map<string, Schedule>();
  for (const [key, { schedule }] of settingsBySite(settings.sites)) {
    if (schedule === undefined) continue;
    schedules.set(key, schedule);
    // Where a site moved to, and its other hosts, are mostly of the same domain.
    const domain = domainOfSite(key);
    if (!schedules.has(domain)) schedules.set(domain, schedule);
  }
  return schedules;
}

function isIdle(site: Site): boolean {
  return site.pending === 0 && !site.awake && !site.isOpening;
}

/** Whether the last run left nothing that --refresh would have to finish first. */
export function hasEnded(store: Pick<Store, "totals" | "recall">): boolean {
  const { known, done, failed, skipped } = store.totals;
  const isComplete = known > 0 && known === done + failed + skipped;
  return isComplete || store.recall(PAGES_USED_UP) === "yes";
}

function byTime(): Heap<Due> {
  return new Heap((a, b) => a.atMs - b.atMs);
}
