/**
 * The interface of all methods to enforce the limit: which downloads may start, and which must
 * pause reading. `governor` is ours, `admission` the paper's, `on-off` the one it was compared
 * with. The caller (`crawl/limit`) knows only this interface.
 */

/** A download that might begin. */
export interface Candidate {
  readonly siteId: number;
  /** What its server is expected to give: B(ip, h, w). */
  readonly predictedBps: number;
  readonly expectedBytes: number;
  /** How long its server usually takes to the first byte. */
  readonly expectedWaitMs: number;
  /** How long it has been passed over, although it was its turn. */
  readonly passedOverMs: number;
}

/** A download under way, as its controller knows it. */
export interface Flow extends Candidate {
  readonly startedAtMs: number;
  readonly receivedBytes: number;
  /** From the response's header, once it has arrived. */
  readonly announcedBytes: number | undefined;
}

export type RankOf = (siteId: number) => number;

export interface Controller {
  /** The rate that all running downloads are predicted to take: CB. */
  readonly predictedBps: number;
  /** Downloads whose reading waits. */
  readonly waiting: number;
  /** Whether it is worth asking the system what lies unread of those: as soon as they wait, or when they wait for long. */
  readonly wantsUnread?: "at once" | "later";
  setLimit(nowMs: number, limitBps: number | undefined): void;
  /** The most that a connection holds unread from now on; undefined when that is up to the system. */
  setWindow(windowBytes: number | undefined): void;
  /** The rate one site may take; undefined for all it wants. */
  setSiteLimit(nowMs: number, siteId: number, limitBps: number | undefined): void;
  /** The order of sites: the lowest rank first. undefined: first come, first served. */
  setOrder(rankOf: RankOf | undefined): void;
  /** Whether the site's own limit lets it begin a download. */
  siteHasRoom(nowMs: number, siteId: number): boolean;
  /** Whether no download at all may start now, so that no search is needed. */
  isShut?(nowMs: number): boolean;
  admits(nowMs: number, candidate: Candidate): boolean;
  begin(nowMs: number, candidate: Candidate): Flow;
  /** Bytes of a download came, or what goes before it. False: it must wait until `next` names it. */
  came(nowMs: number, flow: Flow, bytes: number, isGreeting?: boolean | undefined): boolean;
  /** Its header has come, and mostly tells how much there is of it. */
  announce(nowMs: number, flow: Flow, bytes: number | undefined): void;
  /** So much came beside the bytes of downloads and what is held back for that; negative when it was less. */
  cameBeside?(nowMs: number, bytes: number): void;
  /**
   * The bytes that the line has carried in all, by its own counters, as bytes of downloads;
   * undefined when they can no longer be read.
   */
  carried?(nowMs: number, lineBytes: number | undefined): void;
  /** So much of a download that has to wait has come all the same, and lies unread; more may be on its way. Only where `wantsUnread`. */
  liesUnread?(flow: Flow, bytes: number, mayBeMore: boolean): void;
  /** The download that may read on now; to be asked until it answers undefined. */
  next(nowMs: number): Flow | undefined;
  end(nowMs: number, flow: Flow): void;
  /** Whether the rate is not taken, although the few downloads there are may take all of it. */
  isHungry(nowMs: number): boolean;
  /** When time alone may change an answer of `next` or `admits`; Infinity when it cannot. */
  nextAtMs(nowMs: number): number;
}
