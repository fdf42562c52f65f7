/**
 * The part of the web that this process of several owns: URLs, sites, and its share of common limits.
 *
 * A coordinator (`cluster/`) divides the web; this is the division in use. It only answers questions; `peers/`
 * acts on a new division.
 */

import type { FingerprintTable } from "../base/fingerprint-table.ts";
import type { Membership } from "../exchange/bus.ts";
import type { Addressee } from "../frontier/politeness.ts";
import type { SharedTurn, SharedTurns } from "../frontier/shared-turns.ts";
import { fateOfForeign, type Mode } from "../partition/mode.ts";
import type { Partition } from "../partition/partition.ts";
import type { PopularFound } from "../partition/popular-found.ts";
import { isInSample } from "../partition/sample.ts";
import type { Totals } from "../store/store.ts";
import type { CanonicalUrl } from "../url/url.ts";
import type { Candidate } from "./candidate.ts";

/** A former owner of a bucket that has not confirmed that all its data has arrived. */
export interface Handing {
  readonly from: string;
  readonly epoch: number;
}

export interface Loss {
  readonly epoch: number;
  readonly buckets: ReadonlySet<number>;
}

/** The owner of each part of the web, and the parts whose data is still on its way. */
export interface Division {
  readonly epoch: number;
  /** The owner of each bucket; empty while it has none. */
  readonly owners: readonly string[];
  /** Buckets that their owner may not crawl yet, with the processes that still hand them over. */
  readonly inTransit: ReadonlyMap<number, readonly Handing[]>;
  /** Buckets that lost data with a process, by the epoch in which this was decided; oldest first. */
  readonly losses: readonly Loss[];
  /** By process, the buckets that it owned before: it still has their pages. */
  readonly formerly: ReadonlyMap<string, ReadonlySet<number>>;
  /** All processes. */
  readonly members: ReadonlySet<string>;
  /** By process, the totals of processes that have left: they count for the whole crawl. */
  readonly left: ReadonlyMap<string, Totals>;
}

export interface PeerRules {
  /** Processes that crawl at the same time, if there is no division. */
  readonly size: number;
  /** Whether only one process requests from a site, so that its turn need not be shared. */
  readonly sitesAreOwn: boolean;
  /** Whether links to parts of other processes are followed when no own URL waits. */
  readonly crossesOver: boolean;
  /** Whether a coordinator assigns parts of the web by the URLs that wait in them. */
  readonly isHandedOut: boolean;
  readonly siteConcurrencyMax: number;
  readonly addressConcurrencyMax: number;
}

/** What a process receives to take part. */
export interface PeerSetup {
  /** Seeds that this process starts with, if it owns them. */
  readonly seeds: readonly CanonicalUrl[];
  readonly turns: SharedTurns;
  readonly rules: PeerRules;
  /** undefined for processes that are independent of each other. */
  readonly border: RouterSetup | undefined;
}

export interface RouterSetup {
  readonly self: string;
  readonly partition: Partition;
  /** Whether contents are owned and not URLs: then the process with a page follows its links. */
  readonly ownsContents: boolean;
  readonly mode: Mode;
  readonly division: Division;
  /** The share of all URLs that is fetched even if another process owns them; 0 for none. */
  readonly sampleShare: number;
  readonly popular: FingerprintTable | undefined;
  /** The same, found during the crawl; undefined if no process looks for them. */
  readonly popularFound: PopularFound | undefined;
  /** The same as URLs: their owners begin with them. */
  readonly popularUrls: readonly CanonicalUrl[];
  readonly bus: Membership;
  readonly everyPages: number;
  readonly everyMs: number;
}

/** A URL is own, or another process owns it: then it is dropped, held until no own URL waits, or sent. */
type Whose = "own" | "drop" | "hold" | "send" | "popular";

export class Ownership {
  readonly #rules: PeerRules;
  readonly #setup: RouterSetup | undefined;
  #division: Division | undefined;
  /** Whether links to parts of other processes are followed now, because no own URL waits. */
  isCrossing = false;
  /** No request starts after this time. */
  licensedUntilMs = -Infinity;
  /** Buckets from which other processes may have requested before. */
  readonly #inherited = new Set<number>();
  #membersHaveChanged = false;

  constructor({ rules, border }: PeerSetup) {
    this.#rules = rules;
    this.#setup = border;
    this.#division = border?.division;
  }

  /** undefined for processes that are independent of each other. */
  get division(): Division | undefined {
    return this.#division;
  }

  /** Whether contents are owned and not URLs. */
  get ownsContents(): boolean {
    return this.#setup?.ownsContents === true;
  }

  get keepsSites(): boolean {
    return this.#setup?.partition.keepsSites !== false;
  }

  /** Whether the sender has admitted every URL in a message; links that follow the content of a page were not. */
  get judgesBeforeSending(): boolean {
    return !this.ownsContents;
  }

  bucketOf(url: string): number {
    return this.#setup?.partition.bucketOf(url as CanonicalUrl) ?? 0;
  }

  /** Empty while its part of the web has no owner. */
  ownerOf(url: string): string {
    return this.#division?.owners[this.bucketOf(url)] ?? "";
  }

  isOwn(url: string): boolean {
    return this.#setup === undefined || this.ownsContents || this.ownerOf(url) === this.#setup.self;
  }

  /** The owner of a part of the contents, if it is another process. */
  otherOwnerOf(bucket: number | undefined): string | undefined {
    const owner = bucket === undefined ? undefined : this.#division?.owners[bucket];
    return owner === this.#setup?.self || owner === "" ? undefined : owner;
  }

  /** The buckets of this process. */
  owned(): number[] {
    const self = this.#setup?.self;
    return (this.#division?.owners ?? []).flatMap((owner, bucket) =>
      owner === self ? [bucket] : [],
    );
  }

  whose({ url, high, low }: Candidate): Whose {
    if (this.#setup === undefined || this.isOwn(url)) return "own";
    const { mode, popular, popularFound, sampleShare } = this.#setup;
    const fate = fateOfForeign(mode);
    if (fate === "drop" && isInSample(high, low, sampleShare)) return "hold";
    const isPopular = popular?.has(high, low) === true || popularFound?.has(high, low) === true;
    if (fate === "send" && isPopular) return "popular";
    return fate;
  }

  /** Whether another process owns the URL, which is only fetched for the sample. */
  isOnlySampled(url: string): boolean {
    return (this.#setup?.sampleShare ?? 0) > 0 && !this.isOwn(url);
  }

  /** Whether requests to a site are allowed: this process owns it, and all its data has arrived. */
  isOwnSite(siteKey: string): boolean {
    // Without whole sites per process, the URLs that wait here are own.
    if (!this.keepsSites || this.#setup === undefined || this.#division === undefined) return true;
    const bucket = this.bucketOf(`${siteKey}/`);
    const { owners, inTransit } = this.#division;
    return owners[bucket] === this.#setup.self && !inTransit.has(bucket);
  }

  mayCrawl(siteKey: string): boolean {
    return this.isCrossing || this.isOwnSite(siteKey);
  }

  /** Whether all data of the bucket of a URL has arrived. */
  hasArrived(url: string): boolean {
    const inTransit = this.#division?.inTransit;
    return inTransit === undefined || inTransit.size === 0 || !inTransit.has(this.bucketOf(url));
  }

  /** Whether another process may have requested from a site shortly before it changed its owner. */
  isInherited(siteKey: string): boolean {
    return this.#setup !== undefined && this.#inherited.has(this.bucketOf(`${siteKey}/`));
  }

  /** Adds the shared turns and limits of a site from which other processes may request too. */
  shared(siteKey: string, to: Addressee): Addressee {
    const { sitesAreOwn, siteConcurrencyMax, addressConcurrencyMax } = this.#rules;
    const size = this.#division?.members.size ?? this.#rules.size;
    const turns: SharedTurn[] = [];
    const { address, addressDelayMs, delayMs } = to;
    const siteMax = to.concurrencyMax ?? siteConcurrencyMax;
    const needsAddress =
      address !== undefined && (addressDelayMs > 0 || size > addressConcurrencyMax);
    if (needsAddress) turns.push({ key: `address ${address}`, delayMs: addressDelayMs });
    const needsSite = !sitesAreOwn && (delayMs > 0 || size > siteMax);
    if (needsSite) turns.push({ key: `site ${siteKey}`, delayMs });
    return {
      ...to,
      ...(turns.length > 0 ? { shared: turns } : {}),
      // Without a delay all may request at the same time, each with its share of the concurrency.
      ...(needsAddress ? {} : { addressConcurrencyMax: Math.floor(addressConcurrencyMax / size) }),
      ...(sitesAreOwn || needsSite ? {} : { concurrencyMax: Math.floor(siteMax / size) }),
    };
  }

  /** Takes a later division into use. */
  divide(after: Division): void {
    const before = this.#division;
    const self = this.#setup?.self;
    if (before === undefined) return;
    for (const [bucket, owner] of after.owners.entries()) {
      if (owner !== self || before.owners[bucket] === self) continue;
      // A bucket without an owner in the first division was never requested from.
      const wasAnothers = before.epoch === 0 ? after.epoch > 1 : before.owners[bucket] !== "";
      if (wasAnothers || this.#membersHaveChanged) this.#inherited.add(bucket);
    }
    // A bucket without an owner may have been left behind by a process that is gone.
    if (before.members.symmetricDifference(after.members).size > 0) this.#membersHaveChanged = true;
    this.#division = after;
  }
}
