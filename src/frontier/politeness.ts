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
 * concurrency. Three failures in a row start the first rest; 429 and 503 start one at once, and widen the delay until the site copes again. A site is never given up here.
 *
 * Promises, each held by a test in `politeness.test.ts`:
 *   1. two requests to a site, or to an address, are never sent closer together than the delay they were given;
 *   2. never more open requests than the site's and the address's limit;
 *   3. a site may be requested again within a quarter of the time for which it has failed, or one second, or
 *      the Retry-After that it sent;
 *   4. memory follows the sites at work and those that failed in the last hour, not all ever seen.
 *
 * O(1) a question. All times are monotonic milliseconds.
 */

import { assert } from "../base/assert.ts";
import type { Reason } from "../page/outcome.ts";
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
  /** Added to every delay while the site says it is asked too much. */
  strainMs: number;
  /** When the first of its failures since its last good response ended; undefined while there is none. */
  failingSinceMs: number | undefined;
};

/** Of the time for which a site has failed, so much is its next rest. */
const REST_SHARE = 1 / 4;
/** After so many rests in a row it is more than one bad moment: the site is called unreachable. */
const UNREACHABLE_RESTS = 2;

const STRAIN_FIRST_MS = 1_000;
const STRAIN_RELIEF = 0.9;
const STRAIN_FORGOTTEN_MS = 50;
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

  /** When a request may begin; Infinity while too many are under way, until one of them ends. */
  readyAtMs(to: Addressee): number {
    const ownAtMs = Math.max(this.#siteReadyAtMs(to), this.#addressReadyAtMs(to));
    return to.shared === undefined ? ownAtMs : Math.max(ownAtMs, this.#sharedAtMs(to));
  }

  maySend(nowMs: number, to: Addressee): boolean {
    return this.readyAtMs(to) <= nowMs;
  }

  begin(nowMs: number, to: Addressee): Turn {
    assert(this.maySend(nowMs, to), "a request waits for its turn");
    assert(Math.max(to.delayMs, to.addressDelayMs) <= this.#limits.delayMaxMs, "delays are capped");
    this.#sweepIfGrown(nowMs);
    this.#charge(nowMs, this.#siteClock(to.siteId));
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
    return site === undefined || site.restsInRow < UNREACHABLE_RESTS
      ? undefined
      : site.failingSinceMs;
  }

  /** Allows a probe now, because what kept all sites from responding is over. */
  endRest(siteId: number): void {
    const site = this.#sites.get(siteId);
    if (site !== undefined) site.restUntilMs = -Infinity;
  }

  #siteReadyAtMs(to: Addressee): number {
    const site = this.#sites.get(to.siteId);
    if (site === undefined) return -Infinity;
    const agreedMax = to.concurrencyMax ?? this.#limits.siteConcurrencyMax;
    const underWayMax = site.restsInRow > 0 ? 1 : agreedMax;
    if (site.underWay >= underWayMax) return Infinity;
    if (site.unsent > 0 && to.delayMs > 0) return Infinity;
    return Math.max(site.restUntilMs, site.lastAtMs + to.delayMs + site.strainMs);
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
    if (mood !== "nothing" && mood !== "well") site.failingSinceMs ??= nowMs;
    switch (mood) {
      case "nothing":
        return;
      case "well":
        site.failuresInRow = site.restsInRow = 0;
        site.failingSinceMs = undefined;
        site.strainMs *= STRAIN_RELIEF;
        if (site.strainMs < STRAIN_FORGOTTEN_MS) site.strainMs = 0;
        return;
      case "busy":
        // Once for each rest that follows a good response: a server that is down is not strained by requests.
        if (site.restsInRow === 0)
          site.strainMs = Math.min(
            this.#limits.delayMaxMs,
            Math.max(STRAIN_FIRST_MS, site.strainMs * 2),
          );
        return this.#rest(nowMs, site, ending);
      case "unreachable":
      case "failing":
        site.failuresInRow += 1;
    }
    const isEnough = site.failuresInRow >= this.#limits.failuresInRowMax;
    if (isEnough || site.restsInRow > 0) this.#rest(nowMs, site, ending);
  }

  #rest(nowMs: number, site: SiteClock, ending: Ending): void {
    const drawnMs = restMs(nowMs - (site.failingSinceMs ?? nowMs), ending.chance, this.#limits);
    site.restsInRow += 1;
    site.restBeganAtMs = nowMs;
    site.restUntilMs = nowMs + Math.max(this.#askedMs(ending), drawnMs);
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
      strainMs: 0,
      failingSinceMs: undefined,
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
    const trouble = site.failuresInRow + site.restsInRow + site.strainMs;
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
