/**
 * One site: its accounts, its current crawl, and the state that it is in.
 *
 *     asleep → locating → reading-robots → ready ⇄ resting
 *                                            ↓
 *                                          ending → asleep
 *
 * Fields change only through verbs, and every change of state is in {@link SITE_STATES}. The accounts of a site
 * (invariant 4) are asserted here and nowhere else: every known URL is waiting or has ended.
 */

import { Books } from "../bandwidth/history/ledger.ts";
import { assert } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";
import type { RobotsRules } from "../fetch/robots.ts";
import type { Addressee } from "../frontier/politeness.ts";
import type { Reason } from "../page/outcome.ts";
import {
  NO_NEWS,
  type RoundNews,
  type SiteRow,
  type StoredRobots,
  type StoredRound,
} from "../store/store.ts";
import { domainOfSite } from "../url/site.ts";

/**
 * The states of a site, and those that may follow.
 *
 * - asleep: it has no place on the workbench; its URLs, if any wait, are in the store
 * - opening: its known URLs are being judged for a recrawl
 * - locating: its name is being looked up
 * - reading-robots: its robots.txt has not been read and stored
 * - ready: its pages may be requested
 * - resting: it failed, and is requested after a pause, one request at a time
 * - ending: no URL waits; files of the site, or requests, are still in progress
 * - unreachable: it failed repeatedly, and has no place until its next probe
 */
export const SITE_STATES = {
  asleep: ["locating", "opening", "unreachable"],
  opening: ["asleep", "unreachable"],
  locating: ["reading-robots", "asleep", "unreachable"],
  "reading-robots": ["ready", "ending", "asleep", "unreachable"],
  ready: ["resting", "ending", "asleep", "unreachable"],
  resting: ["ready", "ending", "asleep", "unreachable"],
  ending: ["ready", "asleep", "unreachable"],
  unreachable: ["locating", "opening", "asleep"],
} as const satisfies Record<string, readonly string[]>;

export type SiteState = keyof typeof SITE_STATES;

/** The current crawl or recrawl of a site. */
export interface Round extends Omit<StoredRound, "startedAtMs" | "news"> {
  /** On the monotonic clock; may be before the start of the process. */
  readonly startedAtMs: number;
  readonly startedWallMs: number;
  readonly news: RoundNews;
}

/** A URL that has failed, and why. */
export interface Trial {
  /** Failures that were the URL's own. */
  readonly attempts: number;
  readonly reason: Reason;
  readonly detail: string;
  readonly notBeforeMs: number;
}

/** What was measured of a site's server. */
interface ServerFigures {
  /** Time to the first byte of a response; undefined before the first. */
  readonly waitMs: number | undefined;
  /** Mean time from the header of a response to its body. */
  readonly bodyMs: number;
  /** Responses while no limit slowed them, and the bytes and time of the last few. */
  readonly answered: number;
  readonly gaveBytes: number;
  readonly gaveMs: number;
}

/** Pages after which a promise can depend on the measured speed of a server. */
export const TRIED_PAGES = 8;
/** Pages after which the speed of a server counts as known. */
export const PAGES_TO_KNOW = 40;

export class Site implements ServerFigures {
  readonly id: number;
  readonly key: string;
  /** Registrable domain, or the IP address. */
  readonly domain: string;
  /** Bytes received from it, by purpose. */
  readonly books: Books;
  readonly #sites: { changed(site: Site): void };
  #state: SiteState;
  #known: number;
  #pending: number;
  #pages: number;
  #robots: StoredRobots | undefined;
  #sitemapsRead: boolean;
  #round: Round;
  #earlierBytes: number | undefined;
  #to: Addressee | undefined;
  #addresses: readonly string[] = [];
  #addressesUntilMs = 0;
  #rules: RobotsRules | undefined;
  #rulesUntilMs = 0;
  #failedStarts = 0;
  #isChecking = false;
  readonly #trials = new Map<number, Trial>();
  #files = 0;
  #uses = 0;
  #finishedAtMs: number | undefined;
  readonly #figures = { waitMs: undefined, bodyMs: 0, answered: 0, gaveBytes: 0, gaveMs: 0 };

  constructor(
    row: SiteRow,
    clock: Clock,
    sites: { changed(site: Site): void },
    isUnreachable: boolean,
  ) {
    this.id = row.id;
    this.key = row.key;
    this.domain = domainOfSite(row.key);
    this.books = Books.restore(row);
    this.#sites = sites;
    this.#state = isUnreachable ? "unreachable" : "asleep";
    this.#known = row.known;
    this.#pending = row.pending;
    this.#pages = row.pages;
    this.#robots = row.robots;
    this.#sitemapsRead = row.sitemapsRead;
    const stored = row.round ?? firstRound(clock.wallMs(), row.bytes);
    this.#round = restoredRound(stored, clock);
    this.#earlierBytes = stored.openedTo === undefined ? predictedBytes(stored) : undefined;
  }

  get state(): SiteState {
    return this.#state;
  }

  /** Whether it has a place among the sites that are crawled. */
  get awake(): boolean {
    return this.#state !== "asleep" && this.#state !== "opening" && this.#state !== "unreachable";
  }

  /** Whether its pages may be requested: its rules are known and stored. */
  get isReady(): boolean {
    return this.#state === "ready" || this.#state === "resting" || this.#state === "ending";
  }

  get isOpening(): boolean {
    return this.#state === "opening";
  }

  get known(): number {
    return this.#known;
  }

  /** URLs that wait. */
  get pending(): number {
    return this.#pending;
  }

  get pages(): number {
    return this.#pages;
  }

  get robots(): StoredRobots | undefined {
    return this.#robots;
  }

  get sitemapsRead(): boolean {
    return this.#sitemapsRead;
  }

  get round(): Round {
    return this.#round;
  }

  /** Bytes that this recrawl is expected to bring, from earlier ones; undefined in the first crawl. */
  get earlierBytes(): number | undefined {
    return this.#earlierBytes;
  }

  /** IP address and delays; undefined until the name is resolved, and while the site has no place. */
  get to(): Addressee | undefined {
    return this.#to;
  }

  /** The checked addresses of its name, which is resolved again when they are old. */
  get addresses(): readonly string[] {
    return this.#addresses;
  }

  get addressesUntilMs(): number {
    return this.#addressesUntilMs;
  }

  get isLoopback(): boolean {
    const [address = ""] = this.#addresses;
    return address.startsWith("127.") || address === "::1";
  }

  /** Parsed robots.txt; undefined until it is known, and no page is requested before. */
  get rules(): RobotsRules | undefined {
    return this.#rules;
  }

  get rulesUntilMs(): number {
    return this.#rulesUntilMs;
  }

  /** Whether a request for robots.txt is queued that only shows whether the site responds. */
  get isChecking(): boolean {
    return this.#isChecking;
  }

  /** Requests for its robots.txt and sitemaps, queued or in progress. */
  get files(): number {
    return this.#files;
  }

  /** Requests in progress: until they end the site stays in memory, asleep or not. */
  get uses(): number {
    return this.#uses;
  }

  /** When its last waiting URL ended. */
  get finishedAtMs(): number | undefined {
    return this.#finishedAtMs;
  }

  get waitMs(): number | undefined {
    return this.#figures.waitMs;
  }

  get bodyMs(): number {
    return this.#figures.bodyMs;
  }

  get answered(): number {
    return this.#figures.answered;
  }

  get gaveBytes(): number {
    return this.#figures.gaveBytes;
  }

  get gaveMs(): number {
    return this.#figures.gaveMs;
  }

  /** A URL of the site that has failed and is requested again. */
  trial(urlId: number): Trial | undefined {
    return this.#trials.get(urlId);
  }

  // The accounts.

  /** A new URL, which waits, or belongs to another process and has ended here. */
  found(waits: boolean): void {
    this.#known += 1;
    if (waits) this.#waits();
    this.#account();
  }

  /** A URL that had ended waits again. */
  reopened(): void {
    this.#waits();
    this.#account();
  }

  /** Returns whether it was the last one that waited. */
  ended(urlId: number, nowMs: number): boolean {
    this.#trials.delete(urlId);
    this.#pending -= 1;
    this.#account();
    if (this.#pending > 0) return false;
    this.#finishedAtMs = nowMs;
    if (this.#state === "ready") this.#become("ending");
    return true;
  }

  /** The first page of a URL has been stored. */
  pageStored(): void {
    this.#pages += 1;
    this.countNews("fresh");
    this.#account();
  }

  failed(urlId: number, trial: Trial): void {
    this.#trials.set(urlId, trial);
  }

  // Its place on the workbench.

  woken(): void {
    this.#become("locating");
  }

  /** Its name has been resolved; with the addresses as they were, it is being resolved again. */
  resolved(addresses: readonly string[], untilMs: number): void {
    this.#addresses = addresses;
    this.#addressesUntilMs = untilMs;
  }

  /** It has its place, or another address or delay. */
  placed(to: Addressee): void {
    assert(this.awake, "a site with a place is awake");
    this.#to = to;
    if (this.#state === "locating") this.#become("reading-robots");
  }

  robotsRead(robots: StoredRobots): void {
    this.#robots = robots;
    this.#failedStarts = 0;
    this.#sites.changed(this);
  }

  /** These rules apply until they are read again; the first page is requested when they are stored. */
  ruled(rules: RobotsRules, untilMs: number): void {
    this.#rules = rules;
    this.#rulesUntilMs = untilMs;
  }

  rulesStored(): void {
    if (this.#state === "reading-robots") this.#become(this.#pending > 0 ? "ready" : "ending");
  }

  sitemapsAreRead(): void {
    this.#sitemapsRead = true;
    this.#sites.changed(this);
  }

  /** Its robots.txt arrived and could not be used; returns how many times in a row. */
  startFailed(): number {
    this.#failedStarts += 1;
    return this.#failedStarts;
  }

  checks(isQueued: boolean): void {
    this.#isChecking = isQueued;
  }

  /** Its last request failed for a reason of the site. */
  rested(): void {
    if (this.#state === "ready") this.#become("resting");
  }

  responded(): void {
    if (this.#state === "resting") this.#become(this.#pending > 0 ? "ready" : "ending");
    if (this.#state === "unreachable") this.#become("asleep");
  }

  /** It has left the workbench, because nothing waits or other sites go first. */
  slept(): void {
    this.#leave("asleep");
  }

  /** It has left the workbench until it is probed. */
  lost(): void {
    if (this.#state !== "unreachable" && this.#state !== "opening") this.#leave("unreachable");
  }

  fileQueued(): void {
    this.#files += 1;
  }

  fileEnded(): void {
    this.#files -= 1;
    assert(this.#files >= 0, "a file of a site ends once");
  }

  requestBegan(): void {
    this.#uses += 1;
  }

  requestEnded(): void {
    this.#uses -= 1;
    assert(this.#uses >= 0, "a request ends once");
  }

  measured(figures: Partial<ServerFigures>): void {
    Object.assign(this.#figures, figures);
  }

  // Its recrawls.

  /** A recrawl begins: the known URLs are judged next. */
  roundBegins(round: Round, readsSitemaps: boolean): void {
    this.#round = round;
    this.#earlierBytes = undefined;
    this.#finishedAtMs = undefined;
    if (readsSitemaps) this.#sitemapsRead = false;
    this.#sites.changed(this);
  }

  opens(): void {
    this.#become("opening");
  }

  /** Some of the known URLs have been judged. */
  openedTo(expectedBytes: number, openedTo: number | undefined): void {
    this.#round = { ...this.#round, expectedBytes, openedTo };
    this.#sites.changed(this);
  }

  /** All known URLs have been judged. */
  opened(nowMs: number, isUnreachable: boolean): void {
    this.#earlierBytes = predictedBytes(this.#round);
    if (this.#pending === 0) this.#finishedAtMs = nowMs;
    this.#become(isUnreachable ? "unreachable" : "asleep");
  }

  countNews(kind: keyof RoundNews): void {
    const { news } = this.#round;
    this.#round = { ...this.#round, news: { ...news, [kind]: news[kind] + 1 } };
    this.#sites.changed(this);
  }

  /** Its row, with what the frontier remembers of it. */
  row(frontier: Pick<SiteRow, "traps" | "rate">): SiteRow {
    const { startedWallMs, ...round } = this.#round;
    return {
      id: this.id,
      key: this.key,
      known: this.#known,
      pending: this.#pending,
      pages: this.#pages,
      ...this.books.stored(),
      robots: this.#robots,
      sitemapsRead: this.#sitemapsRead,
      ...frontier,
      round: { ...round, startedAtMs: startedWallMs },
    };
  }

  #waits(): void {
    this.#pending += 1;
    this.#finishedAtMs = undefined;
    if (this.#state === "ending") this.#become("ready");
  }

  #leave(state: "asleep" | "unreachable"): void {
    this.#become(state);
    this.#to = undefined;
    this.#rules = undefined;
    this.#failedStarts = 0;
    this.#isChecking = false;
  }

  #become(state: SiteState): void {
    const next: readonly SiteState[] = SITE_STATES[this.#state];
    assert(next.includes(state), `a site that is ${this.#state} does not become ${state}`);
    this.#state = state;
  }

  #account(): void {
    assert(this.#pending >= 0, "invariant 4: no more URLs end than waited");
    assert(this.#pending <= this.#known, "invariant 4: a URL that waits is known");
    assert(this.#pages <= this.#known, "invariant 4: a stored page has a known URL");
    this.#sites.changed(this);
  }
}

/** Bytes that a recrawl will bring, once all known URLs have been judged. */
function predictedBytes({
  expectedBytes,
  surplus,
}: Pick<StoredRound, "expectedBytes" | "surplus">): number | undefined {
  return expectedBytes === undefined ? undefined : expectedBytes * surplus;
}

/** Bytes of the site before its current round; stores from before there were rounds have none in the first. */
export function bytesBeforeRound({ round }: SiteRow): number {
  return round !== undefined && round.number > 1 ? round.bytesBefore : 0;
}

/** A start in the future is from a wall clock that was wrong then, or is now. */
function restoredRound(stored: StoredRound, clock: Clock): Round {
  const wallMs = clock.wallMs();
  const startedWallMs = Math.min(stored.startedAtMs, wallMs);
  const startedAtMs = clock.nowMs() - (wallMs - startedWallMs);
  return { ...stored, startedAtMs, startedWallMs };
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
