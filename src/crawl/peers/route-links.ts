/**
 * Sends URLs and pages to the processes that own them.
 *
 * A URL of another process is stored here too, as sent: so it is sent once however often it is found, and its
 * message leaves with the commit of the page that named it. Links in a batch are merged; those that all processes
 * know are never sent.
 */

import type { Random } from "../../base/random.ts";
import type { Receipt } from "../../exchange/bus.ts";
import type { PeerMessage } from "../../exchange/peer-message.ts";
import type { SentPage } from "../../exchange/page-message.ts";
import {
  cutForMessages,
  type UrlMessage,
  type MovedUrl,
  type SentUrl,
} from "../../exchange/url-message.ts";
import { OutgoingBatch, type OutgoingLink } from "../../partition/batch.ts";
import type { PopularFound } from "../../partition/popular-found.ts";
import type { Store } from "../../store/store.ts";
import { fingerprintOf } from "../../url/fingerprint.ts";
import type { CanonicalUrl } from "../../url/url.ts";
import type { Candidate, Origin } from "../candidate.ts";
import type { CrawlContext, CrawlEvent } from "../context.ts";
import { countsBacklinks } from "../ordering.ts";
import type { Division, Ownership, RouterSetup } from "../ownership.ts";
import { stillTrue } from "./inbox.ts";
import { NO_OWNER, Outbox } from "./outbox.ts";

/** A URL that another process found, or that waited or ended there. */
export interface FoundUrl {
  readonly candidate: Candidate;
  readonly origin: Origin;
  readonly links: number;
  readonly score: number;
  readonly state: "found" | "counted" | MovedUrl["state"];
}

export interface RouterTraffic {
  /** Pages sent to the owners of their content since the process started. */
  readonly pagesSent: number;
  readonly urlsSent: number;
  readonly urlsReceived: number;
  readonly sentBytes: number;
  /** URLs by addressee since the process started. */
  readonly sentTo: Readonly<Record<string, number>>;
}

/** A sentinel depth: a count of links for a URL that its owner already has. */
export const COUNTED_DEPTH = 1_000_000;
const BATCH_LINKS_MAX = 100_000;
const COUNTED_LINKS_MAX = 50_000;
/** The fact that keeps the name of a store. */
const STORE_NAME = "store name";

type ForeignLinks = Extract<CrawlEvent, { readonly kind: "foreignLinks" }>;

export class LinkRouter {
  readonly #context: CrawlContext;
  readonly #setup: RouterSetup;
  readonly #ownership: Ownership;
  readonly #outbox: Outbox;
  /** Links that are new, as far as this process knows: they leave with the next commit. */
  readonly #found = new OutgoingBatch({ pagesMax: Infinity, linksMax: BATCH_LINKS_MAX });
  /** More links to URLs that were sent before: counts, which may be lost with the process. */
  readonly #counts: OutgoingBatch;
  readonly #sentTo = new Map<string, number>();
  #countsSent = 0;
  #pagesSent = 0;
  #linksSent = 0;

  constructor(context: CrawlContext, ownership: Ownership, setup: RouterSetup) {
    this.#context = context;
    this.#ownership = ownership;
    this.#setup = setup;
    this.#counts = new OutgoingBatch({ pagesMax: setup.everyPages, linksMax: COUNTED_LINKS_MAX });
    const sender = nameOf(context.store, context.random);
    this.#outbox = new Outbox(context, { ...setup, sender });
  }

  /** The cost of the exchange: URLs over all runs, bytes in this one. */
  get traffic(): Omit<RouterTraffic, "urlsReceived"> {
    const { sentBytes } = this.#outbox;
    const found = this.#context.counters.outcome("sent");
    return {
      urlsSent: found + this.#countsSent + this.#linksSent,
      pagesSent: this.#pagesSent,
      sentBytes,
      sentTo: Object.fromEntries(this.#sentTo),
    };
  }

  /** Whether nothing that was found here is still on its way. */
  get isQuiet(): boolean {
    return this.#outbox.isEmpty && this.#found.links === 0;
  }

  /** Messages that have not arrived yet. */
  get waiting(): number {
    return this.#outbox.count;
  }

  /** The number that the next message gets, and the lowest of those that have not arrived. */
  get messageNumbers(): { readonly next: number; readonly first: number } {
    return this.#outbox.numbers;
  }

  get popularFound(): PopularFound | undefined {
    return this.#setup.popularFound;
  }

  /** Buckets without an owner for which URLs wait here, once for each URL. */
  *unowned(messagesMax: number): Iterable<number> {
    for (const message of this.#outbox.messagesTo(NO_OWNER, messagesMax))
      if (message.kind === "page") yield message.bucket;
      else for (const { url } of message.urls) yield this.#ownership.bucketOf(url);
  }

  /** A URL that was added as sent: its message leaves with the same commit. */
  send(
    candidate: Candidate,
    { depth, redirects }: Pick<Origin, "depth" | "redirects">,
    score: number,
  ): void {
    const to = this.#ownership.ownerOf(candidate.url);
    this.#add(to, { ...candidate, depth, redirects, score });
  }

  /** A page whose content another process owns: it leaves with the commit that ends its URL here. */
  sendPage(to: string, bucket: number, page: SentPage): void {
    this.#pagesSent += 1;
    this.#outbox.put(to, { kind: "page", epoch: this.#epoch, bucket, page });
  }

  /** The links of a page whose content another process owns, and which stays here. */
  sendLinks({ row, owner, links, refresh }: ForeignLinks): void {
    const depth = row.depth + 1;
    for (const link of links) this.#sendLink(owner, link, { depth, redirects: 0 });
    if (refresh !== undefined)
      this.#sendLink(owner, refresh, { depth, redirects: row.redirects + 1 });
  }

  /** One more link to a URL that was sent before. */
  countLink(url: CanonicalUrl): void {
    if (!countsBacklinks(this.#context) || this.#setup.mode !== "exchange") return;
    const link = { url, ...fingerprintOf(url), depth: COUNTED_DEPTH, redirects: 0, score: 0 };
    if (!this.#ownership.isOwn(url)) this.#counts.add(this.#ownership.ownerOf(url), link);
  }

  countPage(): void {
    this.#outbox.countPage();
    this.#counts.endPage();
    if (this.#counts.isDue) this.#write(this.#counts);
  }

  ship(): void {
    this.#outbox.ship();
  }

  /** Messages become part of the commit that is about to be made. */
  beforeCommit(): void {
    this.#write(this.#found);
  }

  committed(): void {
    this.#outbox.committed();
  }

  onReceipt(receipt: Receipt): void {
    this.#outbox.receipt(receipt);
  }

  /** Links found under the present division get its addresses. */
  beforeDivision(): void {
    this.#write(this.#found);
  }

  /** Messages to processes that left, or that had no addressee, get new ones. */
  afterDivision({ members, losses }: Division): void {
    const bucketOf = (url: string): number => this.#ownership.bucketOf(url);
    const messages = this.#outbox.takeBack((to) => to === NO_OWNER || !members.has(to));
    for (const message of messages) this.#readdress(stillTrue(message, losses, bucketOf));
  }

  /** Hands rows of a frontier to their new owners. */
  handOver(urls: readonly MovedUrl[]): void {
    this.#readdress({ kind: "frontier", epoch: this.#epoch, urls });
  }

  /** Hands on what came here because its sender did not know of a new owner yet. */
  passOn({ candidate, origin, links, score, state }: FoundUrl): void {
    const { url, written } = candidate;
    const { depth, redirects } = origin;
    const way = { depth, redirects, links, score, attempts: 0 };
    this.handOver([{ url, written, ...way, state: state === "ended" ? "ended" : "waiting" }]);
  }

  stop(): void {
    this.#outbox.stop();
  }

  get #epoch(): number {
    return this.#ownership.division?.epoch ?? 0;
  }

  #sendLink(to: string, candidate: Candidate, way: Pick<Origin, "depth" | "redirects">): void {
    this.#linksSent += 1;
    this.#add(to, { ...candidate, ...way, score: 0 });
  }

  #add(to: string, link: OutgoingLink): void {
    if (this.#found.add(to, link)) return;
    this.#write(this.#found);
    this.#found.add(to, link);
  }

  #write(batch: OutgoingBatch): void {
    if (batch.links === 0) return;
    for (const [to, links] of batch.takeAll()) {
      if (batch === this.#counts) this.#countsSent += links.length;
      this.#sentTo.set(to, (this.#sentTo.get(to) ?? 0) + links.length);
      const urls = links.map(({ count, url, written, depth, redirects, score }): SentUrl => {
        return { url, written, depth, redirects, score, links: count };
      });
      for (const part of cutForMessages(urls))
        this.#outbox.put(to, { kind: "urls", epoch: this.#epoch, urls: part });
    }
  }

  #readdress(message: PeerMessage): void {
    const epoch = this.#epoch;
    if (message.kind === "page") {
      // A page that is ours by now goes to ourselves by the bus, and is taken in like any other.
      const owner = this.#ownership.division?.owners[message.bucket] ?? NO_OWNER;
      this.#outbox.put(owner, { ...message, epoch });
    } else if (message.kind === "urls")
      this.#deliver(message.urls, (urls) => ({ kind: "urls", epoch, urls }));
    else this.#deliver(message.urls, (urls) => ({ kind: "frontier", epoch, urls }));
  }

  #deliver<T extends SentUrl>(
    urls: readonly T[],
    messageOf: (urls: readonly T[]) => UrlMessage,
  ): void {
    for (const [to, owned] of Map.groupBy(urls, ({ url }) => this.#ownership.ownerOf(url)))
      for (const part of cutForMessages(owned))
        if (to === this.#setup.self)
          this.#context.emit({ kind: "ownMessage", message: messageOf(part) });
        else this.#outbox.put(to, messageOf(part));
  }
}

/** A name for a store among all that ever take part in a crawl: an erased store gets another one. */
function nameOf(store: Store, random: Random): string {
  const kept = store.recall(STORE_NAME);
  if (kept !== undefined) return kept;
  const name = Math.floor(random.next() * 2 ** 48).toString(36);
  store.remember(STORE_NAME, name);
  return name;
}
