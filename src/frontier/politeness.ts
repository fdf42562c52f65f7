/**
 * Decides when a site may be requested again.
 *
 * Every site, and every IP address behind sites, has a clock that stores the time of its last request: when
 * it was sent, not when it was begun, since finding a connection takes time. Until it was sent no other
 * request begins there, unless no delay was agreed. The delay is given with each question, so a new
 * Crawl-delay counts from the very next request, and a clock that has rested longer than any delay is dropped.
 *
 * A failing site rests, then gets one request as a probe, then rests longer: a quarter of the time for which
 * it has failed, between one second and one hour, so that it is found again soon after it has recovered.
 * Requests that were open when a rest began tell nothing new, so one bad moment is one rest, whatever the
 * concurrency. Three failures in a row start the first rest; 429 and 503 start one at once, and lead to a rate that
 * the site accepts (`found-rate.ts`). A site is never given up here.
 *
 * Promises, each held by a test in `politeness.test.ts`:
 *   1. two requests to a site, or to an address, are never sent closer together than the delay they were given;
 *   2. never more open requests than the site's and the address's limit;
 *   3. a site may be requested again within a quarter of the time for which it has failed, or one second, or
 *      the Retry-After that it sent; after 429 within that whole time, or five minutes;
 *   4. memory follows the sites in memory and those that failed in the last hour, not all ever seen.
 *
 * O(1) a question. All times are monotonic milliseconds.
 */

import { assert } from "../base/assert.ts";
import type { Reason } from "../page/outcome.ts";
import { FoundRate, type Slowed } from "./found-rate.ts";
import { whatItSays } from "./site-mood.ts";
import type { SharedTurn, SharedTurns } from "./shared-turns.ts";

export interface PolitenessLimits {
  readonly siteConcurrencyMax: number;
  readonly addressConcurrencyMax: number;
  /** No delay ever given is longer. */
  readonly delayMaxMs: number;
  /** The shortest and the longest rest. */
  readonly restMinMs: number;
  readonly restMaxMs: number;
  /** The longest Retry-After that is honoured. */
  readonly retryAfterMaxMs: number;
  /** Failures in a row that start a rest. */
  readonly failuresInRowMax: number;
  /** How long after its rest a failing site is remembered as such. */
  readonly troubleKeptMs: number;
}

export const POLITENESS_DEFAULTS: PolitenessLimits = {
  siteConcurrencyMax: 1,
  addressConcurrencyMax: 8,
  delayMaxMs: 60_000,
  restMinMs: 1_000,
  restMaxMs: 3_600_000,
  retryAfterMaxMs: 3_600_000,
  failuresInRowMax: 3,
  troubleKeptMs: 3_600_000,
};

/** Whom a request goes to, and the pace agreed with them. */
export interface Addressee {
  readonly siteId: number;
  /** undefined while its name has not been resolved. */
  readonly address: string | undefined;
  /** Between beginnings of two requests to the site; see `siteDelay`. */
  readonly delayMs: number;
  readonly addressDelayMs: number;
  /** Requests to the site at once, when other than usual. */
  readonly concurrencyMax?: number | undefined;
  /** The same for its address. */
  readonly addressConcurrencyMax?: number | undefined;
  /** What other processes may ask too, so that it takes their consent. */
  readonly shared?: readonly SharedTurn[];
}

/** A request under way. */
export interface Turn {
  readonly to: Addressee;
  readonly beganAtMs: number;
  /** Whether it has gone out. */
  isSent: boolean;
}

export interface Ending {
  readonly reason: Reason;
  readonly retryAfterMs: number | undefined;
  /** Uniform in [0, 1); spreads the rests of many sites that failed together. */
  readonly chance: number;
}

interface Clock {
  lastAtMs: number;
  underWay: number;
  /** Of these, begun but not gone out yet. */
  unsent: number;
}

type SiteClock = Clock & {
  failuresInRow: number;
  restsInRow: number;
  restBeganAtMs: number;
  restUntilMs: number;
  readonly rate: FoundRate;
  /** When the first of its failures since its last good response ended; undefined while there is none. */
  failingSinceMs: number | undefined;
  /** Its last failure was 429. */
  isBusy: boolean;
};

/** Of the time for which a site has failed, so much is its next rest. */
const REST_SHARE = 1 / 4;
/** After so many rests in a row it is more than one bad moment: the site is called unreachable. */
const UNREACHABLE_RESTS = 2;
/** A site that answers 429 for less is only too busy for our rate. */
const UNREACHABLE_BUSY_MS = 120_000;

const SWEEP_SIZE_MIN = 1_024;

export class Politeness {
  readonly #limits: PolitenessLimits;
  readonly #sites = new Map<number, SiteClock>();
  readonly #addresses = new Map<string, Clock>();
  readonly #sharedTurns: SharedTurns | undefined;
  #sweepAtSize = SWEEP_SIZE_MIN;

  constructor(limits: PolitenessLimits, sharedTurns?: SharedTurns) {
    this.#sharedTurns = sharedTurns;
    assert(limits.siteConcurrencyMax >= 1, "a site may be asked");
    assert(limits.addressConcurrencyMax >= 1, "an address may be asked");
    this.#limits = limits;
  }

  /** Sites and addresses remembered now. */
  get size(): number {
    return this.#sites.size + this.#addresses.size;
  }

  /**
   * When a request may begin; Infinity while too many are under way, until one of them ends. A retry waits longer at
   * a site that has refused requests for their rate.
   */
  readyAtMs(to: Addressee, isRetry = false): number {
    const ownAtMs = Math.max(this.#siteReadyAtMs(to, isRetry), this.#addressReadyAtMs(to));
    return to.shared === undefined ? ownAtMs : Math.max(ownAtMs, this.#sharedAtMs(to));
  }

  maySend(nowMs: number, to: Addressee, isRetry = false): boolean {
    return this.readyAtMs(to, isRetry) <= nowMs;
  }

  begin(nowMs: number, to: Addressee): Turn {
    assert(this.maySend(nowMs, to), "a request waits for its turn");
    assert(Math.max(to.delayMs, to.addressDelayMs) <= this.#limits.delayMaxMs, "delays are capped");
    this.#sweepIfGrown(nowMs);
    const site = this.#siteClock(to.siteId);
    this.#charge(nowMs, site);
    site.rate.began(nowMs, to.delayMs);
    if (to.address !== undefined) this.#charge(nowMs, this.#addressClock(to.address));
    for (const { key } of to.shared ?? []) this.#sharedTurns?.began(nowMs, key);
    return { to, beganAtMs: nowMs, isSent: false };
  }

  /** The request has gone out: the delay counts from now. */
  sent(nowMs: number, turn: Turn): void {
    if (turn.isSent) return;
    turn.isSent = true;
    this.#send(nowMs, this.#siteClock(turn.to.siteId));
    if (turn.to.address !== undefined) this.#send(nowMs, this.#addressClock(turn.to.address));
    for (const { key } of turn.to.shared ?? []) this.#sharedTurns?.sent(nowMs, key);
  }

  /** Assumes a request to both just now: after a restart the times of requests are unknown. */
  assumeAsked(nowMs: number, to: Addressee): void {
    this.#siteClock(to.siteId).lastAtMs = nowMs;
    if (to.address !== undefined) this.#addressClock(to.address).lastAtMs = nowMs;
  }

  end(nowMs: number, turn: Turn, ending: Ending): void {
    const site = this.#siteClock(turn.to.siteId);
    assert(site.underWay > 0, "what ends has begun");
    // A request that was never sent leaves the time of the last request as it was.
    if (!turn.isSent) this.sent(turn.beganAtMs, turn);
    site.underWay -= 1;
    if (turn.to.address !== undefined) this.#addressClock(turn.to.address).underWay -= 1;
    for (const { key } of turn.to.shared ?? []) this.#sharedTurns?.ended(nowMs, key);
    if (turn.beganAtMs > site.restBeganAtMs) return this.#learn(nowMs, site, ending);
    // It was open when the rest began: no news, but a longer Retry-After is a longer rest.
    site.restUntilMs = Math.max(site.restUntilMs, nowMs + this.#askedMs(ending));
  }

  isResting(nowMs: number, siteId: number): boolean {
    return nowMs < this.restUntilMs(siteId);
  }

  restUntilMs(siteId: number): number {
    return this.#sites.get(siteId)?.restUntilMs ?? -Infinity;
  }

  /** Since when the site has failed, once its probes fail too; undefined for a site that can be reached. */
  unreachableSinceMs(siteId: number): number | undefined {
    const site = this.#sites.get(siteId);
    if (site === undefined || site.restsInRow < UNREACHABLE_RESTS) return undefined;
    const failsForMs = site.restUntilMs - (site.failingSinceMs ?? 0);
    return site.isBusy && failsForMs < UNREACHABLE_BUSY_MS ? undefined : site.failingSinceMs;
  }

  /** The rate that the site was found to accept; undefined while it has not refused any. */
  slowed(siteId: number): Slowed | undefined {
    return this.#sites.get(siteId)?.rate.slowed;
  }

  /** The found rate for the site's row, and back from it. */
  saveRate(siteId: number): string {
    return this.#sites.get(siteId)?.rate.save() ?? "";
  }

  restoreRate(siteId: number, saved: string): void {
    if (saved !== "") this.#siteClock(siteId).rate.restore(saved);
  }

  /** The site's row has been stored, and the site leaves memory. */
  forget(siteId: number): void {
    const site = this.#sites.get(siteId);
    if (site?.underWay === 0 && site.rate.slowed !== undefined) this.#sites.delete(siteId);
  }

  /** Allows a probe now, because what kept all sites from responding is over. */
  endRest(siteId: number): void {
    const site = this.#sites.get(siteId);
    if (site !== undefined) site.restUntilMs = -Infinity;
  }

  #siteReadyAtMs(to: Addressee, isRetry: boolean): number {
    const site = this.#sites.get(to.siteId);
    if (site === undefined) return -Infinity;
    const agreedMax = to.concurrencyMax ?? this.#limits.siteConcurrencyMax;
    const underWayMax = site.restsInRow > 0 ? 1 : agreedMax;
    if (site.underWay >= underWayMax) return Infinity;
    if (site.unsent > 0 && to.delayMs > 0) return Infinity;
    const atMs = Math.max(site.restUntilMs, site.lastAtMs + to.delayMs);
    return Math.max(atMs, site.rate.readyAtMs(isRetry));
  }

  #addressReadyAtMs(to: Addressee): number {
    const clock = to.address === undefined ? undefined : this.#addresses.get(to.address);
    if (clock === undefined) return -Infinity;
    const underWayMax = to.addressConcurrencyMax ?? this.#limits.addressConcurrencyMax;
    if (clock.underWay >= underWayMax) return Infinity;
    if (clock.unsent > 0 && to.addressDelayMs > 0) return Infinity;
    return clock.lastAtMs + to.addressDelayMs;
  }

  #sharedAtMs({ shared, siteId }: Addressee): number {
    let atMs = -Infinity;
    for (const turn of shared ?? [])
      atMs = Math.max(atMs, this.#sharedTurns?.readyAtMs(turn, siteId) ?? -Infinity);
    return atMs;
  }

  #charge(nowMs: number, clock: Clock): void {
    assert(nowMs >= clock.lastAtMs, "time does not run backwards");
    clock.lastAtMs = nowMs;
    clock.underWay += 1;
    clock.unsent += 1;
  }

  #send(nowMs: number, clock: Clock): void {
    assert(clock.unsent > 0, "what goes out has begun");
    clock.unsent -= 1;
    clock.lastAtMs = Math.max(clock.lastAtMs, nowMs);
  }

  #learn(nowMs: number, site: SiteClock, ending: Ending): void {
    const mood = whatItSays(ending.reason);
    if (mood === "nothing") return;
    if (mood === "well") {
      site.failuresInRow = site.restsInRow = 0;
      site.failingSinceMs = undefined;
      return site.rate.accepted(nowMs);
    }
    site.failingSinceMs ??= nowMs;
    site.isBusy = ending.reason === "http_429";
    const drawnMs = restMs(nowMs - site.failingSinceMs, ending.chance, this.#limits);
    if (mood === "busy") {
      const pauseMs = site.rate.refused(nowMs, site.isBusy ? 429 : 503, drawnMs);
      return this.#rest(nowMs, site, Math.max(this.#askedMs(ending), pauseMs));
    }
    site.rate.failed(nowMs);
    site.failuresInRow += 1;
    const isEnough = site.failuresInRow >= this.#limits.failuresInRowMax;
    if (isEnough || site.restsInRow > 0) this.#rest(nowMs, site, drawnMs);
  }

  #rest(nowMs: number, site: SiteClock, pauseMs: number): void {
    site.restsInRow += 1;
    site.restBeganAtMs = nowMs;
    site.restUntilMs = nowMs + Math.min(this.#limits.restMaxMs, pauseMs);
  }

  #askedMs(ending: Ending): number {
    return Math.min(this.#limits.retryAfterMaxMs, ending.retryAfterMs ?? 0);
  }

  #siteClock(siteId: number): SiteClock {
    const known = this.#sites.get(siteId);
    if (known !== undefined) return known;
    const fresh: SiteClock = {
      lastAtMs: -Infinity,
      underWay: 0,
      unsent: 0,
      failuresInRow: 0,
      restsInRow: 0,
      restBeganAtMs: -Infinity,
      restUntilMs: -Infinity,
      rate: new FoundRate(),
      failingSinceMs: undefined,
      isBusy: false,
    };
    this.#sites.set(siteId, fresh);
    return fresh;
  }

  #addressClock(address: string): Clock {
    const known = this.#addresses.get(address);
    if (known !== undefined) return known;
    const fresh: Clock = { lastAtMs: -Infinity, underWay: 0, unsent: 0 };
    this.#addresses.set(address, fresh);
    return fresh;
  }

  /** Looks for what can be forgotten only after the tables doubled, so a request pays O(1) for it. */
  #sweepIfGrown(nowMs: number): void {
    if (this.size < this.#sweepAtSize) return;
    for (const [siteId, site] of this.#sites)
      if (this.#isSpent(nowMs, site) && this.#holdsNoGrudge(nowMs, site))
        this.#sites.delete(siteId);
    for (const [address, clock] of this.#addresses)
      if (this.#isSpent(nowMs, clock)) this.#addresses.delete(address);
    this.#sweepAtSize = Math.max(SWEEP_SIZE_MIN, this.size * 2);
  }

  #isSpent(nowMs: number, clock: Clock): boolean {
    return clock.underWay === 0 && nowMs >= clock.lastAtMs + this.#limits.delayMaxMs;
  }

  /** A site in trouble is kept a while after its rest, or its rests would never add up. */
  #holdsNoGrudge(nowMs: number, site: SiteClock): boolean {
    // It leaves with its site, which has it in its row.
    if (site.rate.slowed !== undefined) return false;
    const trouble = site.failuresInRow + site.restsInRow;
    if (trouble === 0) return nowMs >= site.restUntilMs;
    return nowMs >= Math.max(site.restUntilMs, site.lastAtMs) + this.#limits.troubleKeptMs;
  }
}

/** How long a site that has failed for so long is left alone. `chance` is uniform in [0, 1). */
export function restMs(
  failedForMs: number,
  chance: number,
  { restMinMs, restMaxMs }: Pick<PolitenessLimits, "restMinMs" | "restMaxMs"> = POLITENESS_DEFAULTS,
): number {
  const longestMs = Math.min(restMaxMs, Math.max(restMinMs, failedForMs * REST_SHARE));
  return longestMs * (0.5 + 0.5 * chance);
}

/** The site's delay: the operator's, or the longer one robots.txt asks for, up to a cap. */
export function siteDelay(
  configuredMs: number,
  crawlDelayMs: number | undefined,
  crawlDelayMaxMs: number,
): { readonly delayMs: number; readonly excessive: boolean } {
  const askedMs = crawlDelayMs ?? 0;
  return {
    delayMs: Math.max(configuredMs, Math.min(askedMs, crawlDelayMaxMs)),
    excessive: askedMs > crawlDelayMaxMs,
  };
}
