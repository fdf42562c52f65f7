/**
 * A crawling process's side of working together: it reports, and acts only while it has a licence.
 *
 * The licence covers everything that is shared: the rate, the turns at sites and addresses, the part of the web.
 * It ends by the clock of its holder, counted from before it was given; whoever is paused longer, or cut off,
 * wakes up without it and starts nothing until there is a new one.
 */

import type { Clock } from "../base/clock.ts";
import { silentLog, type Log } from "../base/log.ts";
import { below, type Random, systemRandom } from "../base/random.ts";
import type { CrawlHandle } from "../crawl/crawl.ts";
import type { Snapshot } from "../control/snapshot.ts";
import type { Inbox, Membership, Note } from "../exchange/bus.ts";
import { Appetite } from "./appetite.ts";
import {
  asNote,
  COORDINATOR,
  type Exchange,
  type Licence,
  licenceIn,
  lookIn,
  refusalIn,
  type Report,
} from "./notes.ts";
import { readDivision, writeDivision } from "./written-division.ts";
import { writeFingerprints } from "./written-fingerprints.ts";

export interface AgentParts {
  readonly clock: Clock;
  readonly crawl: CrawlHandle;
  readonly bus: Membership;
  readonly log?: Log;
  readonly random?: Random;
  /** Names what is crawled; the same for all who take part. */
  readonly spec?: string;
  /** It may not take part, and why. */
  readonly onRefused?: (why: string) => void;
  readonly onLook?: (snapshot: Snapshot) => void;
  /** Applies a change that an operator made while the crawl runs. */
  readonly change: (key: string, value: string) => void;
}

const REPORT_EVERY_MS = 100;
const REPORT_CALMLY_MS = 400;
const SNAPSHOT_EVERY_MS = 1_000;
const WISHES_MAX = 200;
const POPULAR_AT_ONCE = 200;
/** Whoever wants to end, and has no licence for so long, waits for nobody. */
const ALONE_MS_MAX = 15_000;
const NO_LICENCE = "waiting for work";
const HELD = "paused with all processes: ";

export class Agent {
  readonly #parts: AgentParts;
  readonly #life: string;
  #licence: Licence | undefined;
  /** The latest coordinator that was heard. */
  #leader = -1;
  #untilMs = -Infinity;
  #heldFor = "";
  #change = 0;
  #parcels = 0;
  readonly #appetite: Appetite;
  #snapshotAtMs = -Infinity;
  #cancelTimers: (() => void)[] = [];
  #hasEnded = false;
  #isLeaving = false;
  #wantsStop = "";
  /** Of the popular URLs that all know, those that came with this licence and its renewals. */
  #popularKnown = 0;
  #endsAlone: { readonly why: string; sinceMs: number } | undefined;

  constructor(parts: AgentParts) {
    this.#parts = parts;
    this.#life = below(parts.random ?? systemRandom, 2 ** 48).toString(36);
    this.#appetite = new Appetite(parts.clock.nowMs());
    parts.crawl.hold(NO_LICENCE, true);
    this.#reportOn();
  }

  /** What comes in from the bus. */
  get inbox(): Inbox {
    return {
      onParcel: (parcel) => {
        this.#parcels += 1;
        this.#parts.crawl.team?.onParcel(parcel);
      },
      onReceipt: (receipt) => this.#parts.crawl.team?.onReceipt(receipt),
      onNote: (from, note) => this.#onNote(from, note),
    };
  }

  /** Whether somebody has said that it may act, and how long ago that was true at least. */
  get isLicensed(): boolean {
    return this.#licence !== undefined && this.#parts.clock.nowMs() < this.#untilMs;
  }

  /** Whether it has taken part, in this life. */
  get hasTakenPart(): boolean {
    return this.#leader >= 0;
  }

  /** Hands over what it has, and goes when that is done; with what it has where nobody is there to take it. */
  leave(why: string): void {
    this.#isLeaving = true;
    this.#wantsToEnd(why);
  }

  /** Asks that the crawl of all be stopped. */
  askToStop(why: string): void {
    this.#wantsStop = why;
    this.#wantsToEnd(why);
    this.#report();
  }

  #wantsToEnd(why: string): void {
    this.#endsAlone = { why, sinceMs: this.#parts.clock.nowMs() };
  }

  /** Says its last word. */
  stop(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#report();
    for (const cancel of this.#cancelTimers) cancel();
  }

  #reportOn(): void {
    if (this.#hasEnded) return;
    this.#lapseIfOver();
    this.#endIfAlone();
    this.#report();
    const everyMs = this.#isInNoHurry ? REPORT_CALMLY_MS : REPORT_EVERY_MS;
    this.#cancelTimers = [this.#parts.clock.after(everyMs, () => this.#reportOn())];
  }

  /** Nothing is shared that others might wait for: no rate, no turns, and there is work. */
  get #isInNoHurry(): boolean {
    const { crawl } = this.#parts;
    const hasLicence = this.#licence !== undefined && this.#licence.limitBps === null;
    return hasLicence && !crawl.isIdle && (crawl.team?.holdsNoTurns ?? true);
  }

  #report(): void {
    const { clock, crawl, bus } = this.#parts;
    const nowMs = clock.nowMs();
    const { team } = crawl;
    const { known, pending, unreachable, pages, receivedBytes, waitingReaders, neededBps } =
      crawl.pulse();
    const isShown = this.#hasEnded || nowMs - this.#snapshotAtMs >= SNAPSHOT_EVERY_MS;
    if (isShown) this.#snapshotAtMs = nowMs;
    const isQuiet = team?.isQuiet ?? true;
    const isSated = crawl.isIdle && pending > 0 && crawl.isSated;
    // What waits here may be on its way to us still: until it has arrived there is nothing to do.
    const isDry = crawl.isIdle && !isSated;
    const limitBps = this.#licence?.limitBps ?? Infinity;
    const report: Report = {
      kind: "report",
      spec: this.#parts.spec ?? "",
      isLeaving: this.#isLeaving,
      wantsStop: this.#wantsStop,
      hasEnded: this.#hasEnded,
      life: this.#life,
      sentAtMs: nowMs,
      leader: this.#leader,
      term: this.#licence?.term ?? 0,
      grant: this.#licence?.grant ?? 0,
      epoch: team?.epoch ?? 0,
      epochKnown: team?.epochKnown ?? 0,
      handedOver: team?.handedOver ?? 0,
      wave: this.#licence?.wave ?? 0,
      activity: 2 * known - pending + this.#parcels,
      isDone: ((isDry && pending === 0) || isSated || crawl.isOutOfPatience) && isQuiet,
      unreachable: crawl.isOutOfPatience ? unreachable : 0,
      isDry,
      isSated,
      pages,
      neededBps,
      ...this.#appetite.look(nowMs, receivedBytes, { limitBps, waitingReaders, isDry }),
      wishes: team?.wishes(WISHES_MAX) ?? [],
      given: team?.takeGiven(WISHES_MAX) ?? [],
      wanted: team?.wanted(WISHES_MAX) ?? [],
      popular: team?.popularFound?.take(POPULAR_AT_ONCE) ?? [],
      popularKnown: this.#popularKnown,
      exchange: this.#exchange(),
      leastPages: this.#hasEnded ? writeFingerprints(crawl.leastPages) : "",
      change: this.#change,
      snapshot: isShown ? crawl.snapshot() : null,
    };
    bus.tell(COORDINATOR, asNote(report));
    const division = team?.division;
    if (isShown && !this.isLicensed && division !== undefined && division.epoch > 0)
      bus.tell(COORDINATOR, asNote({ kind: "known", division: writeDivision(division) }));
  }

  #exchange(): Exchange {
    const { team } = this.#parts.crawl;
    const none = { urlsSent: 0, urlsReceived: 0, sentBytes: 0, pagesSent: 0, sentTo: {} };
    return { ...(team?.traffic ?? none), letters: team?.lettersWaiting ?? 0 };
  }

  #onNote(from: string, note: Note): void {
    if (from !== COORDINATOR) return;
    const look = lookIn(note);
    if (look !== undefined) return this.#parts.onLook?.(look.snapshot);
    if (this.#hasEnded) return;
    const refusal = refusalIn(note);
    if (refusal !== undefined) {
      if (refusal.life === this.#life) this.#parts.onRefused?.(refusal.why);
      return;
    }
    const licence = licenceIn(note);
    if (licence !== undefined) this.#onLicence(licence);
  }

  #onLicence(licence: Licence): void {
    const nowMs = this.#parts.clock.nowMs();
    const untilMs = licence.answers + licence.forMs;
    const before = this.#licence;
    const isOfSame = before !== undefined && licence.leader === before.leader;
    const isOld = licence.leader < this.#leader || (isOfSame && licence.grant <= before.grant);
    if (isOld || untilMs <= nowMs) return;
    this.#lapseIfOver();
    if (before !== undefined && !(isOfSame && before.term === licence.term)) this.#lapse();
    this.#leader = licence.leader;
    this.#licence = licence;
    this.#licenseUntil(untilMs);
    this.#apply(licence, before);
  }

  #apply(licence: Licence, before: Licence | undefined): void {
    const { crawl, bus, change } = this.#parts;
    const { limitBps, wholeBps, pagesMax, division, granted, recalled, held, popular } = licence;
    if (before?.term !== licence.term) this.#popularKnown = 0;
    crawl.team?.popularFound?.learn(popular);
    this.#popularKnown += popular.length;
    const isSame = limitBps === before?.limitBps && wholeBps === before.wholeBps;
    if (before === undefined || !isSame)
      crawl.setLimit(limitBps ?? undefined, wholeBps ?? undefined);
    if (pagesMax !== null && pagesMax !== before?.pagesMax) crawl.setPages(pagesMax);
    if (division !== null) crawl.team?.divide(readDivision(division));
    for (const { number, key, value } of licence.changes) {
      if (number <= this.#change) continue;
      this.#change = number;
      change(key, value);
    }
    if (held !== this.#heldFor) {
      if (this.#heldFor !== "") crawl.hold(HELD + this.#heldFor, false);
      if (held !== "") crawl.hold(HELD + held, true);
      this.#heldFor = held;
    }
    crawl.hold(NO_LICENCE, false);
    if (granted.length + recalled.length > 0) crawl.team?.onTurns(granted, recalled);
    const isLess =
      (limitBps ?? Infinity) < (before?.limitBps ?? Infinity) ||
      (pagesMax ?? Infinity) < (before?.pagesMax ?? Infinity);
    const { leader, grant } = licence;
    if (isLess) bus.tell(COORDINATOR, asNote({ kind: "heard", leader, grant }));
    if (licence.end === "finish") crawl.finish();
    if (licence.end === "stop") crawl.stop(licence.why);
  }

  /** Where nobody leads nobody can be told: it stops by itself, and the same command goes on. */
  #endIfAlone(): void {
    const ends = this.#endsAlone;
    if (ends === undefined) return;
    const nowMs = this.#parts.clock.nowMs();
    if (this.isLicensed) ends.sinceMs = nowMs;
    else if (nowMs - ends.sinceMs >= ALONE_MS_MAX) this.#parts.crawl.stop(ends.why);
  }

  #lapseIfOver(): void {
    if (this.#licence !== undefined && this.#parts.clock.nowMs() >= this.#untilMs) this.#lapse();
  }

  #lapse(): void {
    const { crawl, log = silentLog } = this.#parts;
    log.write({ level: "info", message: "the lease has expired", values: {} });
    this.#licence = undefined;
    this.#licenseUntil(-Infinity);
    crawl.hold(NO_LICENCE, true);
    crawl.team?.lapse();
  }

  #licenseUntil(untilMs: number): void {
    this.#untilMs = untilMs;
    const { team } = this.#parts.crawl;
    if (team !== undefined) team.licensedUntilMs = untilMs;
  }
}
