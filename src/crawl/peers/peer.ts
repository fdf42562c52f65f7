/**
 * One process of several: what the others learn of it, and what it does when the web is divided again.
 *
 * A coordinator (`cluster/`) says how the web is divided, whose turn it is at shared sites and addresses, and when
 * all processes are done. Everything else goes by the bus from process to process. A crawl that is alone has no
 * peer object, and pays nothing for those that have one.
 */

import type { Parcel, Receipt } from "../../exchange/bus.ts";
import type { SharedTurns, TurnGiven, TurnWish } from "../../frontier/shared-turns.ts";
import type { PopularFound } from "../../partition/popular-found.ts";
import type { Admission } from "../admit.ts";
import type { CrawlContext } from "../context.ts";
import type { Division, Ownership, PeerRules } from "../ownership.ts";
import type { Queue } from "../queue.ts";
import type { Site } from "../site.ts";
import type { HandOver } from "./hand-over.ts";
import type { Inbox } from "./inbox.ts";
import type { UrlMerge } from "./merge-url.ts";
import type { LinkRouter, RouterTraffic } from "./route-links.ts";

interface PeerParts {
  readonly ownership: Ownership;
  readonly turns: SharedTurns;
  readonly rules: PeerRules;
  readonly queue: Queue;
  readonly admission: Admission;
  /** undefined for processes that are independent of each other. */
  readonly exchange: Exchange | undefined;
}

/** What carries URLs and pages between processes. */
export interface Exchange {
  readonly router: LinkRouter;
  readonly inbox: Inbox;
  readonly merge: UrlMerge;
  readonly handOver: HandOver;
}

/** The fact, kept in the store: buckets for which this store may still hold rows. */
const OWNED = "owned buckets";
/** The fact, kept in the store: the division up to which everything lost with other processes has been sent again. */
const EPOCH = "division epoch";
const SITES_LOOKED_AT = 256;
/** Messages without an owner that a report of waiting URLs reads at most. */
const MESSAGES_COUNTED = 200;

/** A bucket and the number of URLs that wait in it. */
export type Waiting = readonly [bucket: number, urls: number];

export class Peer {
  readonly #context: CrawlContext;
  readonly #parts: PeerParts;
  #isClosed = false;
  #epochKnown: number;
  /** The messages that must arrive until everything is handed over that was lost with that division. */
  #handing = { epoch: 0, beforeMessage: 0 };
  #handedOver = 0;

  constructor(context: CrawlContext, parts: PeerParts) {
    this.#context = context;
    this.#parts = parts;
    this.#epochKnown = Number(context.store.recall(EPOCH) ?? 0);
  }

  get division(): Division | undefined {
    return this.#parts.ownership.division;
  }

  get traffic(): RouterTraffic | undefined {
    const { exchange } = this.#parts;
    if (exchange === undefined) return undefined;
    return { ...exchange.router.traffic, urlsReceived: exchange.merge.received };
  }

  /** Messages that have not arrived yet. */
  get messagesWaiting(): number {
    return this.#parts.exchange?.router.waiting ?? 0;
  }

  get popularFound(): PopularFound | undefined {
    return this.#parts.exchange?.router.popularFound;
  }

  get epoch(): number {
    return this.division?.epoch ?? 0;
  }

  /** The highest epoch that this store knows, of whatever run. */
  get epochKnown(): number {
    return Math.max(this.#epochKnown, this.epoch);
  }

  /** Up to this epoch everything that was ours, and no longer is, has arrived where it belongs. */
  get handedOver(): number {
    const { exchange } = this.#parts;
    if (exchange === undefined) return 0;
    const { next, first } = exchange.router.messageNumbers;
    if (exchange.handOver.isDone && this.#handing.epoch < this.epoch)
      this.#handing = { epoch: this.epoch, beforeMessage: next };
    if (first >= this.#handing.beforeMessage) this.#handedOver = this.#handing.epoch;
    return this.#handedOver;
  }

  /** Whether nothing found here is on its way to others, and nothing has to be handed over. */
  get isQuiet(): boolean {
    const { exchange } = this.#parts;
    if (exchange === undefined) return true;
    return exchange.router.isQuiet && exchange.inbox.isQuiet && exchange.handOver.isDone;
  }

  set licensedUntilMs(untilMs: number) {
    this.#parts.ownership.licensedUntilMs = untilMs;
  }

  /** The fullest parts of the web known here, own ones and those without an owner, with their waiting URLs. */
  waiting(countMax: number): readonly Waiting[] {
    const { ownership, exchange, rules } = this.#parts;
    if (this.#isClosed || exchange === undefined || !rules.isHandedOut) return [];
    const counts = new Map<number, number>();
    const add = (bucket: number, urls: number): void => {
      if (urls > 0) counts.set(bucket, (counts.get(bucket) ?? 0) + urls);
    };
    for (const bucket of exchange.router.unowned(MESSAGES_COUNTED)) add(bucket, 1);
    if (ownership.keepsSites) {
      for (const { key, pending } of this.#sitesWithWork())
        if (ownership.mayCrawl(key)) add(ownership.bucketOf(`${key}/`), pending);
    } else {
      // The URLs of a site are spread over all parts alike.
      const own = ownership.owned();
      const pending = this.#sitesWithWork().reduce((sum, site) => sum + site.pending, 0);
      for (const bucket of own) add(bucket, Math.floor(pending / own.length));
    }
    return [...counts].toSorted((a, b) => b[1] - a[1]).slice(0, countMax);
  }

  /** Sites with pending URLs: those in memory, and the first of the stored ones. */
  #sitesWithWork(): readonly Pick<Site, "key" | "pending">[] {
    const { sites } = this.#context;
    const inMemory = [...sites.inMemory()];
    const known = new Set(inMemory.map(({ key }) => key));
    const stored = sites.withWork(0, SITES_LOOKED_AT).filter(({ key }) => !known.has(key));
    return [...inMemory, ...stored].filter(({ pending }) => pending > 0);
  }

  /** Takes a new division of the web into use: what is no longer ours is handed over. */
  divide(division: Division): void {
    const { ownership, exchange, queue, admission } = this.#parts;
    const { sites, emit } = this.#context;
    const before = ownership.division;
    if (exchange === undefined || before === undefined || this.#isClosed) return;
    if (division.epoch <= before.epoch) return;
    exchange.router.beforeDivision();
    ownership.divide(division);
    exchange.router.afterDivision(division);
    this.#sendAgain(division, exchange);
    if (before.members.size !== division.members.size) this.#shareAgain();
    this.start();
    admission.admitSeeds();
    queue.wakeSites();
    // URLs of sites that are awake may have arrived.
    for (const site of sites.inMemory()) if (site.awake) queue.refill(site);
    emit({ kind: "mayStart" });
  }

  /** What was ours, in an earlier run or until now, and is no longer goes to its owner. */
  start(): void {
    const { ownership, exchange } = this.#parts;
    // Before the first division nothing is lost.
    if (exchange === undefined || this.epoch === 0) return;
    const before = readBuckets(this.#context.batch.recall(OWNED)) ?? [];
    const owned = new Set(ownership.owned());
    // A kill during a hand-over must not forget what has become ours meanwhile.
    this.#remember([...owned.union(new Set(before))]);
    exchange.handOver.begin(new Set(before.filter((bucket) => !owned.has(bucket))), () =>
      this.#remember(ownership.owned()),
    );
  }

  /** What was sent to a process that is lost is lost with it: its new owner gets it again. */
  #sendAgain({ epoch, losses }: Division, { handOver }: Exchange): void {
    const orphaned = new Set<number>();
    for (const loss of losses)
      if (loss.epoch > this.#epochKnown) for (const bucket of loss.buckets) orphaned.add(bucket);
    handOver.sendAgain(orphaned);
    this.#epochKnown = epoch;
    this.#context.batch.setFact(EPOCH, String(epoch));
  }

  /** More or fewer processes share IP addresses with this one. */
  #shareAgain(): void {
    const { queue } = this.#parts;
    for (const site of this.#context.sites.inMemory())
      if (site.to !== undefined) queue.open(site, site.to);
  }

  /** Takes nothing in any more: a process that ends must not promise to care for something, nor touch its store. */
  close(): void {
    this.#isClosed = true;
  }

  onParcel(parcel: Parcel): void {
    if (!this.#isClosed) this.#parts.exchange?.inbox.take(parcel);
  }

  onReceipt(receipt: Receipt): void {
    if (!this.#isClosed) this.#parts.exchange?.router.onReceipt(receipt);
  }

  /** Nothing is under way. With no work of its own left, a process that may follows links to others' parts. */
  onIdle(): void {
    const { ownership, exchange, rules, queue } = this.#parts;
    exchange?.router.ship();
    if (!rules.crossesOver || ownership.isCrossing || this.#hasOwnWork()) return;
    ownership.isCrossing = true;
    queue.wakeSites();
  }

  /**
   * A URL of a site waits. Others' sites leave the workbench as soon as it is one of our own, so that no further
   * foreign URL is requested while an own one waits; requests under way end as they will.
   */
  siteGrown(siteKey: string): void {
    const { ownership, queue } = this.#parts;
    if (!ownership.isCrossing || !ownership.isOwnSite(siteKey)) return;
    ownership.isCrossing = false;
    for (const other of this.#context.sites.inMemory())
      if (other.awake && !ownership.isOwnSite(other.key)) queue.layAside(other);
  }

  stop(): void {
    this.#isClosed = true;
    this.#parts.exchange?.router.stop();
    this.#parts.exchange?.handOver.stop();
  }

  /** Whether it has no turn at a site or IP address that is shared with others. */
  get holdsNoTurns(): boolean {
    return this.#parts.turns.size === 0;
  }

  wishes(countMax: number): TurnWish[] {
    return this.#parts.turns.wishes(countMax);
  }

  undeclaredTurns(countMax: number): TurnWish[] {
    return this.#parts.turns.undeclared(countMax);
  }

  /** Another coordinator has taken over, and turns are held on. */
  declareTurns(): void {
    this.#parts.turns.declareAll();
  }

  takeGiven(countMax: number): TurnGiven[] {
    return this.#parts.turns.takeGiven(countMax);
  }

  /** Turns that have come, and turns that others want. */
  onTurns(granted: readonly TurnGiven[], recalled: readonly TurnWish[]): void {
    const { turns } = this.#parts;
    const nowMs = this.#context.clock.nowMs();
    const sites: number[] = [];
    for (const grant of granted) sites.push(...turns.granted(nowMs, grant));
    for (const recall of recalled) sites.push(...turns.recalled(nowMs, recall));
    turns.sweep(nowMs);
    this.#offer(sites);
  }

  /** The licence to act has ended: no turn is ours any more. */
  lapse(): void {
    this.#offer(this.#parts.turns.lapse());
  }

  #offer(siteIds: readonly number[]): void {
    const { workbench, emit } = this.#context;
    if (siteIds.length === 0) return;
    for (const siteId of siteIds) workbench.offerAgain(siteId);
    emit({ kind: "mayStart" });
  }

  #hasOwnWork(): boolean {
    const { ownership } = this.#parts;
    for (let afterId = 0; ;) {
      const rows = this.#context.sites.withWork(afterId, SITES_LOOKED_AT);
      if (rows.some(({ key }) => ownership.isOwnSite(key))) return true;
      if (rows.length < SITES_LOOKED_AT) return false;
      afterId = rows.at(-1)?.id ?? afterId;
    }
  }

  #remember(owned: readonly number[]): void {
    this.#context.batch.setFact(OWNED, JSON.stringify(owned));
  }
}

function readBuckets(text: string | undefined): number[] | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as number[]);
}
