/**
 * What a plan must know of every site now: what is left, how fast it can come, by when, how urgent.
 *
 * Sizes and speeds that were said come first; what the crawl finds and measures corrects them
 * (`plan/promise/estimate.ts`).
 */

import { AIM_SHARE } from "../../bandwidth/paced/governor.ts";
import type { ServerRow, SpeedTable } from "../../bandwidth/history/speed-table.ts";
import { windowFor } from "../../bandwidth/window.ts";
import type { SiteSettings } from "../../config/schema.ts";
import {
  bytesLeft,
  capBps,
  leastWaiting,
  meanBytesOf,
  requestsLeft,
  type SeenSite,
  type SiteFacts,
  timesSaid,
  TYPICAL_PAGE_BYTES,
} from "../../plan/promise/estimate.ts";
import { type SiteEvidence, serverLeastBps } from "../../plan/promise/certainty.ts";
import type { PlanTask, SiteTask } from "../../plan/plan.ts";
import { type Slots, slotsOf, withSlots } from "../../plan/promise/slots.ts";
import { hostOfSite } from "../../url/site.ts";
import { delaysInAdvance, errandsBefore } from "../agreed-delay.ts";
import { asCrawled } from "./first-plan.ts";
import type { CrawlContext, LinkSetup } from "../context.ts";
import type { Deadlines } from "./deadlines.ts";
import { PAGES_TO_KNOW, type Site, TRIED_PAGES } from "../site.ts";

/** Without a limit the line may give somewhat more than was received while requests waited for bytes. */
const GROWTH_SHARE = 1.2;
const UNKNOWN_LINE_BPS = 1e9;
/** A page of typical size counts as this many pages in the mean of all sites. */
const USUAL_WEIGHT = 3;
/** By few pages a server's speed is known only so well: it may be so many times what they came with. */
const SPEED_TIMES = { hope: 1.3, care: 0.85, told: 1 } as const;
/** A crawl that began so lately has just begun: what was told beforehand counts from then. */
const BEGUN_MS = 1000;
/** Before so many have come at its own pace, what others saw of a server is more. */
const PAGES_TO_TELL = 3;
/** Over so long it is looked at what a site was given. */
const GIVEN_MS = 1000;
/** When so many sites are done, they tell how right sizes are; before, others that have more than was said do too. */
const DONE_TO_TELL = 2;
/** New URLs for each that ends are counted over about so many. */
const LATELY_SETTLED = 20;
/** A deadline that has passed: whoever has it is late, but still wants to be done soon. */
const PASSED_SECONDS = 0.001;
/** More than this many times what waits is not known, but said or foreseen. */
const DOUBT_SHARE = 1.5;
/** More waits than is left by what was said, by more than this part of the whole: large pages that come first refute nothing. */
const REFUTED_SHARE = 0.25;
/** With more new URLs than this for each that ends a site is still being found. */
const GROWING = 0.2;

/** What estimates need to know of the network link. */
export interface LinkAhead {
  readonly limitBps: number | undefined;
  /** The part of the limit that is left for bytes that programs see. */
  readonly payloadBps: number | undefined;
  /** What a plan may count on of a rate. */
  expectedBps(rateBps: number): number;
  readonly siteLimitBps: number | undefined;
  /** The same part of a site's own limit. */
  sitePayloadBps(limitBps: number | undefined): number | undefined;
}

export type EstimatesContext = Pick<CrawlContext, "clock" | "settings" | "sites"> & {
  readonly line: Pick<LinkSetup, "speeds" | "almanac">;
};

export type Mood = keyof typeof SPEED_TIMES;

/** What came of a site by some time, and how fast that was. */
interface Given {
  bytes: number;
  atMs: number;
  bps: number;
}

/** How a site grows. */
interface Growth {
  known: number;
  settled: number;
  newPerSettled: number;
}

export class Estimates {
  readonly #context: EstimatesContext;
  readonly #deadlines: Deadlines;
  readonly #link: LinkAhead;
  #growth = new Map<number, Growth>();
  readonly #given = new WeakMap<Site, Given>();
  #usualBytes = TYPICAL_PAGE_BYTES;
  #timesSaid = 1;
  #slots:
    | {
        readonly atMs: number;
        readonly sites: readonly Site[];
        readonly slots: readonly Slots[];
      }
    | undefined;

  /** Where earlier crawls measured the sites of the first plan. */
  #measuredAt: ReadonlyMap<string, string> | undefined;

  constructor(context: EstimatesContext, deadlines: Deadlines, link: LinkAhead) {
    this.#context = context;
    this.#deadlines = deadlines;
    this.#link = link;
  }

  /** What an address brings, on average. */
  get usualBytes(): number {
    return this.#usualBytes;
  }

  /**
   * With hope, a server that is not well known is as fast as it may be: so nobody is given up too early.
   * With care, as slow as it may be: so nobody is begun too late. As it was told, just what was measured.
   */
  taskOf(sites: readonly Site[], mood: Mood): PlanTask {
    const { settings } = this.#context;
    this.#usualBytes = this.#meanBytes();
    this.#timesSaid = timesSaid(this.#seenSites());
    const growth = new Map<number, Growth>();
    for (const site of sites) growth.set(site.id, grown(site, this.#growth.get(site.id)));
    this.#growth = growth;
    const slots = this.slotsOf(sites);
    return {
      sites: sites.map((site, index) =>
        withSlots(this.#siteTask(site, mood), slots[index] as Slots),
      ),
      rateBps: this.#rateBps(),
      sitesMax: settings.sitesAtOnceMax ?? Infinity,
      rateMinBps: settings.rateMinBps ?? 0,
      // Who has been started need not be again; what starting costs is in what is measured.
      startupSeconds: 0,
    };
  }

  /** What a plan is told for beforehand (`weir plan --as-crawled`), before anything has come. */
  toldTask(sites: readonly Site[]): PlanTask {
    return asCrawled(this.taskOf(sites, "told"), this.#link.limitBps, this.#context.settings);
  }

  /** The time that politeness needs for what is left of each site, by its index; one answer for every moment. */
  slotsOf(sites: readonly Site[]): readonly Slots[] {
    const { clock, line } = this.#context;
    const nowMs = clock.nowMs();
    this.#measuredAt ??= addressesIn(line.speeds, sites);
    if (this.#slots?.atMs === nowMs && this.#slots.sites === sites) return this.#slots.slots;
    const slots = slotsOf(
      sites.map((site) => {
        const { delayMs, addressDelayMs } = this.#delaysOf(site);
        return {
          requests: requestsLeft(this.#factsOf(site)) + this.#filesOf(site),
          delaySeconds: delayMs / 1000,
          address: this.#addressOf(site),
          addressDelaySeconds: addressDelayMs / 1000,
          deadlineSeconds: secondsLeft(this.#deadlines.deadlineInMs(site)),
        };
      }),
    );
    this.#slots = { atMs: nowMs, sites, slots };
    return slots;
  }

  /** What is a fact about these sites, and what an estimate. */
  evidenceOf(sites: readonly Site[]): SiteEvidence[] {
    const { settings } = this.#context;
    const { limitBps } = this.#link;
    const windowBytes = limitBps && settings.control === "paced" ? windowFor(limitBps) : undefined;
    return sites.map((site): SiteEvidence => {
      const { expectedBytes } = this.#factsOf(site);
      const own = this.#deadlines.saidOf(site.key);
      const deadlineSeconds = (this.#deadlines.deadlineInMs(site) ?? Infinity) / 1000;
      return {
        hasSize: expectedBytes !== undefined,
        hasServer: own?.capBps !== undefined || this.#downloadBps(site, 1) !== undefined,
        serverLeastBps: serverLeastBps({
          pageBytes: this.pageBytesOf(site),
          windowBytes,
          concurrency: site.to?.concurrencyMax ?? settings.concurrencyPerSite,
        }),
        isTooMany: this.secondsKnown(site) > deadlineSeconds,
      };
    });
  }

  /** The mean page of what is left. */
  pageBytesOf(site: Site): number {
    const facts = this.#factsOf(site);
    return bytesLeft(facts) / Math.max(1, requestsLeft(facts));
  }

  /** The time that politeness needs for those requests of a site that are known or configured. */
  secondsKnown(site: Site): number {
    const { pending, settled, expectedPages = 0 } = this.#factsOf(site);
    const requests = Math.max(pending, expectedPages - settled) + this.#filesOf(site);
    return (requests * this.#delaysOf(site).delayMs) / 1000;
  }

  /** Whether nobody said how much a deadlines site has, and a good part of what is planned was not found yet, or more may be. */
  isInDoubt(site: Site, bytes: number): boolean {
    if (!this.isUnsaid(site)) return false;
    const facts = this.#factsOf(site);
    if (facts.newPerSettled > GROWING) return true;
    return bytes > DOUBT_SHARE * site.pending * meanBytesOf(facts);
  }

  /** Whether nobody said how much a deadlines site brings, or what was said has turned out too little. */
  isUnsaid(site: Site): boolean {
    if (this.#deadlines.deadlineMsOf(site.key) === undefined) return false;
    const facts = this.#factsOf(site);
    const { expectedBytes, receivedBytes } = facts;
    if (expectedBytes === undefined) return true;
    const leftBytes = Math.max(0, expectedBytes - receivedBytes);
    return leastWaiting(facts) > leftBytes + REFUTED_SHARE * expectedBytes;
  }

  #rateBps(): number {
    const link = this.#link;
    // All that is aimed at comes (`bench/bandwidth.ts`), unless the line, the servers or this machine give less.
    if (link.payloadBps !== undefined) return link.expectedBps(link.payloadBps * AIM_SHARE);
    return Math.min(UNKNOWN_LINE_BPS, link.expectedBps(UNKNOWN_LINE_BPS) * GROWTH_SHARE);
  }

  #siteTask(site: Site, mood: Mood): SiteTask {
    const { settings } = this.#context;
    const own = this.#deadlines.saidOf(site.key);
    const facts = this.#factsOf(site);
    const deadlineInMs = mood === "told" ? this.#toldMs(site) : this.#deadlines.deadlineInMs(site);
    return {
      key: site.key,
      bytes: Math.max(1, bytesLeft(facts)) * (own?.efficiency ?? 1),
      deadlineSeconds: secondsLeft(deadlineInMs),
      capBps: capBps({
        downloadBps: this.#downloadBps(site, SPEED_TIMES[mood]),
        concurrency: site.to?.concurrencyMax ?? settings.concurrencyPerSite,
        gaveBps: this.#gaveBps(site),
        saidBps: leastOf(own, this.#siteLimitBps(own)),
      }),
      weight: this.#deadlines.priorityOf(site.key),
    };
  }

  /** Before its name is resolved, where an earlier crawl measured the site, or the host that its name says. */
  #addressOf({ key, to }: Site): string {
    return to?.address ?? this.#measuredAt?.get(key) ?? hostOfSite(key).replace(/^\[|\]$/g, "");
  }

  #siteLimitBps(own: SiteSettings | undefined): number | undefined {
    return this.#link.sitePayloadBps(own?.limitBps ?? this.#link.siteLimitBps);
  }

  #delaysOf(site: Site): ReturnType<typeof delaysInAdvance> {
    const { key, to, robots } = site;
    const { settings } = this.#context;
    const configuredMs = this.#deadlines.saidOf(key)?.delayMs ?? settings.delayMs;
    return to ?? delaysInAdvance(this.#addressOf(site), configuredMs, robots, settings);
  }

  /** Requests for robots.txt and sitemaps that are still to come. */
  #filesOf({ rules, files }: Site): number {
    return rules === undefined ? errandsBefore(this.#context.settings) : files;
  }

  /** Counted from the start of the crawl where that was only now. */
  #toldMs(site: Site): number | undefined {
    const leftMs = this.#deadlines.deadlineInMs(site);
    const wholeMs = this.#deadlines.deadlineMsOf(site.key);
    return leftMs === undefined || wholeMs === undefined || wholeMs - leftMs > BEGUN_MS
      ? leftMs
      : wholeMs;
  }

  /** What its server gives now, or gave at such hours as far as anybody knows. */
  #downloadBps(site: Site, unknownTimes: number): number | undefined {
    const { key, answered, gaveBytes, gaveMs } = site;
    const { line, clock } = this.#context;
    const { speeds, almanac } = line;
    // What somebody said of a server is better than a few pages of it.
    if (answered < PAGES_TO_KNOW && this.#deadlines.saidOf(key)?.capBps !== undefined)
      return undefined;
    const times = answered < PAGES_TO_KNOW ? unknownTimes : 1;
    if (answered >= PAGES_TO_TELL && gaveMs > 0) return ((gaveBytes * 1000) / gaveMs) * times;
    const address = this.#addressOf(site);
    if (speeds.measured(address) < TRIED_PAGES) return undefined;
    return speeds.predictBps(address, almanac.at(clock.wallMs())) * times;
  }

  /** A server gives at least what it has just given: one that was thought too slow is so found out. */
  #gaveBps(site: Site): number {
    const atMs = this.#context.clock.nowMs();
    const { bytes } = site.books;
    const given = this.#given.get(site) ?? { bytes, atMs, bps: 0 };
    this.#given.set(site, given);
    if (atMs - given.atMs < GIVEN_MS) return given.bps;
    given.bps = ((bytes - given.bytes) * 1000) / (atMs - given.atMs);
    given.bytes = bytes;
    given.atMs = atMs;
    return given.bps;
  }

  #factsOf(site: Site): SiteFacts {
    const { round, earlierBytes, pending } = site;
    const { changed, unchanged, fresh, gone } = round.news;
    const isFirst = round.number === 1;
    const settled = isFirst ? site.known - pending : changed + unchanged + fresh + gone;
    return {
      pending,
      settled,
      newPerSettled: this.#growth.get(site.id)?.newPerSettled ?? 1,
      receivedBytes: site.books.bytes - round.bytesBefore,
      expectedBytes: isFirst ? this.#saidBytes(site) : earlierBytes,
      expectedPages: isFirst ? this.#deadlines.saidOf(site.key)?.pagesExpected : settled + pending,
      // In a later round most answers say that nothing has changed, and are small.
      usualBytes:
        earlierBytes === undefined
          ? this.#usualBytes
          : earlierBytes / Math.max(1, settled + pending),
    };
  }

  #saidBytes({ key }: Site): number | undefined {
    const saidBytes = this.#deadlines.saidOf(key)?.sizeBytes;
    return saidBytes === undefined ? undefined : saidBytes * this.#timesSaid;
  }

  /** Of those of which a size was said. */
  #seenSites(): SeenSite[] {
    const { sites } = this.#context;
    const done: SeenSite[] = [];
    const begun: SeenSite[] = [];
    for (const site of sites.inMemory()) {
      const saidBytes = this.#deadlines.saidOf(site.key)?.sizeBytes;
      if (saidBytes === undefined || site.known === 0 || site.round.number !== 1) continue;
      const seenBytes =
        site.books.bytes + (site.pending > 0 ? leastWaiting(this.#factsOf(site)) : 0);
      if (site.pending === 0) done.push({ saidBytes, seenBytes });
      else if (seenBytes > saidBytes) begun.push({ saidBytes, seenBytes });
    }
    // What has been seen of those that have begun is less than they have.
    return done.length >= DONE_TO_TELL ? done : [...done, ...begun];
  }

  /** What an address brings, of all sites in memory. */
  #meanBytes(): number {
    let bytes = USUAL_WEIGHT * TYPICAL_PAGE_BYTES;
    let settled = USUAL_WEIGHT;
    for (const site of this.#context.sites.inMemory()) {
      bytes += site.books.bytes;
      settled += site.known - site.pending;
    }
    return bytes / settled;
  }
}

/** Of several addresses of a site the one that was measured last. */
function addressesIn(speeds: SpeedTable, sites: readonly Site[]): Map<string, string> {
  const wanted = new Set(sites.map(({ key }) => key));
  const latest = new Map<string, ServerRow>();
  for (const server of speeds.rows())
    for (const site of server.sites)
      if (wanted.has(site) && (latest.get(site)?.lastAtMs ?? -1) < server.lastAtMs)
        latest.set(site, server);
  return new Map(Array.from(latest, ([site, { address }]) => [site, address]));
}

function secondsLeft(deadlineInMs: number | undefined): number | undefined {
  return deadlineInMs === undefined ? undefined : Math.max(PASSED_SECONDS, deadlineInMs / 1000);
}

function grown(site: Site, before: Growth | undefined): Growth {
  const { known } = site;
  const settled = known - site.pending;
  if (before === undefined) return { known, settled, newPerSettled: 1 };
  const ended = settled - before.settled;
  if (ended <= 0) return before;
  const share = Math.min(1, ended / LATELY_SETTLED);
  const rate = Math.max(0, known - before.known) / ended;
  const newPerSettled = before.newPerSettled + share * (rate - before.newPerSettled);
  return { known, settled, newPerSettled };
}

function leastOf(own: SiteSettings | undefined, limitBps: number | undefined): number {
  return Math.min(own?.capBps ?? Infinity, limitBps ?? Infinity);
}
