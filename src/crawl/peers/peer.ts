/**
 * One process of several: what the loops must know of the others, and what is told to them.
 *
 * Whoever coordinates (`cluster/`) says how the web is divided, whose turn it is at shared sites and addresses, and
 * when all are done. Everything else goes by the bus from process to process. A crawl that is alone has
 * no team, and pays nothing for those that have one.
 */

import type { Clock } from "../../base/clock.ts";
import type { Parcel, Receipt } from "../../exchange/bus.ts";
import type { Addressee } from "../../frontier/politeness.ts";
import type { SharedTurn, SharedTurns, TurnGiven, TurnWish } from "../../frontier/shared-turns.ts";
import type { Workbench } from "../../frontier/workbench.ts";
import type { Store } from "../../store/store.ts";
import type { CanonicalUrl } from "../../url/url.ts";
import type { Border, BorderMeans } from "./route-links.ts";
import type { Division } from "./ownership.ts";
import type { Job } from "../job.ts";
import { Moving, type MovingParts } from "./hand-over.ts";
import type { Batch } from "../batch.ts";
import type { Refill } from "../queue.ts";
import type { Roster, Site } from "../sites.ts";

export interface TeamRules {
  /** Processes that crawl at the same time, where no division says so. */
  readonly size: number;
  /** Whether only one process asks a site, so that its turn need not be shared. */
  readonly sitesAreOwn: boolean;
  /** Whether links to others' parts are followed when there is nothing else to do. */
  readonly crossesOver: boolean;
  readonly siteConcurrencyMax: number;
  readonly addressConcurrencyMax: number;
}

/** What a process is given to take part. */
export interface TeamMeans {
  /** Those of the starting addresses that this process begins with, if they are its own to begin with. */
  readonly seeds: readonly CanonicalUrl[];
  readonly turns: SharedTurns;
  readonly rules: TeamRules;
  /** undefined for processes that are independent of each other. */
  readonly border: BorderMeans | undefined;
}

export interface TeamParts {
  readonly clock: Clock;
  readonly store: Store;
  readonly batch: Batch;
  readonly roster: Roster;
  readonly workbench: Workbench<Job>;
  readonly refill: Refill;
  readonly turns: SharedTurns;
  readonly rules: TeamRules;
  /** undefined for processes that are independent of each other. */
  readonly border: Border | undefined;
  readonly moving: Moving | undefined;
  /** Lets in what of the starting addresses is ours now. */
  readonly admitSeeds: () => void;
  readonly pump: () => void;
}

/** The fact, kept in the store, of which buckets something may be here that is ours or has to be handed over. */
const OWNED = "owned buckets";
/** The fact, kept in the store, up to which division what was lost with others has been sent again. */
const EPOCH = "division epoch";
const SITES_LOOKED_AT = 256;

export class Team {
  readonly #parts: TeamParts;
  /** Nothing is started after this moment, however late anybody looks at the clock. */
  licensedUntilMs = -Infinity;
  /** Follows links to others' parts, for want of anything else. */
  #isCrossing = false;
  #isClosed = false;
  #epochKnown: number;
  /** What has to arrive until all is handed over that was lost with that division. */
  #handing = { epoch: 0, beforeLetter: 0 };
  #handedOver = 0;
  /** Others have come or gone while we were there. */
  #comeAndGo = false;
  /** Buckets that others may have crawled before us. */
  readonly #inherited = new Set<number>();

  constructor(parts: TeamParts) {
    this.#parts = parts;
    this.#epochKnown = Number(parts.store.recall(EPOCH) ?? 0);
  }

  get border(): Border | undefined {
    return this.#parts.border;
  }

  get epoch(): number {
    return this.#parts.border?.division.epoch ?? 0;
  }

  /** The highest that this store has heard of, in whatever life. */
  get epochKnown(): number {
    return Math.max(this.#epochKnown, this.epoch);
  }

  /** Up to this epoch all that was ours, and no longer is, has arrived where it belongs. */
  get handedOver(): number {
    const { border, moving } = this.#parts;
    if (border === undefined || moving === undefined) return 0;
    const { next, first } = border.letterNumbers;
    if (moving.isDone && this.#handing.epoch < this.epoch)
      this.#handing = { epoch: this.epoch, beforeLetter: next };
    if (first >= this.#handing.beforeLetter) this.#handedOver = this.#handing.epoch;
    return this.#handedOver;
  }

  /** Whether somebody else may have asked a site shortly before it became ours. */
  isInherited(site: Site): boolean {
    const bucket = this.#parts.border?.bucketOf(`${site.key}/`);
    return bucket !== undefined && this.#inherited.has(bucket);
  }

  /** Whether nothing found here is on its way to others, and nothing has to be handed over. */
  get isQuiet(): boolean {
    const { border, moving } = this.#parts;
    return (border?.isQuiet ?? true) && (moving?.isDone ?? true);
  }

  get isLicensed(): boolean {
    return this.#parts.clock.nowMs() < this.licensedUntilMs;
  }

  /** Buckets that nobody has, and for which something was found here. */
  wanted(countMax: number): readonly number[] {
    return this.#isClosed ? [] : (this.#parts.border?.wanted(countMax) ?? []);
  }

  /** Whether a site may be asked by this process now. */
  mayAsk(site: Site): boolean {
    const { border } = this.#parts;
    if (border === undefined || this.#isCrossing) return true;
    return border.mayCrawl(site.key);
  }

  /** Processes that crawl at the same time, this one included. */
  get #size(): number {
    return this.#parts.border?.division.members.size ?? this.#parts.rules.size;
  }

  /** What it takes to ask a site that others may ask too. */
  shared(site: Site, to: Addressee): Addressee {
    const { sitesAreOwn, siteConcurrencyMax, addressConcurrencyMax } = this.#parts.rules;
    const size = this.#size;
    const turns: SharedTurn[] = [];
    const { address, addressDelayMs, delayMs } = to;
    const siteMax = to.concurrencyMax ?? siteConcurrencyMax;
    const needsAddress =
      address !== undefined && (addressDelayMs > 0 || size > addressConcurrencyMax);
    if (needsAddress) turns.push({ key: `address ${address}`, delayMs: addressDelayMs });
    const needsSite = !sitesAreOwn && (delayMs > 0 || size > siteMax);
    if (needsSite) turns.push({ key: `site ${site.key}`, delayMs });
    return {
      ...to,
      ...(turns.length > 0 ? { shared: turns } : {}),
      // Without a delay all may ask at once, each with its part of the places.
      ...(needsAddress ? {} : { addressConcurrencyMax: Math.floor(addressConcurrencyMax / size) }),
      ...(sitesAreOwn || needsSite ? {} : { concurrencyMax: Math.floor(siteMax / size) }),
    };
  }

  /** Takes a new division of the web into use: what is no longer ours is handed over. */
  divide(division: Division): void {
    const { border, refill, roster, admitSeeds, pump } = this.#parts;
    if (border === undefined || this.#isClosed) return;
    if (division.epoch <= border.division.epoch) return;
    const before = border.division;
    this.#inherit(before, division);
    border.divide(division);
    this.#sendAgain(division);
    if (before.members.size !== division.members.size) this.#shareAnew();
    this.start();
    admitSeeds();
    refill.wakeSites();
    // Of sites that are awake something may have arrived.
    for (const site of roster.inMemory()) if (site.awake) refill.refill(site);
    pump();
  }

  /** What was ours, in an earlier run or until now, and is no longer goes to its owner. */
  start(): void {
    const { border, moving, batch } = this.#parts;
    // Before anybody has said what is whose, nothing is lost.
    if (border === undefined || moving === undefined || this.epoch === 0) return;
    const before = readBuckets(batch.recall(OWNED)) ?? [];
    const owned = new Set(border.owned());
    // A kill while something is handed over must not forget what has become ours meanwhile.
    this.#remember([...owned.union(new Set(before))]);
    moving.begin(new Set(before.filter((bucket) => !owned.has(bucket))), () =>
      this.#remember(border.owned()),
    );
  }

  /** What was sent to somebody who is lost is lost with them: its new owner gets it again. */
  #sendAgain({ epoch, losses }: Division): void {
    const orphaned = new Set<number>();
    for (const loss of losses)
      if (loss.epoch > this.#epochKnown) for (const bucket of loss.buckets) orphaned.add(bucket);
    this.#parts.moving?.sendAgain(orphaned);
    this.#epochKnown = epoch;
    this.#parts.batch.setFact(EPOCH, String(epoch));
  }

  /** Notes what others may have asked just now. */
  #inherit(before: Division, after: Division): void {
    const { self } = this.#parts.border as Border;
    for (const [bucket, owner] of after.owners.entries()) {
      if (owner !== self || before.owners[bucket] === self) continue;
      // One that nobody had in the first division of all nobody has asked.
      const wasAnothers = before.epoch === 0 ? after.epoch > 1 : before.owners[bucket] !== "";
      if (wasAnothers || this.#comeAndGo) this.#inherited.add(bucket);
    }
    // One that nobody has now may have been left behind.
    if (before.members.symmetricDifference(after.members).size > 0) this.#comeAndGo = true;
  }

  /** Others share addresses with us now, or no longer. */
  #shareAnew(): void {
    const { roster, refill } = this.#parts;
    for (const site of roster.inMemory()) if (site.to !== undefined) refill.open(site, site.to);
  }

  /** Takes nothing in any more: who ends must not promise to care for something, nor touch its store. */
  close(): void {
    this.#isClosed = true;
  }

  onParcel(parcel: Parcel): void {
    if (this.#isClosed) return;
    this.#parts.border?.onParcel(parcel);
  }

  onReceipt(receipt: Receipt): void {
    if (this.#isClosed) return;
    this.#parts.border?.onReceipt(receipt);
  }

  /** Nothing is under way. With nothing of its own left, a process that may crosses the border. */
  onIdle(): void {
    const { border, rules, refill } = this.#parts;
    border?.ship();
    if (!rules.crossesOver || this.#isCrossing || this.#hasOwnWork()) return;
    this.#isCrossing = true;
    refill.wakeSites();
  }

  /**
   * Something of a site waits now. Others' sites leave the workbench as soon as it is one of our own, so that no
   * further foreign URL is taken while an own one waits; the requests under way end as they will.
   */
  onWaiting(site: Site): void {
    const { roster, refill, border } = this.#parts;
    if (!this.#isCrossing || border?.mayCrawl(site.key) !== true) return;
    this.#isCrossing = false;
    for (const other of roster.inMemory())
      if (other.awake && border.mayCrawl(other.key) !== true) refill.layAside(other);
  }

  stop(): void {
    this.#isClosed = true;
    this.#parts.border?.stop();
    this.#parts.moving?.stop();
  }

  /** Whether nothing that it asks is shared with others. */
  get holdsNoTurns(): boolean {
    return this.#parts.turns.size === 0;
  }

  wishes(countMax: number): TurnWish[] {
    return this.#parts.turns.wishes(countMax);
  }

  takeGiven(countMax: number): TurnGiven[] {
    return this.#parts.turns.takeGiven(countMax);
  }

  /** Turns that have come, and turns that others want. */
  onTurns(granted: readonly TurnGiven[], recalled: readonly TurnWish[]): void {
    const { turns, clock } = this.#parts;
    const nowMs = clock.nowMs();
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
    const { workbench, pump } = this.#parts;
    if (siteIds.length === 0) return;
    for (const siteId of siteIds) workbench.offerAgain(siteId);
    pump();
  }

  #hasOwnWork(): boolean {
    const { border, roster } = this.#parts;
    for (let afterId = 0; ;) {
      const rows = roster.withWork(afterId, SITES_LOOKED_AT);
      if (rows.some(({ key }) => border?.mayCrawl(key) === true)) return true;
      if (rows.length < SITES_LOOKED_AT) return false;
      afterId = rows.at(-1)?.id ?? afterId;
    }
  }

  #remember(owned: readonly number[]): void {
    this.#parts.batch.setFact(OWNED, JSON.stringify(owned));
  }
}

export function teamOf(
  { turns, rules, border: means }: TeamMeans,
  parts: Omit<TeamParts, "turns" | "rules" | "moving"> &
    Omit<MovingParts, "partition" | "ownsContents" | "border">,
): Team {
  const { border } = parts;
  const moving =
    border === undefined || means === undefined
      ? undefined
      : new Moving({ ...parts, ...means, border });
  return new Team({ ...parts, turns, rules, moving });
}

function readBuckets(text: string | undefined): number[] | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as number[]);
}
