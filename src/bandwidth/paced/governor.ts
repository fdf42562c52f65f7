/**
 * Fills one rate to the brim and never spills: our own way of holding the limit, `paced`.
 *
 * Three things at once. The first bytes of an answer come before anybody can refuse them, so they
 * are paid for when the request goes out. The rest of a body is read in steps of a window, each
 * paid for before it is read, so that TCP slows the sender down. And enough downloads are kept open
 * that there is always somebody to grant the next step to: the stock that can come soon is held at
 * what the pipe takes meanwhile, and a margin that grows with the square root of the sizes, as one
 * staffs a counter for customers who come by chance.
 *
 * Predictions only choose how many downloads are open. When they are wrong the pipe runs dry, and
 * the stock is raised until it no longer does; the bound never rests on them.
 *
 * Promises, each held by a test in `governor.test.ts`:
 *   1. bytes by any moment <= burst + rate * time + one window for each download under way;
 *   2. with work for it, the rate is taken in full, whatever was predicted;
 *   3. no burst at the start, after a pause, after a jump of the clock, at a change of the limit;
 *   4. a site never takes more than its own limit, and nobody else waits for it;
 *   5. with an order, nobody reads on while one that ranks before it waits;
 *   6. nobody is passed over for longer than was agreed because enough is under way.
 *
 * O(1) a piece; O(downloads) twenty times a second, for each that waits for its own site, and a piece
 * where there is an order.
 */

import { assert } from "../../base/assert.ts";
import { type Account, atRate } from "./account.ts";
import type { Candidate, Controller, Flow, RankOf } from "../controller.ts";
import { Advances } from "./advances.ts";
import { atOnceBytes, Departures, isQuick, type OnTheWay } from "./departures.ts";
import { Greetings } from "./greetings.ts";
import { pacedFlow, type PacedFlow, unarrivedBytes } from "./paced-flow.ts";
import { SiteAccounts } from "./site-accounts.ts";
import {
  aheadBytes,
  endsInWindow,
  firstBytes,
  owedBytes,
  stepBytes,
  trickles,
  UNASKED_SHARE,
} from "./steps.ts";
import { type Let, PACKET_BYTES, Stock } from "./stock.ts";
import { Waiting } from "./waiting.ts";

/** What is aimed at, and reached: what cannot be foreseen comes on top of it, a few hundredths in a second. */
export const AIM_SHARE = 0.99;
const BURST_SHARE = 0.015;
/** From here on a crawl keeps its own thread so busy that it looks at the line less often. */
const BUSY_BPS = 5e6;
const BUSY_BURST_SHARE = 0.035;
/** How far below zero a request may bring the balance. */
const DEBT_SHARE = 0.03;
/** Of what is owed, so much is not asked for: slow answers take a while, and all of it at once would swing. */
const OWED_SHARE = 0.5;
const ADAPT_EVERY_MS = 50;
const ASK_AGAIN_MS = 10;
/** Who need not pay at once is looked for if there was one lately. */
const UNPAID_MS = 1000;
const SYSTEM_WINDOW_BYTES = 65_536;
/** So few are under way that all their windows together hold no more than this part of a second. */
const HELD_SHARE = 0.05;

export class Governor implements Controller {
  readonly #passedOverMaxMs: number;
  #account: Account | undefined;
  readonly #greetings = new Greetings();
  /** What a connection takes in before anybody reads, and again after each reading. */
  #unaskedBytes = SYSTEM_WINDOW_BYTES;
  readonly #sites = new SiteAccounts(BURST_SHARE);
  readonly #waiting = new Waiting(this.#sites, () => this.#account?.rateBps ?? 0);
  readonly #departures = new Departures();
  readonly #advances = new Advances<PacedFlow>();
  readonly #stock = new Stock<PacedFlow>((flow) => this.#letOf(flow));
  #adaptedAtMs = 0;
  #isRefusing = false;
  /** When somebody was last refused because enough is under way. */
  #stockedAtMs = -Infinity;
  /** When somebody last asked who need not pay before it comes. */
  #unpaidAtMs = -Infinity;

  /** `passedOverMaxMs`: who was passed over for so long begins, also where enough is under way. */
  constructor(nowMs: number, limitBps: number | undefined, passedOverMaxMs = Infinity) {
    this.#passedOverMaxMs = passedOverMaxMs;
    this.setLimit(nowMs, limitBps);
  }

  get predictedBps(): number {
    return Math.min(
      this.#account?.rateBps ?? Infinity,
      this.#stock.bytes / this.#stock.horizonSeconds,
    );
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Of a fast line a window is little, and to ask for each at once would take a tenth of the program's time. */
  get wantsUnread(): "at once" | "later" {
    return (this.#account?.rateBps ?? Infinity) < BUSY_BPS ? "at once" : "later";
  }

  isHungry(nowMs: number): boolean {
    const heldBytes = 2 * this.#unaskedBytes * this.#stock.flows.size;
    const heldBytesMax = HELD_SHARE * (this.#account?.rateBps ?? Infinity);
    const areFew = heldBytes > 0 && heldBytes <= heldBytesMax;
    return areFew && !this.#isRefusing && this.#isDry(nowMs);
  }

  setLimit(nowMs: number, limitBps: number | undefined): void {
    this.#departures.setRate(nowMs, limitBps);
    this.#account =
      limitBps === undefined
        ? undefined
        : atRate(nowMs, this.#account, limitBps * AIM_SHARE, burstShare(limitBps));
  }

  setWindow(windowBytes: number | undefined): void {
    this.#unaskedBytes =
      windowBytes === undefined ? SYSTEM_WINDOW_BYTES : windowBytes * UNASKED_SHARE;
    // Connections are widened and narrowed with their downloads under way.
    for (const flow of this.#stock.flows) flow.windowBytes = this.#unaskedBytes / UNASKED_SHARE;
  }

  setSiteLimit(nowMs: number, siteId: number, limitBps: number | undefined): void {
    const busy = (): Set<number> => new Set(Array.from(this.#stock.flows, (flow) => flow.siteId));
    this.#sites.setRate(nowMs, siteId, limitBps, busy);
  }

  setOrder(rankOf: RankOf | undefined): void {
    this.#waiting.turns.setOrder(rankOf);
  }

  siteHasRoom(nowMs: number, siteId: number): boolean {
    const hasRoom = this.#sites.mayRead(nowMs, { siteId });
    if (!hasRoom) this.#isRefusing = true;
    return hasRoom;
  }

  isShut(nowMs: number): boolean {
    this.#adapt(nowMs);
    const debtBytesMax = (this.#account?.rateBps ?? 0) * DEBT_SHARE;
    const mustPay = nowMs - this.#unpaidAtMs > UNPAID_MS;
    const isShut =
      this.#departures.areSpaced(nowMs) ||
      (mustPay && this.#account?.mayBegin(nowMs, -debtBytesMax) === false);
    if (isShut) this.#isRefusing = true;
    return isShut;
  }

  admits(nowMs: number, candidate: Candidate): boolean {
    this.#adapt(nowMs);
    const admitted = this.#sites.mayRead(nowMs, candidate) && this.#hasRoom(nowMs, candidate);
    this.#isRefusing = !admitted;
    return admitted;
  }

  begin(nowMs: number, candidate: Candidate): Flow {
    const flow = pacedFlow(nowMs, candidate, this.#unaskedBytes / UNASKED_SHARE);
    const onTheWay = this.#onTheWay(candidate, this.#stock.bytes);
    this.#stock.add(nowMs, flow);
    this.#departures.left(flow, onTheWay);
    flow.grantedBytes = atOnceBytes(candidate, onTheWay);
    if (flow.grantedBytes > 0) {
      this.#pay(flow, aheadBytes(nowMs, flow, flow.grantedBytes));
      this.#advances.asked(nowMs, flow);
    }
    return flow;
  }

  came(nowMs: number, flow: Flow, bytes: number, isGreeting = false): boolean {
    const own = this.#own(flow);
    own.receivedBytes += bytes;
    if (isGreeting) own.greetingBytes += bytes;
    else if (own.announcedBytes !== undefined || answerBytes(own) > PACKET_BYTES)
      this.#answered(nowMs, own, own.receivedBytes - bytes);
    own.movedAtMs = nowMs;
    this.#stock.count(nowMs, own);
    const isGranted = own.isAnswered
      ? own.receivedBytes < own.grantedBytes && this.#needsNoTurn(nowMs, own)
      : this.#greetings.mayGoOn(own);
    const goesFirst = (): boolean => this.#waiting.goesFirst(nowMs, own) && this.#mayReadAny(nowMs);
    if (isGranted || goesFirst()) {
      // What was paid beyond that lies in the window, and is read next.
      this.#pay(own, Math.max(0, own.receivedBytes - own.paidBytes));
      return true;
    }
    // Unread, it goes on coming until the window is full. Whether more was paid for than lies there, the system tells.
    this.#pay(own, Math.max(0, owedBytes(own)));
    if (endsInWindow(own)) return true;
    this.#waiting.add(nowMs, own);
    own.waitsSinceMs = nowMs;
    this.#stock.count(nowMs, own);
    return false;
  }

  /** Paid for, or a packet now and then of one that is known to be slow: to make it wait would disturb more than it. */
  #needsNoTurn(nowMs: number, own: PacedFlow): boolean {
    return own.paidBytes >= own.receivedBytes || trickles(nowMs, own);
  }

  announce(nowMs: number, flow: Flow, bytes: number | undefined): void {
    const own = this.#own(flow);
    own.announcedBytes = bytes === undefined ? undefined : own.greetingBytes + bytes;
    // A header alone is no response yet: the body that it announces is still due.
    const isDue = own.announcedBytes !== undefined && own.receivedBytes < own.announcedBytes;
    if (!isDue) this.#answered(nowMs, own);
    // It was made to wait before anybody knew how little is left of it.
    if (!this.#waiting.has(own)) return;
    this.#pay(own, owedBytes(own));
    if (endsInWindow(own)) this.#waiting.letEnd(own);
  }

  cameBeside(nowMs: number, bytes: number): void {
    this.#account?.balanceBytes(nowMs);
    this.#account?.spend(bytes);
  }

  carried(nowMs: number, lineBytes: number | undefined): void {
    this.#account?.carried(nowMs, lineBytes, unarrivedBytes(this.#stock.flows));
  }

  liesUnread(flow: Flow, bytes: number, mayBeMore: boolean): void {
    const own = this.#own(flow);
    if (!this.#waiting.has(own)) return;
    const unpaidBytes = own.receivedBytes + bytes - own.paidBytes;
    this.#pay(own, mayBeMore ? Math.max(0, unpaidBytes) : unpaidBytes);
  }

  next(nowMs: number): Flow | undefined {
    const ending = this.#waiting.takeEnding();
    if (ending !== undefined) {
      this.#goesOn(nowMs, ending);
      return ending;
    }
    this.#waiting.look(nowMs);
    if (this.#waiting.turns.size === 0 || !this.#mayReadAny(nowMs)) return undefined;
    const flow = this.#waiting.takeFirst(nowMs);
    return flow === undefined ? undefined : this.#grant(nowMs, flow);
  }

  #grant(nowMs: number, flow: PacedFlow): Flow {
    flow.cameBytes = flow.paidBytes;
    this.#goesOn(nowMs, flow);
    const rates = { rateBps: this.#account?.rateBps ?? 0, siteBps: this.#sites.rateBps(flow) };
    const grantBytes = stepBytes(nowMs, flow, rates);
    flow.grantedBytes = flow.receivedBytes + grantBytes;
    this.#pay(flow, aheadBytes(nowMs, flow, grantBytes));
    this.#advances.granted(nowMs, flow);
    if (flow.turnSinceMs === undefined) {
      flow.turnSinceMs = nowMs;
      flow.turnFromBytes = flow.receivedBytes;
    }
    return flow;
  }

  /** It no longer waits, and what it waited is no time it took. */
  #goesOn(nowMs: number, flow: PacedFlow): void {
    if (flow.turnSinceMs !== undefined) flow.turnSinceMs += nowMs - (flow.waitsSinceMs ?? nowMs);
    flow.waitsSinceMs = undefined;
    flow.movedAtMs = nowMs;
    this.#stock.count(nowMs, flow);
  }

  end(nowMs: number, flow: Flow): void {
    const own = this.#own(flow);
    // A small answer over TLS is in one record, which was taken for a part of the greeting until it was whole.
    if (own.receivedBytes > 0) this.#answered(nowMs, own);
    this.#departures.ended(own);
    for (const list of [this.#stock, this.#waiting, this.#advances]) list.delete(own);
    this.#pay(own, own.receivedBytes - own.paidBytes);
  }

  nextAtMs(nowMs: number): number {
    const rateAtMs = (): number => this.#account?.hasSomeAtMs(nowMs) ?? nowMs;
    const askAtMs = this.#isRefusing ? nowMs + ASK_AGAIN_MS : Infinity;
    return Math.max(nowMs, Math.min(askAtMs, this.#waiting.nextAtMs(nowMs, rateAtMs)));
  }

  /** `turnFromBytes`: received before the bytes that show that the body has begun. */
  #answered(nowMs: number, own: PacedFlow, turnFromBytes = own.receivedBytes): void {
    if (own.isAnswered) return;
    own.isAnswered = true;
    this.#greetings.learn(own);
    this.#departures.answered(own);
    this.#advances.answered(nowMs, own);
    this.#stock.answered(nowMs, own);
    own.turnSinceMs = nowMs;
    own.turnFromBytes = turnFromBytes;
  }

  /** Too little that can come soon, and, for what comes at once, something to pay it with. */
  #hasRoom(nowMs: number, candidate: Candidate): boolean {
    if (this.#account === undefined) return true;
    // Its first bytes could not be refused, and would come out of what the others wait for.
    if (this.#waiting.turns.isBefore(candidate.siteId)) return false;
    // Answers of slow servers pay when they come, so what came of them beyond the rate is made up for by asking for less.
    const owedBytes = isQuick(candidate) ? 0 : OWED_SHARE * this.#account.owedBytes(nowMs);
    const onTheWay = this.#onTheWay(candidate, this.#stockBefore(candidate) + owedBytes);
    const isStocked = onTheWay.stockShare >= 1;
    if (isStocked) this.#stockedAtMs = nowMs;
    if (isStocked && candidate.passedOverMs < this.#passedOverMaxMs) return false;
    if (!this.#departures.hasRoom(nowMs, candidate, onTheWay)) return false;
    const bytes = atOnceBytes(candidate, onTheWay);
    if (bytes === 0) {
      this.#unpaidAtMs = nowMs;
      return true;
    }
    // Goes before those that wait to read on, who need a balance: they would use it up for ever.
    const { rateBps } = onTheWay;
    const neededBytes = bytes - rateBps * DEBT_SHARE;
    // Of a very small limit no more than the burst can be saved up.
    return this.#account.mayBegin(
      nowMs,
      Math.min(neededBytes, (rateBps * burstShare(rateBps)) / 2),
    );
  }

  #onTheWay(candidate: Candidate, stockBytes: number): OnTheWay {
    const rateBps = this.#account?.rateBps ?? Infinity;
    const wantedBytes = this.#stock.wantedBytes(rateBps, candidate.expectedBytes);
    const { isTried } = this.#stock;
    return {
      rateBps,
      stockShare: stockBytes / wantedBytes,
      firstBytes: firstBytes(this.#greetings.answerBytes(candidate), this.#unaskedBytes),
      greetingBytes: this.#greetings.expectedBytes(candidate),
      isTried,
    };
  }

  /** What can come soon of those whose turn comes no later than its own. */
  #stockBefore({ siteId }: Candidate): number {
    const { turns } = this.#waiting;
    if (!turns.isRanked) return this.#stock.bytes;
    let bytes = 0;
    for (const flow of turns.notBehind(siteId, this.#stock.flows)) bytes += flow.soonBytes;
    return bytes;
  }

  #adapt(nowMs: number): void {
    this.#takeBack(nowMs);
    const sinceMs = nowMs - this.#adaptedAtMs;
    if (sinceMs < ADAPT_EVERY_MS) return;
    this.#adaptedAtMs = nowMs;
    this.#stock.reckon(nowMs);
    if (this.#account === undefined) return;
    this.#account.balanceBytes(nowMs);
    const unusedBytes = this.#account.takeUnused();
    // More would not help while somebody waits, nor where there was nothing to ask for or something else kept it back.
    const wasEnough =
      this.#waiting.turns.size === 0 &&
      sinceMs < 2 * ADAPT_EVERY_MS &&
      nowMs - this.#stockedAtMs < ADAPT_EVERY_MS + 1000 * this.#stock.horizonSeconds;
    const { rateBps } = this.#account;
    this.#stock.adapt(nowMs, { rateBps, lostBytes: wasEnough ? unusedBytes : 0 });
  }

  /** Who is not as quick as was thought keeps nothing that others could have: it pays when it comes. */
  #takeBack(nowMs: number): void {
    for (const flow of this.#advances.take(nowMs))
      if (!this.#waiting.turns.has(flow))
        this.#pay(flow, Math.min(0, flow.receivedBytes - flow.paidBytes));
  }

  #isDry(nowMs: number): boolean {
    if (this.#account === undefined || this.#waiting.turns.size > 0) return false;
    return (
      this.#account.balanceBytes(nowMs) >=
      (this.#account.rateBps * burstShare(this.#account.rateBps)) / 2
    );
  }

  #letOf(flow: PacedFlow): Let {
    const mostBps = this.#waiting.isHeld(flow) ? 0 : this.#sites.rateBps(flow);
    return { mostBps, isWaiting: this.#waiting.turns.has(flow) };
  }

  /** Pays for bytes of a download, or takes back what it did not need. */
  #pay(flow: PacedFlow, bytes: number): void {
    flow.paidBytes += bytes;
    this.#account?.spend(bytes);
    this.#sites.spend(flow, bytes);
  }

  #mayReadAny(nowMs: number): boolean {
    return this.#account === undefined || this.#account.hasSome(nowMs);
  }

  #own(flow: Flow): PacedFlow {
    const own = flow as PacedFlow;
    assert(this.#stock.flows.has(own), "a download is under way from its beginning to its end");
    return own;
  }
}

/** Received bytes of the response itself; more than a packet of them is no header alone. */
function answerBytes({ receivedBytes, greetingBytes }: PacedFlow): number {
  return receivedBytes - greetingBytes;
}

function burstShare(rateBps: number): number {
  return rateBps < BUSY_BPS ? BURST_SHARE : BUSY_BURST_SHARE;
}
