/**
 * A crawling process's side of the coordination: it reports, and acts only while it has a licence.
 *
 * The licence covers everything shared: the rate, the turns at sites and IP addresses, the part of the web. It ends by
 * the clock of its holder, counted from before it was given. A process that hears of no leader then continues alone with
 * what it holds, for as long as no other process can have taken it over; after that it starts nothing until it has a
 * new licence.
 */

import type { Clock } from "../base/clock.ts";
import { silentLog, type Log } from "../base/log.ts";
import { below, type Random, systemRandom } from "../base/random.ts";
import type { CrawlHandle } from "../crawl/crawl.ts";
import type { CrawlResult } from "../control/snapshot.ts";
import type { Inbox, Membership, ControlMessage } from "../exchange/bus.ts";
import { type Change, CHANGES_MAX, isMadeByEach } from "./change-list.ts";
import { ChangeRequests } from "./change-requests.ts";
import { forMessage, resultForMessage } from "./bounded-snapshot.ts";
import { MessageReader } from "./message-reader.ts";
import { UsageEstimate } from "./usage.ts";
import {
  ALONE_FALL_MS,
  asControlMessage,
  COORDINATOR,
  type Exchange,
  type Licence,
  type Look,
  type Report,
} from "./messages.ts";
import { readDivision, writeDivision, type WrittenDivision } from "./division-codec.ts";
import { writeFingerprints } from "./fingerprint-codec.ts";

interface WorkerParts {
  readonly clock: Clock;
  readonly crawl: CrawlHandle;
  readonly bus: Membership;
  readonly log?: Log;
  readonly random?: Random;
  /** Digest of what is crawled, the same for all processes. */
  readonly spec?: string;
  /** Called with the reason if the process may not take part. */
  readonly onRefused?: (why: string) => void;
  readonly onLook?: (look: Look) => void;
  /** Applies a change that an operator made while the crawl runs. */
  readonly change: (key: string, value: string) => void;
}

const REPORT_EVERY_MS = 100;
const REPORT_CALMLY_MS = 400;
const SNAPSHOT_EVERY_MS = 1_000;
/** Counting the waiting URLs reads from the store. */
const WAITING_EVERY_MS = 200;
const BUCKETS_REPORTED_MAX = 256;
const WISHES_MAX = 200;
const POPULAR_AT_ONCE = 200;
/** A process that is to end, and has had no licence for this long, ends without the others. */
const ALONE_MS_MAX = 15_000;
const NO_LICENCE = "waiting for work";
export const LAPSED = "the lease has expired";
const ALONE = "no leader is heard of: this process continues alone";
const HELD = "paused with all processes: ";

export class Worker {
  readonly #parts: WorkerParts;
  readonly #life: string;
  #licence: Licence | undefined;
  /** Term of the latest coordinator; −1 before the first licence. */
  #leader = -1;
  #untilMs = -Infinity;
  #isAlone = false;
  #hasTurns = false;
  /** The term of the last licence that ended, of the latest coordinator. */
  #lapsedTerm = 0;
  #heldFor = "";
  /** All changes made so far. */
  #changes: readonly Change[] = [];
  readonly #requests: ChangeRequests;
  #parcels = 0;
  readonly #usage: UsageEstimate;
  readonly #reader: MessageReader;
  #snapshotAtMs = -Infinity;
  #waitingAtMs = -Infinity;
  #cancelTimers: (() => void)[] = [];
  #hasEnded = false;
  #result: CrawlResult | undefined;
  #isLeaving = false;
  #wantsStop = "";
  /** Popular URLs received with this licence and its renewals. */
  #popularKnown = 0;
  #endsAlone: { readonly why: string; sinceMs: number } | undefined;

  constructor(parts: WorkerParts) {
    this.#parts = parts;
    const { clock, random = systemRandom } = parts;
    this.#life = below(random, 2 ** 48).toString(36);
    this.#requests = new ChangeRequests(clock, random);
    this.#usage = new UsageEstimate(clock.nowMs());
    this.#reader = new MessageReader(parts.log ?? silentLog);
    parts.crawl.hold(NO_LICENCE, true);
    this.#reportOn();
  }

  /** Takes messages from the bus. */
  get inbox(): Inbox {
    return {
      onParcel: (parcel) => {
        this.#parcels += 1;
        this.#parts.crawl.team?.onParcel(parcel);
      },
      onReceipt: (receipt) => this.#parts.crawl.team?.onReceipt(receipt),
      onMessage: (from, control) => this.#onMessage(from, control),
    };
  }

  /** Whether it may act. */
  get isLicensed(): boolean {
    return this.#licence !== undefined && this.#parts.clock.nowMs() < this.#untilMs;
  }

  /** Whether it has taken part, in this life. */
  get hasTakenPart(): boolean {
    return this.#leader >= 0;
  }

  /** Hands over its part and then ends; if no other process can take the part, it stays in this store. */
  leave(why: string): void {
    this.#isLeaving = true;
    this.#wantsToEnd(why);
  }

  /** Requests that all processes stop. */
  askToStop(why: string): void {
    this.#wantsStop = why;
    this.#wantsToEnd(why);
    this.#report();
  }

  /** All changes that this process knows. */
  get changes(): readonly Change[] {
    return this.#changes;
  }

  /** Requests a change of the whole crawl, and resolves when all processes have confirmed it. */
  request(key: string, value: string): Promise<string> {
    const confirmed = this.#requests.request(key, value);
    this.#report();
    return confirmed;
  }

  #wantsToEnd(why: string): void {
    this.#endsAlone = { why, sinceMs: this.#parts.clock.nowMs() };
  }

  /** Sends its last report. */
  stop(result?: CrawlResult): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#result = result;
    this.#report();
    this.#requests.close();
    for (const cancel of this.#cancelTimers) cancel();
  }

  #reportOn(): void {
    if (this.#hasEnded) return;
    this.#lapseIfOver();
    this.#fallIfAlone();
    this.#endIfAlone();
    this.#report();
    const everyMs = this.#isInNoHurry ? REPORT_CALMLY_MS : REPORT_EVERY_MS;
    this.#cancelTimers = [this.#parts.clock.after(everyMs, () => this.#reportOn())];
  }

  /** No other process waits for its report: no rate or turn is shared, and it has work. */
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
    // A part in transit to this process gives no work until it has arrived.
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
      ...this.#usage.look(nowMs, receivedBytes, { limitBps, waitingReaders, isDry }),
      wishes: team?.wishes(WISHES_MAX) ?? [],
      held: team?.undeclaredTurns(WISHES_MAX) ?? [],
      heldBps: this.#licence === undefined ? 0 : this.#rateNow(nowMs, this.#licence),
      given: team?.takeGiven(WISHES_MAX) ?? [],
      waiting: this.#waiting(nowMs),
      popular: team?.popularFound?.take(POPULAR_AT_ONCE) ?? [],
      popularKnown: this.#popularKnown,
      exchange: this.#exchange(),
      leastPages: this.#hasEnded ? writeFingerprints(crawl.leastPages) : "",
      result: this.#result === undefined ? null : resultForMessage(this.#result),
      isWatching: this.#parts.onLook !== undefined,
      change: this.#changes.at(-1)?.number ?? 0,
      requests: this.#requests.open,
      droppedMessages: this.#reader.dropped,
      snapshot: isShown ? forMessage(crawl.snapshot()) : null,
    };
    bus.tell(COORDINATOR, asControlMessage(report));
    const division = team?.division;
    if (isShown && !this.isLicensed && division !== undefined && division.epoch > 0)
      bus.tell(
        COORDINATOR,
        asControlMessage({
          kind: "known",
          division: writeDivision(division),
          changes: this.#changes,
        }),
      );
  }

  #waiting(nowMs: number): Report["waiting"] {
    if (nowMs - this.#waitingAtMs < WAITING_EVERY_MS) return null;
    this.#waitingAtMs = nowMs;
    return this.#parts.crawl.team?.waiting(BUCKETS_REPORTED_MAX) ?? [];
  }

  #exchange(): Exchange {
    const { team } = this.#parts.crawl;
    const none = { urlsSent: 0, urlsReceived: 0, sentBytes: 0, pagesSent: 0, sentTo: {} };
    return { ...(team?.traffic ?? none), messages: team?.messagesWaiting ?? 0 };
  }

  #onMessage(from: string, control: ControlMessage): void {
    if (from !== COORDINATOR) return;
    const message = this.#reader.read(from, control);
    if (message?.kind === "look") return this.#parts.onLook?.(message);
    if (this.#hasEnded) return;
    if (message?.kind === "refusal" && message.life === this.#life)
      this.#parts.onRefused?.(message.why);
    if (message?.kind === "licence") this.#onLicence(message);
  }

  #onLicence(licence: Licence): void {
    const nowMs = this.#parts.clock.nowMs();
    const untilMs = licence.answers + licence.forMs;
    this.#lapseIfOver();
    const before = this.#licence;
    const isOfSame = before !== undefined && licence.leader === before.leader;
    // What was granted before its licence ended is void.
    const isVoid = licence.leader === this.#leader && licence.term <= this.#lapsedTerm;
    const isOld = licence.leader < this.#leader || (isOfSame && licence.grant <= before.grant);
    // A licence that answers a report from the future would not end.
    const isOther = licence.life !== this.#life;
    if (isOther || isVoid || isOld || untilMs <= nowMs || licence.answers > nowMs) return;
    const isNext = before !== undefined && licence.leader > before.leader;
    // A later leader adopts what its predecessors granted.
    if (isNext) this.#parts.crawl.team?.declareTurns();
    else if (before !== undefined && before.term !== licence.term) this.#lapse();
    if (licence.leader !== this.#leader) this.#lapsedTerm = 0;
    this.#leader = licence.leader;
    this.#licence = licence;
    this.#untilMs = untilMs;
    this.#hasTurns = true;
    this.#mayActUntil(untilMs + licence.turnsAloneMs);
    this.#apply(licence, before);
  }

  #apply(licence: Licence, before: Licence | undefined): void {
    const { crawl, bus, change } = this.#parts;
    const { limitBps, wholeBps, pagesMax, division, granted, recalled, held, popular } = licence;
    if (before?.term !== licence.term) this.#popularKnown = 0;
    crawl.team?.popularFound?.learn(popular);
    this.#popularKnown += popular.length;
    const isSame = limitBps === before?.limitBps && wholeBps === before.wholeBps && !this.#isAlone;
    this.#isAlone = false;
    if (before === undefined || !isSame)
      crawl.setLimit(limitBps ?? undefined, wholeBps ?? undefined);
    if (pagesMax !== null && pagesMax !== before?.pagesMax) crawl.setPages(pagesMax);
    this.#divide(division);
    for (const one of licence.changes) {
      if (one.number <= (this.#changes.at(-1)?.number ?? 0)) continue;
      this.#changes = [...this.#changes, one].slice(-CHANGES_MAX);
      if (isMadeByEach(one.key)) change(one.key, one.value);
    }
    for (const outcome of licence.outcomes) this.#requests.onOutcome(outcome);
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
    if (isLess) bus.tell(COORDINATOR, asControlMessage({ kind: "heard", leader, grant }));
    if (licence.end === "finish") crawl.finish();
    if (licence.end === "stop") crawl.stop(licence.why);
  }

  #divide(written: WrittenDivision | null): void {
    const { team } = this.#parts.crawl;
    const division = written === null ? undefined : readDivision(written);
    // A different number of buckets belongs to another crawl.
    if (division?.owners.length === team?.division?.owners.length && division !== undefined)
      team?.divide(division);
  }

  /** Without a leader it stops by itself; the same command resumes. */
  #endIfAlone(): void {
    const ends = this.#endsAlone;
    if (ends === undefined) return;
    const nowMs = this.#parts.clock.nowMs();
    if (this.isLicensed) ends.sinceMs = nowMs;
    else if (nowMs - ends.sinceMs >= ALONE_MS_MAX) this.#parts.crawl.stop(ends.why);
  }

  #lapseIfOver(): void {
    const nowMs = this.#parts.clock.nowMs();
    if (this.#licence !== undefined && nowMs >= this.#untilMs + this.#licence.aloneMs)
      this.#lapse();
  }

  /** Without a leader it continues with what it holds, at a rate that falls to its part of the limit. */
  #fallIfAlone(): void {
    const nowMs = this.#parts.clock.nowMs();
    const licence = this.#licence;
    if (licence === undefined || nowMs < this.#untilMs) return;
    if (!this.#isAlone) {
      const { log = silentLog } = this.#parts;
      log.write({ level: "warn", message: ALONE, values: { minutes: licence.aloneMs / 60_000 } });
    }
    this.#isAlone = true;
    // Nothing starts between the end of its turns and this moment, however late it comes.
    if (this.#hasTurns && nowMs >= this.#untilMs + licence.turnsAloneMs) {
      this.#hasTurns = false;
      this.#parts.crawl.team?.lapse();
      this.#mayActUntil(this.#untilMs + licence.aloneMs);
    }
    const rateBps = this.#rateNow(nowMs, licence);
    if (rateBps !== null) this.#parts.crawl.setLimit(rateBps, licence.wholeBps ?? undefined);
  }

  #rateNow(nowMs: number, { limitBps, aloneBps, aloneMs }: Licence): number | null {
    if (limitBps === null || aloneBps === null) return null;
    const fallMs = Math.min(ALONE_FALL_MS, aloneMs);
    const share = Math.min(1, Math.max(0, nowMs - this.#untilMs) / Math.max(1, fallMs));
    return limitBps - (limitBps - aloneBps) * share;
  }

  #lapse(): void {
    const { crawl, log = silentLog } = this.#parts;
    log.write({ level: "info", message: LAPSED, values: {} });
    this.#lapsedTerm = this.#licence?.term ?? 0;
    this.#licence = undefined;
    this.#isAlone = false;
    this.#untilMs = -Infinity;
    this.#mayActUntil(-Infinity);
    crawl.hold(NO_LICENCE, true);
    crawl.team?.lapse();
  }

  #mayActUntil(untilMs: number): void {
    const { team } = this.#parts.crawl;
    if (team !== undefined) team.licensedUntilMs = untilMs;
  }
}
