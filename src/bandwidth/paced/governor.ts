/**
 * Weir's own control of the limit, `paced`: fills it and does not exceed it.
 *
 * A *balance* earns the limit and pays for all bytes. Responses to requests arrive before they can be refused, so each
 * request *reserves* its bytes in a ring of time slots, at the time at which its response is expected, and starts only
 * if the balance as projected over the reservations has room for them. Bodies are read in grants, each paid for in
 * advance, so that TCP slows the server down. A *stock* of open downloads ensures that there is always one to read.
 * Estimates only choose how many downloads are open; the bound does not rest on them. See docs/decisions/027.
 *
 * Promises, each with a test in `governor.test.ts`:
 *   1. bytes at any time <= burst + rate * time + one window for each open download;
 *   2. with enough work the limit is filled, whatever was predicted;
 *   3. no burst at the start, after a pause, after a jump of the clock, at a change of the limit;
 *   4. a site never exceeds its own limit, and no other site waits for it;
 *   5. with an order, no download reads on while one that ranks before it waits;
 *   6. no request is passed over for longer than was agreed because enough is under way.
 *
 * O(1) per piece, O(slots) per request, O(downloads) forty times a second, and per piece with an order.
 */

import { assert } from "../../base/assert.ts";
import type { Candidate, Controller, Flow, RankOf } from "../controller.ts";
import { type Balance, balanceAt, SiteBalances } from "./balance.ts";
import {
  aheadBytes,
  type Download,
  downloadOf,
  endsInWindow,
  firstBytes,
  OVERDUE_MS,
  owedBytes,
  PACKET_BYTES,
  stepBytes,
  unarrivedBytes,
} from "./download.ts";
import { Gauge } from "./gauge.ts";
import { Paused } from "./paused.ts";
import { DueList, SLOT_MS, slotOf, Slots } from "./slots.ts";
import { Stock } from "./stock.ts";
import { HANDSHAKE_BYTES_MAX, Handshakes } from "./tls-handshakes.ts";

/** Target as a share of the limit: bytes that cannot be foreseen come on top of it. */
export const AIM_SHARE = 0.99;
/** Requests start for this multiple of the target, because a part of the responses is smaller or arrives elsewhere. */
const OVERBOOKING = 1.08;
/** Bytes counted for a request to an unknown server, as a multiple of its expected bytes. */
const UNKNOWN_TIMES = 2.5;
/** Lowest balance at which a request starts, below zero, in seconds at the limit. */
const DEBT_SECONDS = 0.02;
/** Most bytes that the projected balance saves for future responses, in seconds at the limit. */
const SAVED_SECONDS = 0.1;
/** No download reads and no request starts once the last second had more than this multiple of the target. */
const SECOND_SHARE_MAX = 1.015;
/** Limit in bytes per second from which unread bytes are asked for late, because asking takes a tenth of the thread. */
const BUSY_BPS = 5e6;
/** Receive window of the system in bytes, where no window is set. */
const SYSTEM_WINDOW_BYTES = 131_072;
/** Most bytes that all windows together hold where they may be widened, in seconds at the limit. */
const HELD_SECONDS = 0.05;
/** Largest correction by the line's counters at a time, in seconds at the limit. */
const CORRECTION_SECONDS = 0.1;

export class Governor implements Controller {
  readonly #passedOverMaxMs: number;
  #balance: Balance | undefined;
  /** Expected bytes of the requests made: what leaves evenly arrives evenly. */
  #requests: Balance | undefined;
  readonly #slots = new Slots();
  readonly #due = new DueList<Download>();
  readonly #gauge = new Gauge();
  readonly #handshakes = new Handshakes();
  readonly #sites = new SiteBalances();
  readonly #paused = new Paused(this.#sites, () => this.#balance?.rateBps ?? 0);
  readonly #stock = new Stock((flow) => ({
    mostBps: this.#paused.isHeld(flow) ? 0 : this.#sites.rateBps(flow),
    isPaused: this.#paused.isForLimit(flow),
  }));
  #windowBytes = SYSTEM_WINDOW_BYTES;
  #spentBytes = 0;
  /** Expected bytes of downloads paused for the limit that are not paid for. */
  #backlogBytes = 0;
  #slot = 0;
  #isRefusing = false;

  /** A request that was passed over for `passedOverMaxMs` starts although enough is under way. */
  constructor(nowMs: number, limitBps: number | undefined, passedOverMaxMs = Infinity) {
    this.#passedOverMaxMs = passedOverMaxMs;
    this.setLimit(nowMs, limitBps);
  }

  get predictedBps(): number {
    const { bytes, horizonSeconds } = this.#stock;
    return Math.min(this.#balance?.rateBps ?? Infinity, bytes / horizonSeconds);
  }

  get waiting(): number {
    return this.#paused.size;
  }

  get wantsUnread(): "at once" | "later" {
    return (this.#balance?.rateBps ?? Infinity) < BUSY_BPS ? "at once" : "later";
  }

  isHungry(nowMs: number): boolean {
    const balance = this.#balance;
    if (balance === undefined || this.#isRefusing || this.#paused.sizeForLimit > 0) return false;
    const heldBytes = this.#windowBytes * this.#stock.flows.size;
    const areFew = heldBytes > 0 && heldBytes <= HELD_SECONDS * balance.rateBps;
    return areFew && balance.bytes(nowMs) >= balance.burstBytes / 2;
  }

  setLimit(nowMs: number, limitBps: number | undefined): void {
    const rateBps = limitBps === undefined ? undefined : limitBps * AIM_SHARE;
    const requestsBps = rateBps === undefined ? undefined : rateBps * OVERBOOKING;
    this.#balance = balanceAt(nowMs, this.#balance, rateBps);
    this.#requests = balanceAt(nowMs, this.#requests, requestsBps);
  }

  setWindow(windowBytes = SYSTEM_WINDOW_BYTES): void {
    this.#windowBytes = windowBytes;
    // Open connections get the new window, too.
    for (const flow of this.#stock.flows) flow.windowBytes = windowBytes;
  }

  setSiteLimit(nowMs: number, siteId: number, limitBps: number | undefined): void {
    const busy = (): Set<number> => new Set(Array.from(this.#stock.flows, (flow) => flow.siteId));
    this.#sites.setRate(nowMs, siteId, limitBps, busy);
  }

  setOrder(rankOf: RankOf | undefined): void {
    this.#paused.setOrder(rankOf);
  }

  siteHasRoom(nowMs: number, siteId: number): boolean {
    const hasRoom = this.#sites.mayRead(nowMs, { siteId });
    if (!hasRoom) this.#isRefusing = true;
    return hasRoom;
  }

  isShut(nowMs: number): boolean {
    this.#tick(nowMs);
    const isShut = (this.#requests?.bytes(nowMs) ?? 0) < 0;
    if (isShut) this.#isRefusing = true;
    return isShut;
  }

  admits(nowMs: number, candidate: Candidate): boolean {
    const admitted =
      !this.isShut(nowMs) &&
      this.#sites.mayRead(nowMs, candidate) &&
      !this.#paused.isBefore(candidate.siteId) &&
      this.#isWanted(candidate) &&
      this.#fits(nowMs, candidate);
    this.#isRefusing = !admitted;
    return admitted;
  }

  begin(nowMs: number, candidate: Candidate): Flow {
    this.#tick(nowMs);
    const flow = downloadOf(nowMs, candidate, this.#windowBytes);
    const handshakeBytes = this.#handshakes.expectedBytes(candidate);
    flow.grantedBytes = handshakeBytes + this.#firstBytes(candidate);
    this.#stock.add(nowMs, flow);
    this.#requests?.spend(nowMs, requestedBytes(flow));
    this.#pay(nowMs, flow, handshakeBytes);
    if (isNear(candidate)) this.#payFirst(nowMs, flow);
    else {
      const atMs = nowMs + candidate.expectedWaitMs;
      flow.reservedBytes = this.#handshakes.responseBytes(candidate);
      flow.reservedSlot = this.#slots.reserve(nowMs, atMs, flow.reservedBytes);
      this.#due.add(atMs, flow);
    }
    return flow;
  }

  came(nowMs: number, flow: Flow, bytes: number, isHandshake = false): boolean {
    const own = this.#own(flow);
    own.receivedBytes += bytes;
    if (isHandshake) own.handshakeBytes += bytes;
    else if (own.announcedBytes !== undefined || responseBytesOf(own) > PACKET_BYTES)
      this.#answered(nowMs, own, own.receivedBytes - bytes);
    own.movedAtMs = nowMs;
    this.#stock.count(nowMs, own);
    const isGranted = own.isAnswered
      ? own.receivedBytes < own.grantedBytes && own.receivedBytes <= own.paidBytes
      : own.handshakeBytes <= HANDSHAKE_BYTES_MAX;
    const goesFirst = (): boolean => this.#paused.goesFirst(nowMs, own) && this.#mayRead(nowMs);
    if (isGranted || goesFirst()) {
      this.#pay(nowMs, own, Math.max(0, own.receivedBytes - own.paidBytes));
      return true;
    }
    // A paused download receives until its window is full.
    this.#pay(nowMs, own, Math.max(0, owedBytes(own)));
    if (endsInWindow(own)) return true;
    this.#paused.add(nowMs, own);
    own.pausedSinceMs = nowMs;
    this.#stock.count(nowMs, own);
    return false;
  }

  announce(nowMs: number, flow: Flow, bytes: number | undefined): void {
    const own = this.#own(flow);
    own.announcedBytes = bytes === undefined ? undefined : own.handshakeBytes + bytes;
    // A header alone is no response yet: its body is still expected.
    const isExpected = own.announcedBytes !== undefined && own.receivedBytes < own.announcedBytes;
    if (!isExpected) this.#answered(nowMs, own);
    if (!this.#paused.has(own)) return;
    this.#pay(nowMs, own, owedBytes(own));
    if (endsInWindow(own)) this.#paused.letEnd(own);
  }

  cameBeside(nowMs: number, bytes: number): void {
    this.#spend(nowMs, bytes);
  }

  carried(nowMs: number, lineBytes: number | undefined): void {
    const wasRead = this.#gauge.isRead;
    const arrivedBytes = this.#spentBytes - unarrivedBytes(this.#stock.flows);
    const reading = this.#gauge.read(nowMs, lineBytes, arrivedBytes);
    if (wasRead !== this.#gauge.isRead) this.#slots.forgetSecond();
    if (reading === undefined || this.#balance === undefined) return;
    this.#slots.receive(nowMs, reading.lineBytes);
    const mostBytes = CORRECTION_SECONDS * this.#balance.rateBps;
    this.#balance.spend(nowMs, Math.max(-mostBytes, Math.min(mostBytes, reading.missedBytes)));
  }

  liesUnread(flow: Flow, bytes: number, mayBeMore: boolean): void {
    const own = this.#own(flow);
    if (!this.#paused.has(own)) return;
    const unpaidBytes = own.receivedBytes + bytes - own.paidBytes;
    this.#pay(own.movedAtMs, own, mayBeMore ? Math.max(0, unpaidBytes) : unpaidBytes);
  }

  next(nowMs: number): Flow | undefined {
    this.#tick(nowMs);
    const ending = this.#paused.takeEnding();
    if (ending !== undefined) {
      this.#resume(nowMs, ending);
      return ending;
    }
    this.#paused.look(nowMs);
    if (this.#paused.sizeForLimit === 0 || !this.#mayRead(nowMs)) return undefined;
    const flow = this.#paused.takeFirst(nowMs);
    return flow === undefined ? undefined : this.#grant(nowMs, flow);
  }

  end(nowMs: number, flow: Flow): void {
    const own = this.#own(flow);
    // A small response over TLS is one record, which counts as handshake until it is complete.
    if (own.receivedBytes > 0) this.#answered(nowMs, own);
    this.#release(own);
    // A response that was smaller than expected makes room for another request.
    this.#requests?.spend(nowMs, Math.min(0, own.receivedBytes - requestedBytes(own)));
    for (const list of [this.#stock, this.#paused, this.#due]) list.delete(own);
    this.#pay(nowMs, own, own.receivedBytes - own.paidBytes);
  }

  nextAtMs(nowMs: number): number {
    const nextSlotAtMs = (slotOf(nowMs) + 1) * SLOT_MS;
    const rateAtMs = (): number =>
      this.#isSecondFull(nowMs) ? nextSlotAtMs : (this.#balance?.positiveAtMs() ?? nowMs);
    const askAtMs = this.#isRefusing ? nowMs + SLOT_MS / 2 : Infinity;
    return Math.max(nowMs, Math.min(askAtMs, this.#paused.nextAtMs(nowMs, rateAtMs)));
  }

  #grant(nowMs: number, flow: Download): Flow {
    flow.heldBytes = flow.paidBytes;
    this.#resume(nowMs, flow);
    const limitBps = this.#balance?.rateBps ?? 0;
    const grantBytes = stepBytes(nowMs, flow, { limitBps, siteBps: this.#sites.rateBps(flow) });
    flow.grantedBytes = flow.receivedBytes + grantBytes;
    this.#pay(nowMs, flow, aheadBytes(nowMs, flow, grantBytes));
    this.#due.add(nowMs + OVERDUE_MS, flow);
    if (flow.turnSinceMs === undefined) {
      flow.turnSinceMs = nowMs;
      flow.turnFromBytes = flow.receivedBytes;
    }
    return flow;
  }

  #resume(nowMs: number, flow: Download): void {
    // A pause does not count as time of its turn.
    if (flow.turnSinceMs !== undefined) flow.turnSinceMs += nowMs - (flow.pausedSinceMs ?? nowMs);
    flow.pausedSinceMs = undefined;
    flow.movedAtMs = nowMs;
    this.#stock.count(nowMs, flow);
  }

  /** `turnFromBytes`: received before the bytes that show that the body has begun. */
  #answered(nowMs: number, own: Download, turnFromBytes = own.receivedBytes): void {
    if (own.isAnswered) return;
    own.isAnswered = true;
    this.#handshakes.learn(own);
    if (this.#release(own)) this.#payFirst(nowMs, own);
    this.#stock.answered(nowMs, own);
    own.turnSinceMs = nowMs;
    own.turnFromBytes = turnFromBytes;
  }

  /** Whether the downloads under way that rank no later than the candidate can deliver too little. */
  #isWanted({ siteId, expectedBytes, passedOverMs }: Candidate): boolean {
    if (this.#balance === undefined || passedOverMs >= this.#passedOverMaxMs) return true;
    const { rankOf } = this.#paused;
    let { bytes } = this.#stock;
    if (rankOf !== undefined) {
      const rank = rankOf(siteId);
      for (const flow of this.#stock.flows) if (rankOf(flow.siteId) > rank) bytes -= flow.soonBytes;
    }
    return bytes < this.#stock.wantedBytes(this.#balance.rateBps, expectedBytes);
  }

  #fits(nowMs: number, candidate: Candidate): boolean {
    const balance = this.#balance;
    if (balance === undefined) return true;
    const { rateBps } = balance;
    const handshakeBytes = this.#handshakes.expectedBytes(candidate);
    const isSoon = isNear(candidate);
    if (isSoon && this.#isSecondFull(nowMs)) return false;
    const bytes = isSoon ? this.#firstBytes(candidate) : this.#handshakes.responseBytes(candidate);
    // Paused downloads that are nearly done are read before a later response arrives.
    const backlogBytes = isSoon ? 0 : this.#backlogBytes;
    return this.#slots.fits(nowMs, nowMs + candidate.expectedWaitMs, bytes, {
      bytes: balance.bytes(nowMs) - handshakeBytes - backlogBytes,
      mostBytes: SAVED_SECONDS * rateBps,
      // One response may always be below: a limit of some pages a second could not save enough for it.
      leastBytes: -(DEBT_SECONDS * rateBps + handshakeBytes + bytes),
      rateBps: OVERBOOKING * rateBps,
    });
  }

  #firstBytes(candidate: Candidate): number {
    return firstBytes(this.#handshakes.responseBytes(candidate), this.#windowBytes);
  }

  /** Once per slot: pays for what is due, and counts again. */
  #tick(nowMs: number): void {
    const slot = slotOf(nowMs);
    if (slot <= this.#slot) return;
    this.#slot = slot;
    for (const flow of this.#due.take(nowMs)) this.#payDue(nowMs, flow);
    this.#stock.recount(nowMs);
    this.#backlogBytes = 0;
    for (const flow of this.#stock.flows)
      if (this.#paused.isForLimit(flow))
        this.#backlogBytes += Math.max(0, flow.expectedBytes - flow.paidBytes);
  }

  /** Pays for first bytes that are expected now, and takes back what was paid and does not arrive. */
  #payDue(nowMs: number, flow: Download): void {
    if (this.#release(flow)) this.#payFirst(nowMs, flow);
    else if (nowMs - flow.movedAtMs < OVERDUE_MS) this.#due.add(flow.movedAtMs + OVERDUE_MS, flow);
    else if (!this.#paused.isForLimit(flow))
      this.#pay(nowMs, flow, Math.min(0, flow.receivedBytes - flow.paidBytes));
  }

  #payFirst(nowMs: number, flow: Download): void {
    this.#pay(nowMs, flow, aheadBytes(nowMs, flow, this.#firstBytes(flow)));
    flow.movedAtMs = nowMs;
    this.#due.add(nowMs + OVERDUE_MS, flow);
  }

  /** Returns whether anything was reserved. */
  #release(flow: Download): boolean {
    if (flow.reservedBytes === 0) return false;
    this.#slots.release(flow.reservedSlot, flow.reservedBytes);
    flow.reservedBytes = 0;
    return true;
  }

  /** Pays for bytes of a download, or takes back when negative. */
  #pay(nowMs: number, flow: Download, bytes: number): void {
    flow.paidBytes += bytes;
    this.#spend(nowMs, bytes);
    this.#sites.spend(nowMs, flow, bytes);
  }

  #spend(nowMs: number, bytes: number): void {
    this.#spentBytes += bytes;
    if (!this.#gauge.isRead) this.#slots.receive(nowMs, bytes);
    this.#balance?.spend(nowMs, bytes);
  }

  #mayRead(nowMs: number): boolean {
    const bytes = this.#balance?.bytes(nowMs) ?? Infinity;
    return bytes > 0 && !this.#isSecondFull(nowMs);
  }

  #isSecondFull(nowMs: number): boolean {
    const rateBps = this.#balance?.rateBps ?? Infinity;
    return this.#slots.secondBytes(nowMs) > SECOND_SHARE_MAX * rateBps;
  }

  #own(flow: Flow): Download {
    const own = flow as Download;
    assert(this.#stock.flows.has(own), "a download is under way from its start to its end");
    return own;
  }
}

/** Whether its response arrives in the present slot: at once, and before it can be paused. */
function isNear({ expectedWaitMs }: Candidate): boolean {
  return expectedWaitMs < SLOT_MS;
}

/** Responses of unknown servers may all arrive at once, so requests to them start more slowly. */
function requestedBytes({ expectedBytes, expectedWaitMs }: Candidate): number {
  return expectedWaitMs === 0 ? UNKNOWN_TIMES * expectedBytes : expectedBytes;
}

/** More than a packet of these is more than a header. */
function responseBytesOf({ receivedBytes, handshakeBytes }: Download): number {
  return receivedBytes - handshakeBytes;
}
