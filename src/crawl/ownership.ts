/**
 * Which part of the web this process of several owns: its URLs, its sites, and what it shares with others.
 *
 * A coordinator (`cluster/`) divides the web; this is the division in use. It only answers questions: what
 * follows from a new division is done in `peers/`.
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

/** A former owner of a bucket that has not confirmed that all it knew of it has arrived. */
export interface Handing {
  readonly from: string;
  readonly epoch: number;
}

export interface Loss {
  readonly epoch: number;
  readonly buckets: ReadonlySet<number>;
}

/** Who owns which part of the web, and what is still on its way to its owner. */
export interface Division {
  readonly epoch: number;
  /** The owner of each bucket; empty while nobody has it. */
  readonly owners: readonly string[];
  /** Buckets that their owner may not crawl yet, and who is still handing them over. */
  readonly inTransit: ReadonlyMap<number, readonly Handing[]>;
  /** Buckets of which something was lost with a process, by the epoch that said so; oldest first. */
  readonly losses: readonly Loss[];
  /** By process, buckets that were its own before: what it collected of them it still has. */
  readonly formerly: ReadonlyMap<string, ReadonlySet<number>>;
  /** All processes. */
  readonly members: ReadonlySet<string>;
  /** By process, the totals of processes that have left: they count for the whole crawl. */
  readonly left: ReadonlyMap<string, Totals>;
}

export interface PeerRules {
  /** Processes that crawl at the same time, where no division says so. */
  readonly size: number;
  /** Whether only one process requests from a site, so that its turn need not be shared. */
  readonly sitesAreOwn: boolean;
  /** Whether links to others' parts are followed when there is nothing else to do. */
  readonly crossesOver: boolean;
  /** Whether a coordinator hands out parts of the web by what waits in them. */
  readonly isHandedOut: boolean;
  readonly siteConcurrencyMax: number;
  readonly addressConcurrencyMax: number;
}

/** What a process is given to take part. */
export interface PeerSetup {
  /** Seeds that this process begins with, if they are its own. */
  readonly seeds: readonly CanonicalUrl[];
  readonly turns: SharedTurns;
  readonly rules: PeerRules;
  /** undefined for processes that are independent of each other. */
  readonly border: RouterSetup | undefined;
}

export interface RouterSetup {
  readonly self: string;
  readonly partition: Partition;
  /** Whether contents are owned and not URLs: then a link is followed by the process that has its page. */
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

/** Whose a URL is; another's is dropped, held until there is nothing else to do, or sent. */
type Whose = "own" | "drop" | "hold" | "send" | "popular";

export class Ownership {
  readonly #rules: PeerRules;
  readonly #setup: RouterSetup | undefined;
  #division: Division | undefined;
  /** Whether links to others' parts are followed, because there is nothing else to do. */
  isCrossing = false;
  /** Nothing starts after this time, however late the clock is read. */
  licensedUntilMs = -Infinity;
  /** Buckets from which others may have requested before. */
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

  /** Whether every URL in a message has passed its sender's admission; links that follow a page's content have not. */
  get judgesBeforeSending(): boolean {
    return !this.ownsContents;
  }

  bucketOf(url: string): number {
    return this.#setup?.partition.bucketOf(url as CanonicalUrl) ?? 0;
  }

  /** Empty while nobody has its part of the web. */
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

  /** Whether a URL is another's, and only fetched for the sample. */
  isOnlySampled(url: string): boolean {
    return (this.#setup?.sampleShare ?? 0) > 0 && !this.isOwn(url);
  }

  /** Whether requests to a site are allowed: it is ours, and nobody is still handing it over. */
  isOwnSite(siteKey: string): boolean {
    // Where sites are divided, their URLs that wait here are ours.
    if (!this.keepsSites || this.#setup === undefined || this.#division === undefined) return true;
    const bucket = this.bucketOf(`${siteKey}/`);
    const { owners, inTransit } = this.#division;
    return owners[bucket] === this.#setup.self && !inTransit.has(bucket);
  }

  mayCrawl(siteKey: string): boolean {
    return this.isCrossing || this.isOwnSite(siteKey);
  }

  /** Whether nobody is still handing over what is known of a URL. */
  hasArrived(url: string): boolean {
    const inTransit = this.#division?.inTransit;
    return inTransit === undefined || inTransit.size === 0 || !inTransit.has(this.bucketOf(url));
  }

  /** Whether another process may have requested from a site shortly before it became ours. */
  isInherited(siteKey: string): boolean {
    return this.#setup !== undefined && this.#inherited.has(this.bucketOf(`${siteKey}/`));
  }

  /** The consent and the share that requests to a site need, if others may request from it too. */
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
      // Without a delay all may request at once, each with its part of the places.
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
      // A bucket that nobody had in the very first division was never requested from.
      const wasAnothers = before.epoch === 0 ? after.epoch > 1 : before.owners[bucket] !== "";
      if (wasAnothers || this.#membersHaveChanged) this.#inherited.add(bucket);
    }
    // A bucket without an owner may have been left behind by a process that is gone.
    if (before.members.symmetricDifference(after.members).size > 0) this.#membersHaveChanged = true;
    this.#division = after;
  }
}
