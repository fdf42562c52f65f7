/**
 * The coordinator's processes, with the last report of each.
 *
 * A process is licensed from the first answer it gets until its licence has run out by this clock, which is later than
 * by its own. Then it begins a new term, without anything it was granted before.
 */

import type { Clock } from "../base/clock.ts";
import type { Snapshot } from "../control/snapshot.ts";
import type { Waiting } from "../crawl/peers/peer.ts";
import type { Exchange, Report } from "./messages.ts";

export interface Member {
  readonly name: string;
  readonly weight: number;
  /** undefined before its first report, and after its licence has ended. */
  report: Report | undefined;
  /** Lives of the process that has the name now, and of its predecessors. */
  life: string | undefined;
  readonly livesBefore: Set<string>;
  /** From its last report, also while it is away. */
  snapshot: Snapshot | undefined;
  /** Its waiting URLs by bucket, and when it reported them. */
  waiting: Report["waiting"];
  waitingAtMs: number;
  /** The part of the web that it was last given, and when. */
  given: readonly Waiting[];
  servedAtMs: number;
  exchange: Exchange | undefined;
  term: number;
  /** It has reported in this term. */
  isConfirmed: boolean;
  licensedUntilMs: number;
  /** Until then it may continue alone, on what it holds. */
  aloneUntilMs: number;
  /** The same for its turns; −Infinity once they have ended. */
  turnsUntilMs: number;
  /** It may hold grants of an earlier coordinator, and has not reported to this one. */
  isUnheard: boolean;
  /** The rate that it went by when it first reported, from an earlier coordinator. */
  inheritedBps: number;
  /** All turns that it holds are known here. */
  hasDeclared: boolean;
  /** When its last report arrived, and when it was sent by its own clock. */
  heardAtMs: number;
  heardOfMs: number;
  hasEnded: boolean;
  /** Its licence has ended, and it has not reported since. */
  isAway: boolean;
  /** It may end before the other processes. */
  mayGo: boolean;
  /** The limits and pages that it was last granted. */
  limitBps: number | undefined;
  pagesMax: number | undefined;
  /** The last two waves in which it was quiet, with its activity then. */
  quiet: { readonly wave: number; readonly activity: number } | undefined;
  quietBefore: { readonly wave: number; readonly activity: number } | undefined;
}

/** Late messages of predecessors arrive within minutes. */
const LIVES_REMEMBERED_MAX = 64;

export class Members {
  readonly #clock: Clock;
  readonly #byName = new Map<string, Member>();
  #terms = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#byName.size;
  }

  names(): string[] {
    return [...this.#byName.keys()];
  }

  all(): Iterable<Member> {
    return this.#byName.values();
  }

  get(name: string): Member | undefined {
    return this.#byName.get(name);
  }

  add(name: string, weight = 1): Member {
    const member: Member = {
      name,
      weight,
      report: undefined,
      life: undefined,
      livesBefore: new Set(),
      snapshot: undefined,
      waiting: null,
      waitingAtMs: -Infinity,
      given: [],
      servedAtMs: -Infinity,
      exchange: undefined,
      term: this.#nextTerm(),
      isConfirmed: false,
      licensedUntilMs: -Infinity,
      aloneUntilMs: -Infinity,
      turnsUntilMs: -Infinity,
      isUnheard: false,
      inheritedBps: 0,
      hasDeclared: true,
      heardAtMs: this.#clock.nowMs(),
      heardOfMs: -Infinity,
      hasEnded: false,
      isAway: false,
      mayGo: false,
      limitBps: undefined,
      pagesMax: undefined,
      quiet: undefined,
      quietBefore: undefined,
    };
    this.#byName.set(name, member);
    return member;
  }

  remove(name: string): void {
    this.#byName.delete(name);
  }

  /** Its licence has ended, or it has died: its grants end. */
  lapse(member: Member): void {
    member.term = this.#nextTerm();
    member.licensedUntilMs = member.aloneUntilMs = member.turnsUntilMs = -Infinity;
    member.hasDeclared = true;
    member.isConfirmed = false;
    member.report = undefined;
    member.limitBps = undefined;
    member.pagesMax = undefined;
    member.quiet = member.quietBefore = undefined;
  }

  /** Whether a report is newer than all before it of this name; a new process takes the name over. */
  isNews(member: Member, { life, sentAtMs }: Report): boolean {
    if (member.livesBefore.has(life)) return false;
    // An overtaken report is ignored, also when it reports a lost licence.
    if (member.life === life && sentAtMs < member.heardOfMs) return false;
    member.heardOfMs = sentAtMs;
    if (member.life === life) return true;
    if (member.life !== undefined) member.livesBefore.add(member.life);
    const [oldest] = member.livesBefore;
    if (member.livesBefore.size > LIVES_REMEMBERED_MAX && oldest !== undefined)
      member.livesBefore.delete(oldest);
    member.life = life;
    return true;
  }

  /** Whether it has a licence, by this clock. */
  isHere(member: Member): boolean {
    return member.report !== undefined && this.#clock.nowMs() < member.licensedUntilMs;
  }

  /** Members that may not even continue alone any more. */
  *overdue(): Iterable<Member> {
    const nowMs = this.#clock.nowMs();
    for (const member of this.#byName.values())
      if (member.aloneUntilMs !== -Infinity && member.aloneUntilMs <= nowMs) yield member;
  }

  #nextTerm(): number {
    this.#terms += 1;
    return this.#terms;
  }
}
