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
 *   5. with an order, nobody reads on while one that ranks before it waits.
 *
 * O(1) a piece; O(downloads) twenty times a second, for each that waits for its own site, and a piece
 * where there is an order.
 */

import { assert } from "../base/assert.ts";
import { type Account, atRate } from "./account.ts";
import type { Candidate, Controller, Flow, RankOf } from "./controller.ts";
import { Turns } from "./turns.ts";

const BURST_SHARE = 0.015;
/** How far below zero a request may bring the balance. */
const DEBT_SHARE = 0.03;
/** Requests are sent no faster than their first bytes may come, with a little to spare. */
const STARTS_SHARE = 1.3;
const STARTS_BURST_SHARE = 0.005;
/** Below this time to the first byte a request brings its bytes at once, and pays at once. */
const QUICK_MS = 50;
/** What the stock must last for, beside the time an answer takes to begin. */
const SPARE_MS = 50;
const MARGIN = 2;
const ADAPT_EVERY_MS = 50;
const ASK_AGAIN_MS = 10;
const RAISE = 1.25;
const LOWER = 0.97;
const RAISED_MAX = 1000;
const LEARN_SHARE = 0.02;
/** So many answers must have come before the unanswered no longer count. */
const ANSWERS_TO_TRUST = 30;
const CAUTION = 3;
/** A slow server is not granted more at a time than it sends in this time. */
const STEP_MS = 100;
const STEP_BYTES_MIN = 1024;
/** A system offers half of its window at first, and mostly keeps to that; steps are half of that. */
const UNASKED_SHARE = 0.5;
const STEP_SHARE = 0.5;
/** What lies in it on average while nobody reads: room is offered again in whole packets only. */
const REFILL_SHARE = 0.75;
const SYSTEM_WINDOW_BYTES = 65_536;
/** Smaller answers come in the same packets. */
const SIZE_BYTES_MIN = 4096;
const SITE_ACCOUNTS_MAX = 4096;
/** So few are under way that all their windows together hold no more than this part of a second. */
const HELD_SHARE = 0.05;

interface PacedFlow extends Flow {
  receivedBytes: number;
  announcedBytes: number | undefined;
  /** What was set aside for it before it was asked for. */
  reservedBytes: number;
  /** What has been paid for: what came, what the kernel takes in unasked, what was granted. */
  paidBytes: number;
  /** What it can bring soon, as counted in the stock. */
  soonBytes: number;
}

export class Governor implements Controller {
  #account: Account | undefined;
  /** Spaces requests out: their first bytes cannot be refused, so they must not come all at once. */
  #starts: Account | undefined;
  /** What a connection takes in before anybody reads, and again after each reading. */
  #unaskedBytes = SYSTEM_WINDOW_BYTES;
  readonly #siteAccounts = new Map<number, Account>();
  readonly #flows = new Set<PacedFlow>();
  /** Waiting for the rate of all. */
  readonly #waiting = new Turns<PacedFlow>();
  /** Waiting for their own site's: nobody else's turn, and no sign of plenty. */
  readonly #held = new Set<PacedFlow>();
  #stockBytes = 0;
  /** The mean time to the first byte, of what has come so far. */
  #waitMs = 0;
  #answered = 0;
  #raised = 1;
  #raisedAtMs = 0;
  #adaptedAtMs = 0;
  #isRefusing = false;
  /** Whether the last that was refused was refused because enough is under way. */
  #isStocked = false;

  constructor(nowMs: number, limitBps: number | undefined) {
    this.setLimit(nowMs, limitBps);
  }

  get predictedBps(): number {
    return Math.min(this.#account?.rateBps ?? Infinity, this.#stockBytes / this.#horizonSeconds);
  }

  get waiting(): number {
    return this.#waiting.size + this.#held.size;
  }

  isHungry(nowMs: number): boolean {
    const heldBytes = 2 * this.#unaskedBytes * this.#flows.size;
    const heldBytesMax = HELD_SHARE * (this.#account?.rateBps ?? Infinity);
    const areFew = heldBytes > 0 && heldBytes <= heldBytesMax;
    return areFew && !this.#isRefusing && this.#isDry(nowMs);
  }

  setLimit(nowMs: number, limitBps: number | undefined): void {
    if (limitBps === undefined) {
      this.#account = undefined;
      this.#starts = undefined;
      return;
    }
    const startsBps = limitBps * STARTS_SHARE;
    this.#account = atRate(nowMs, this.#account, limitBps, BURST_SHARE);
    this.#starts = atRate(nowMs, this.#starts, startsBps, STARTS_BURST_SHARE);
  }

  setWindow(windowBytes: number | undefined): void {
    this.#unaskedBytes =
      windowBytes === undefined ? SYSTEM_WINDOW_BYTES : windowBytes * UNASKED_SHARE;
  }

  setSiteLimit(nowMs: number, siteId: number, limitBps: number | undefined): void {
    if (limitBps === undefined) return void this.#siteAccounts.delete(siteId);
    const account = this.#siteAccounts.get(siteId);
    if (account?.rateBps === limitBps) return;
    if (this.#siteAccounts.size >= SITE_ACCOUNTS_MAX) this.#forgetIdleSites();
    this.#siteAccounts.set(siteId, atRate(nowMs, account, limitBps, BURST_SHARE));
  }

  setOrder(rankOf: RankOf | undefined): void {
    this.#waiting.setOrder(rankOf);
  }

  siteHasRoom(nowMs: number, siteId: number): boolean {
    const hasRoom = this.#siteMayRead(nowMs, { siteId });
    if (!hasRoom) this.#isRefusing = true;
    return hasRoom;
  }

  admits(nowMs: number, candidate: Candidate): boolean {
    this.#adapt(nowMs);
    const admitted = this.#siteMayRead(nowMs, candidate) && this.#hasRoom(nowMs, candidate);
    this.#isRefusing = !admitted;
    return admitted;
  }

  begin(nowMs: number, candidate: Candidate): Flow {
    const flow: PacedFlow = {
      ...candidate,
      startedAtMs: nowMs,
      receivedBytes: 0,
      announcedBytes: undefined,
      reservedBytes: 0,
      paidBytes: 0,
      soonBytes: 0,
    };
    this.#flows.add(flow);
    this.#restock(flow);
    const firstBytes = this.#firstBytes(candidate);
    // Until it is known how long answers take, they may well come all at once.
    this.#starts?.spend(this.#answered < ANSWERS_TO_TRUST ? CAUTION * firstBytes : firstBytes);
    if (candidate.expectedWaitMs < QUICK_MS) {
      flow.reservedBytes = firstBytes;
      this.#pay(flow, firstBytes);
    }
    return flow;
  }

  came(nowMs: number, flow: Flow, bytes: number): boolean {
    const own = this.#own(flow);
    if (own.receivedBytes === 0) this.#learnWait(nowMs - own.startedAtMs);
    own.receivedBytes += bytes;
    this.#restock(own);
    // What was set aside for it may come.
    if (own.receivedBytes < own.reservedBytes && own.paidBytes >= own.receivedBytes) return true;
    if (this.#waiting.goesFirst(own) && this.#mayRead(nowMs, own)) {
      this.#payUpTo(own, this.#stepOf(own));
      return true;
    }
    // Unread, it goes on coming until the window is full.
    this.#payUpTo(own, this.#refillBytes);
    (this.#siteMayRead(nowMs, own) ? this.#waiting : this.#held).add(own);
    this.#restock(own);
    return false;
  }

  announce(flow: Flow, bytes: number): void {
    const own = this.#own(flow);
    own.announcedBytes = bytes;
    this.#restock(own);
    // It was made to wait before anybody knew how little is left of it.
    if (this.#waiting.has(own) || this.#held.has(own)) this.#payUpTo(own, this.#refillBytes);
  }

  next(nowMs: number): Flow | undefined {
    for (const flow of this.#held) {
      if (!this.#siteMayRead(nowMs, flow)) continue;
      this.#held.delete(flow);
      this.#waiting.add(flow);
    }
    if (this.#waiting.size === 0 || !this.#mayReadAny(nowMs)) return undefined;
    for (let flow = this.#waiting.first(); flow !== undefined; flow = this.#waiting.first()) {
      this.#waiting.delete(flow);
      if (!this.#siteMayRead(nowMs, flow)) {
        this.#held.add(flow);
        continue;
      }
      this.#pay(flow, this.#stepOf(flow));
      this.#restock(flow);
      return flow;
    }
    return undefined;
  }

  end(_nowMs: number, flow: Flow): void {
    const own = this.#own(flow);
    this.#flows.delete(own);
    this.#waiting.delete(own);
    this.#held.delete(own);
    this.#stockBytes -= own.soonBytes;
    this.#pay(own, own.receivedBytes - own.paidBytes);
    this.#starts?.spend(Math.min(0, own.receivedBytes - this.#firstBytes(own)));
  }

  nextAtMs(nowMs: number): number {
    let atMs = this.#isRefusing ? nowMs + ASK_AGAIN_MS : Infinity;
    if (this.#waiting.size > 0) atMs = Math.min(atMs, this.#account?.hasAtMs(1) ?? nowMs);
    for (const { siteId } of this.#held)
      atMs = Math.min(atMs, this.#siteAccounts.get(siteId)?.hasAtMs(1) ?? nowMs);
    return Math.max(nowMs, atMs);
  }

  /** Too little that can come soon, and, for what comes at once, something to pay it with. */
  #hasRoom(nowMs: number, candidate: Candidate): boolean {
    if (this.#account === undefined) return true;
    // Its first bytes could not be refused, and would come out of what the others wait for.
    if (this.#waiting.isBefore(candidate.siteId)) return false;
    const wantedBytes = this.#stockWantedBytes(this.#account.rateBps, candidate);
    this.#isStocked = this.#stockBefore(candidate) >= wantedBytes;
    if (this.#isStocked) return false;
    if ((this.#starts?.balanceBytes(nowMs) ?? 0) < 0) return false;
    if (candidate.expectedWaitMs >= QUICK_MS) return true;
    // Goes before those that wait to read on, who need a balance: they would use it up for ever.
    const { rateBps } = this.#account;
    const neededBytes = this.#firstBytes(candidate) - rateBps * DEBT_SHARE;
    // Of a very small limit no more than the burst can be saved up.
    return this.#account.balanceBytes(nowMs) > Math.min(neededBytes, (rateBps * BURST_SHARE) / 2);
  }

  /** What comes before anybody can refuse it: a window, and what the first reading makes room for. */
  #firstBytes({ expectedBytes }: Candidate): number {
    return Math.min(expectedBytes, this.#unaskedBytes * (1 + STEP_SHARE));
  }

  #stockWantedBytes(rateBps: number, { expectedBytes }: Candidate): number {
    const takenBytes = rateBps * this.#horizonSeconds;
    const marginBytes = Math.sqrt(takenBytes * Math.max(SIZE_BYTES_MIN, expectedBytes));
    return this.#raised * (takenBytes + MARGIN * marginBytes);
  }

  /** What can come soon of those whose turn comes no later than its own. */
  #stockBefore({ siteId }: Candidate): number {
    if (!this.#waiting.isRanked) return this.#stockBytes;
    let bytes = 0;
    for (const flow of this.#waiting.notBehind(siteId, this.#flows)) bytes += flow.soonBytes;
    return bytes;
  }

  get #horizonSeconds(): number {
    return (this.#waitMs + SPARE_MS) / 1000;
  }

  /** Raises the stock while the pipe runs dry over it, and lets it sink back slowly. */
  #adapt(nowMs: number): void {
    if (nowMs - this.#adaptedAtMs < ADAPT_EVERY_MS) return;
    this.#adaptedAtMs = nowMs;
    this.#reckon(nowMs);
    if (this.#account === undefined) return;
    if (!this.#isDry(nowMs)) {
      this.#raised = Math.max(1, this.#raised * LOWER);
      this.#raisedAtMs = nowMs;
    } else if (
      this.#isRefusing &&
      this.#isStocked &&
      nowMs - this.#raisedAtMs >= this.#horizonSeconds * 1000
    ) {
      // What was asked for meanwhile must have had the time to come.
      this.#raised = Math.min(RAISED_MAX, this.#raised * RAISE);
      this.#raisedAtMs = nowMs;
    }
  }

  #isDry(nowMs: number): boolean {
    if (this.#account === undefined || this.#waiting.size > 0) return false;
    return this.#account.balanceBytes(nowMs) >= (this.#account.rateBps * BURST_SHARE) / 2;
  }

  /** Takes the stock anew, with what the unanswered teach about the time that answers take. */
  #reckon(nowMs: number): void {
    let unanswered = 0;
    let agesMs = 0;
    for (const flow of this.#flows) {
      if (flow.receivedBytes > 0) continue;
      const ageMs = nowMs - flow.startedAtMs;
      unanswered += 1;
      agesMs += ageMs;
      // It was not quick after all: others may have what it keeps, and it pays when it comes.
      if (ageMs > QUICK_MS) this.#pay(flow, -flow.paidBytes);
    }
    if (this.#answered < ANSWERS_TO_TRUST && unanswered > 0)
      this.#waitMs = Math.max(this.#waitMs, agesMs / unanswered);
    for (const flow of this.#flows) this.#restock(flow);
  }

  #learnWait(tookMs: number): void {
    this.#answered += 1;
    this.#waitMs += Math.max(LEARN_SHARE, 1 / this.#answered) * (tookMs - this.#waitMs);
  }

  /** Counts a download anew: what is left of it, as far as its server can send it soon. */
  #restock(flow: PacedFlow): void {
    const { announcedBytes, expectedBytes, receivedBytes } = flow;
    // Who has sent more than was guessed has usually a good deal more to send.
    const leftBytes =
      announcedBytes === undefined
        ? Math.max(expectedBytes - receivedBytes, receivedBytes / 4)
        : Math.max(0, announcedBytes - receivedBytes);
    const soonBytes = Math.min(leftBytes, this.#soonBps(flow) * this.#horizonSeconds);
    this.#stockBytes += soonBytes - flow.soonBytes;
    flow.soonBytes = soonBytes;
  }

  /** A site without downloads has nothing to hold; it is given an account again when it has. */
  #forgetIdleSites(): void {
    const busy = new Set(Array.from(this.#flows, ({ siteId }) => siteId));
    for (const siteId of this.#siteAccounts.keys())
      if (!busy.has(siteId)) this.#siteAccounts.delete(siteId);
  }

  #soonBps(flow: PacedFlow): number {
    if (this.#held.has(flow)) return 0;
    const siteBps = this.#siteAccounts.get(flow.siteId)?.rateBps ?? Infinity;
    // Who waits for us has more to give than we take, whatever was predicted.
    return this.#waiting.has(flow) ? siteBps : Math.min(flow.predictedBps, siteBps);
  }

  get #refillBytes(): number {
    return this.#unaskedBytes * REFILL_SHARE;
  }

  #stepOf({ predictedBps }: Flow): number {
    const bytes = Math.max(STEP_BYTES_MIN, (predictedBps * STEP_MS) / 1000);
    return Math.min(this.#unaskedBytes * STEP_SHARE, bytes);
  }

  /** Pays for what came and for so many more bytes, as far as there are any. */
  #payUpTo(flow: PacedFlow, moreBytes: number): void {
    const wholeBytes = flow.announcedBytes ?? Infinity;
    this.#pay(flow, Math.min(wholeBytes, flow.receivedBytes + moreBytes) - flow.paidBytes);
  }

  /** Pays for bytes of a download, or takes back what it did not need. */
  #pay(flow: PacedFlow, bytes: number): void {
    flow.paidBytes += bytes;
    this.#account?.spend(bytes);
    this.#siteAccounts.get(flow.siteId)?.spend(bytes);
  }

  #mayRead(nowMs: number, flow: Flow): boolean {
    return this.#mayReadAny(nowMs) && this.#siteMayRead(nowMs, flow);
  }

  #mayReadAny(nowMs: number): boolean {
    return this.#account === undefined || this.#account.balanceBytes(nowMs) > 0;
  }

  #siteMayRead(nowMs: number, { siteId }: { readonly siteId: number }): boolean {
    const account = this.#siteAccounts.get(siteId);
    return account === undefined || account.balanceBytes(nowMs) > 0;
  }

  #own(flow: Flow): PacedFlow {
    const own = flow as PacedFlow;
    assert(this.#flows.has(own), "a download is under way from its beginning to its end");
    return own;
  }
}
