/**
 * The border post: says whose a URL is, and carries links to their owners.
 *
 * A URL that is another's is known here too, as sent, with its place in the outbox: so it is sent once
 * however often it is met, and the letter leaves with the commit of the page that named it. Links in a batch are
 * merged; those that everybody knows are never sent. What comes in is judged at the gate like any link;
 * what should not have come here, because its sender had not heard of a new owner yet, is sent on.
 */

import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Random } from "../../base/random.ts";
import type { Membership, Parcel, Receipt } from "../../exchange/bus.ts";
import type { AnyLetter } from "../../exchange/letters.ts";
import type { PageLetter, SentPage } from "../../exchange/page-letter.ts";
import { cutForLetters, type Letter, type MovedUrl, type SentUrl } from "../../exchange/wire.ts";
import { OutgoingBatch, type OutgoingLink } from "../../partition/batch.ts";
import { fateOfForeign, type Mode } from "../../partition/mode.ts";
import type { Partition } from "../../partition/partition.ts";
import type { PopularFound } from "../../partition/popular-found.ts";
import type { PopularSet } from "../../partition/popular.ts";
import { isInSample } from "../../partition/sample.ts";
import type { Store } from "../../store/store.ts";
import { type CanonicalUrl, canonicalUrl, isRefused, isSpellingOf } from "../../url/url.ts";
import { fingerprintOf } from "../../url/fingerprint.ts";
import type { Division } from "./ownership.ts";
import { Inbox, type InboxParts } from "./inbox.ts";
import { type Candidate, candidateOf, type Origin } from "../admit.ts";
import type { Batch } from "../batch.ts";
import { NOBODY, Outbox } from "./outbox.ts";
import { nameOf } from "./store-name.ts";
import { stillTrue } from "./still-true.ts";
import type { Tally } from "../counters.ts";

export interface BorderMeans {
  readonly self: string;
  readonly partition: Partition;
  /** Whether contents are owned and not addresses: then a link is followed by whoever has its page. */
  readonly ownsContents: boolean;
  readonly mode: Mode;
  readonly division: Division;
  /** The share of all addresses that is fetched even where it is another's; 0 for none. */
  readonly sampleShare: number;
  readonly popular: PopularSet | undefined;
  /** The same as it is found on the way; undefined where nobody looks. */
  readonly popularFound: PopularFound | undefined;
  /** The same as addresses: whoever owns one begins with it. */
  readonly popularUrls: readonly CanonicalUrl[];
  readonly bus: Membership;
  readonly everyPages: number;
  readonly everyMs: number;
}

export interface BorderParts extends BorderMeans {
  readonly clock: Clock;
  readonly random: Random;
  readonly store: Store;
  readonly batch: Batch;
  readonly tally: Tally;
  readonly log: Log;
  /** Whether links raise scores, so that counts are worth sending for what the owner knows already. */
  readonly countsBacklinks: boolean;
  readonly isIdle: () => boolean;
  /** Lets URLs in that others found; they may turn out to be somebody else's. */
  readonly admit: (found: readonly FoundUrl[], border: Border) => void;
  /** Takes in a page that another process fetched; see `inbox.ts`. */
  readonly admitPage: (letter: PageLetter, from: string, taken: () => void) => Promise<boolean>;
  readonly onFault: (fault: unknown) => void;
  readonly onBytes: InboxParts["onBytes"];
}

/** A URL that another process found, or that waited or ended there. */
export interface FoundUrl {
  readonly candidate: Candidate;
  readonly origin: Origin;
  readonly links: number;
  readonly score: number;
  readonly state: "found" | "counted" | MovedUrl["state"];
}

export interface BorderTraffic {
  /** Pages handed to the owners of their content, in this life. */
  readonly pagesSent: number;
  readonly urlsSent: number;
  readonly urlsReceived: number;
  readonly sentBytes: number;
  /** URLs by addressee, in this life. */
  readonly sentTo: Readonly<Record<string, number>>;
}

/** Whose a URL is; another's is dropped, held until there is nothing else to do, or sent. */
export type Whose = "own" | "drop" | "hold" | "send" | "popular";

/** So deep is nothing: the owner knows the URL, and is told of more links to it. */
const COUNTED_DEPTH = 1_000_000;
const BATCH_LINKS_MAX = 100_000;
const COUNTED_LINKS_MAX = 50_000;

export class Border {
  readonly #parts: BorderParts;
  readonly #outbox: Outbox;
  readonly #inbox: Inbox;
  #division: Division;
  /** New to everyone, as far as this process knows: leaves with the next commit. */
  readonly #found = new OutgoingBatch({ pagesMax: Infinity, linksMax: BATCH_LINKS_MAX });
  /** More links to what was sent before: nothing but counts, which may be lost with the process. */
  readonly #counts: OutgoingBatch;
  readonly #sentTo = new Map<string, number>();
  #countsSent = 0;
  #pagesSent = 0;
  #linksSent = 0;
  #urlsReceived = 0;

  constructor(parts: BorderParts) {
    this.#parts = parts;
    this.#division = parts.division;
    this.#counts = new OutgoingBatch({ pagesMax: parts.everyPages, linksMax: COUNTED_LINKS_MAX });
    this.#outbox = new Outbox({ ...parts, sender: nameOf(parts.store, parts.random) });
    this.#inbox = new Inbox({
      ...parts,
      epoch: () => this.#division.epoch,
      read: (letter) => this.#read(this.#stillTrue(letter)),
      readPage: parts.admitPage,
    });
  }

  get self(): string {
    return this.#parts.self;
  }

  get division(): Division {
    return this.#division;
  }

  /** What the exchange has cost: URLs over all its lives, bytes in this one. */
  get traffic(): BorderTraffic {
    const { sentBytes } = this.#outbox;
    const found = this.#parts.tally.outcome("sent");
    return {
      urlsSent: found + this.#countsSent + this.#linksSent,
      urlsReceived: this.#urlsReceived,
      pagesSent: this.#pagesSent,
      sentBytes,
      sentTo: Object.fromEntries(this.#sentTo),
    };
  }

  /** Whether nothing that was found here is still on its way. */
  get isQuiet(): boolean {
    return this.#outbox.isEmpty && this.#found.links === 0 && this.#inbox.isQuiet;
  }

  /** Letters that have not arrived yet. */
  get waiting(): number {
    return this.#outbox.count;
  }

  /** The number that the next letter gets, and the lowest of those that have not arrived. */
  get letterNumbers(): { readonly next: number; readonly first: number } {
    return this.#outbox.numbers;
  }

  whose({ url, high, low }: Candidate): Whose {
    if (this.isOwn(url)) return "own";
    const fate = fateOfForeign(this.#parts.mode);
    const { popular, popularFound, sampleShare } = this.#parts;
    if (fate === "drop" && isInSample(high, low, sampleShare)) return "hold";
    const isPopular = popular?.has(high, low) === true || popularFound?.has(high, low) === true;
    if (fate === "send" && isPopular) return "popular";
    return fate;
  }

  /** Whether it is another's, and only looked at. */
  isOnlySampled(url: CanonicalUrl): boolean {
    return this.#parts.sampleShare > 0 && !this.isOwn(url);
  }

  /** Whether every URL in a letter has passed its sender's gate; links that follow a page's content have not. */
  get judgesBeforeSending(): boolean {
    return !this.#parts.ownsContents;
  }

  /** Our buckets. */
  owned(): number[] {
    const { self } = this.#parts;
    return this.#division.owners.flatMap((owner, bucket) => (owner === self ? [bucket] : []));
  }

  get popularFound(): PopularFound | undefined {
    return this.#parts.popularFound;
  }

  /** Buckets without an owner for which letters wait here. */
  wanted(countMax: number): readonly number[] {
    const buckets = new Set<number>();
    for (const letter of this.#outbox.lettersTo(NOBODY, countMax))
      if (letter.kind === "page") buckets.add(letter.bucket);
      else for (const { url } of letter.urls) buckets.add(this.bucketOf(url));
    return [...buckets].slice(0, countMax);
  }

  bucketOf(url: string): number {
    return this.#parts.partition.bucketOf(url as CanonicalUrl);
  }

  isOwn(url: CanonicalUrl): boolean {
    if (this.#parts.ownsContents) return true;
    return this.#ownerOf(url) === this.#parts.self;
  }

  /** Whether a site may be asked: it is ours, and nobody is still handing it over. */
  mayCrawl(siteKey: string): boolean {
    const { partition } = this.#parts;
    // Where sites are divided, what of them waits here is ours.
    if (!partition.keepsSites) return true;
    const bucket = partition.bucketOf(`${siteKey}/` as CanonicalUrl);
    const { owners, inTransit } = this.#division;
    return owners[bucket] === this.#parts.self && !inTransit.has(bucket);
  }

  /** Whether nobody is still handing over what is known of a URL. */
  hasArrived(url: string): boolean {
    const { inTransit } = this.#division;
    return inTransit.size === 0 || !inTransit.has(this.bucketOf(url));
  }

  /** A URL that was noted as sent: its letter leaves with the same commit. */
  send(candidate: Candidate, { depth, redirects }: Origin, score: number): void {
    this.#add(this.#ownerOf(candidate.url), { ...candidate, depth, redirects, score });
  }

  /** A page that is another's by its content: it leaves with the commit that ends its URL here. */
  sendPage(to: string, bucket: number, page: SentPage): void {
    this.#pagesSent += 1;
    this.#outbox.put(to, { kind: "page", epoch: this.#division.epoch, bucket, page });
  }

  /** A link of a page that is another's by its content, and stays here. */
  sendLink(
    to: string,
    candidate: Candidate,
    { depth, redirects }: Pick<Origin, "depth" | "redirects">,
  ): void {
    this.#linksSent += 1;
    this.#add(to, { ...candidate, depth, redirects, score: 0 });
  }

  /** One more link to a URL that was sent before. */
  countLink(url: CanonicalUrl): void {
    if (!this.#parts.countsBacklinks || this.#parts.mode !== "exchange") return;
    const link = { url, ...fingerprintOf(url), depth: COUNTED_DEPTH, redirects: 0, score: 0 };
    if (!this.isOwn(url)) this.#counts.add(this.#ownerOf(url), link);
  }

  countPage(): void {
    this.#outbox.countPage();
    this.#counts.endPage();
    if (this.#counts.isDue) this.#write(this.#counts);
  }

  ship(): void {
    this.#outbox.ship();
  }

  /** Letters become part of what is about to be committed. */
  beforeCommit(): void {
    this.#write(this.#found);
  }

  committed(): void {
    this.#outbox.committed();
    this.#inbox.committed();
  }

  onParcel(parcel: Parcel): void {
    this.#inbox.take(parcel);
  }

  onReceipt(receipt: Receipt): void {
    this.#outbox.receipt(receipt);
  }

  /** Takes a new division into use: what was addressed to whoever left, or to nobody, is addressed anew. */
  divide(division: Division): void {
    if (division.epoch <= this.#division.epoch) return;
    this.#write(this.#found);
    this.#division = division;
    const letters = this.#outbox.takeBack((to) => to === NOBODY || !division.members.has(to));
    for (const letter of letters) this.#readdress(this.#stillTrue(letter));
  }

  #stillTrue<T extends AnyLetter>(letter: T): T {
    return stillTrue(letter, this.#division.losses, (url) => this.bucketOf(url));
  }

  /** Hands rows of a frontier to their new owners. */
  handOver(urls: readonly MovedUrl[]): void {
    this.#readdress({ kind: "frontier", epoch: this.#division.epoch, urls });
  }

  /** Hands on what came here because its sender had not heard of a new owner. */
  passOn({
    candidate: { url, written },
    origin: { depth, redirects },
    links,
    score,
    state,
  }: FoundUrl): void {
    const way = { depth, redirects, links, score, attempts: 0 };
    this.handOver([{ url, written, ...way, state: state === "ended" ? "ended" : "waiting" }]);
  }

  stop(): void {
    this.#outbox.stop();
  }

  #ownerOf(url: CanonicalUrl): string {
    return this.#division.owners[this.#parts.partition.bucketOf(url)] as string;
  }

  #add(to: string, link: OutgoingLink): void {
    if (this.#found.add(to, link)) return;
    this.#write(this.#found);
    this.#found.add(to, link);
  }

  #write(batch: OutgoingBatch): void {
    if (batch.links === 0) return;
    const { epoch } = this.#division;
    for (const [to, links] of batch.takeAll()) {
      if (batch === this.#counts) this.#countsSent += links.length;
      this.#sentTo.set(to, (this.#sentTo.get(to) ?? 0) + links.length);
      const urls = links.map(({ count, url, written, depth, redirects, score }): SentUrl => {
        return { url, written, depth, redirects, score, links: count };
      });
      for (const part of cutForLetters(urls))
        this.#outbox.put(to, { kind: "urls", epoch, urls: part });
    }
  }

  #readdress(letter: AnyLetter): void {
    const { epoch, owners } = this.#division;
    if (letter.kind === "page") {
      // Ours by now, perhaps: then it goes to ourselves by the bus, and is taken in like any other.
      this.#outbox.put(owners[letter.bucket] ?? NOBODY, { ...letter, epoch });
      return;
    }
    if (letter.kind === "urls")
      this.#deliver(letter.urls, (urls) => ({ kind: "urls", epoch, urls }));
    else this.#deliver(letter.urls, (urls) => ({ kind: "frontier", epoch, urls }));
  }

  #deliver<T extends SentUrl>(urls: readonly T[], letterOf: (urls: readonly T[]) => Letter): void {
    for (const [to, owned] of Map.groupBy(urls, ({ url }) => this.#ownerOf(url as CanonicalUrl)))
      for (const part of cutForLetters(owned))
        if (to === this.#parts.self) this.#read(letterOf(part));
        else this.#outbox.put(to, letterOf(part));
  }

  #read(letter: Letter): void {
    this.#urlsReceived += letter.urls.length;
    const found: FoundUrl[] = [];
    for (const sent of letter.urls) {
      const candidate = candidateFrom(sent);
      if (candidate === undefined) continue;
      this.#parts.popularFound?.received(candidate.high, candidate.low);
      found.push({
        candidate,
        origin: {
          depth: sent.depth,
          from: undefined,
          fromDomain: undefined,
          redirectedFromId: 0,
          redirects: sent.redirects,
        },
        links: sent.links,
        score: sent.score,
        state: stateOf(sent),
      });
    }
    this.#parts.admit(found, this);
  }
}

/** A URL that a peer names; undefined when a peer with other rules, or none at all, names it. */
export function candidateFrom(sent: Pick<SentUrl, "url" | "written">): Candidate | undefined {
  const url = canonicalUrl(sent.url);
  if (isRefused(url)) return undefined;
  const { written } = sent;
  const isGood = written !== undefined && isSpellingOf(written, url);
  return candidateOf({ url, written: isGood ? written : undefined });
}

function stateOf(sent: SentUrl | MovedUrl): FoundUrl["state"] {
  if ("state" in sent) return sent.state;
  return sent.depth === COUNTED_DEPTH ? "counted" : "found";
}
