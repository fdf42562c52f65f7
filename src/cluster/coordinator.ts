/**
 * Lets several processes crawl as one: divides the web, the rate, the pages and the turns among them, and detects that
 * all are done.
 *
 * Its state can be rebuilt from the reports of the processes; a successor begins with new terms. Every answer to a
 * report is a licence (`messages.ts`); a process that stays silent loses its licence.
 *
 * All are done when every process reported so in two successive waves, and nothing happened in between: a message in
 * transit would show at its sender in the first wave or at its receiver in the second.
 */

import { divide, LeaseBook } from "../bandwidth/lease-book.ts";
import type { Clock } from "../base/clock.ts";
import type { Division } from "../crawl/ownership.ts";
import type { Waiting } from "../crawl/peers/peer.ts";
import type { Membership } from "../exchange/bus.ts";
import { TurnBook } from "../frontier/turn-book.ts";
import type { Halves } from "../partition/popular-found.ts";
import type { Change } from "./change-list.ts";
import { type Member, Members } from "./members.ts";
import {
  asControlMessage,
  type Exchange,
  type Licence,
  type Message,
  type Outcome,
  type Report,
} from "./messages.ts";
import { writeDivision } from "./division-codec.ts";

interface CoordinatorParts {
  readonly clock: Clock;
  readonly bus: Pick<Membership, "tell">;
  readonly licenceMs: number;
  /** How the web is divided; may be changed with `redivide`. undefined for independent processes. */
  readonly division: Division | undefined;
  /**
   * Hands out a part of the web to a process that has nothing left to do, by the URLs that wait in each bucket;
   * returns what it gave. Does nothing unless coordination is dynamic.
   */
  readonly handOut: (dry: string, waiting: ReadonlyMap<number, number>) => readonly Waiting[];
  /** Every process has finished its part, except for this number of unreachable sites: time to `end`. */
  readonly onDone: (unreachable: number) => void;
  readonly limitBps: number | undefined;
  readonly pagesMax: number | undefined;
  /** Higher than that of every earlier coordinator. */
  readonly term?: number;
  /** A process that is no member reports. */
  readonly onJoinRequest?: (name: string, report: Report) => void;
  readonly onReport?: (member: Member, report: Report) => void;
  /** Why a requested change was refused; undefined when it was not. */
  readonly refusedBecause?: (id: string) => string | undefined;
  /** False while a change is pending: then the crawl has not ended, although all processes are quiet. */
  readonly mayEnd?: () => boolean;
}

const TURNS_AT_ONCE = 200;
const POPULAR_AT_ONCE = 500;
const POPULAR_MAX = 100_000;
const CHANGES_AT_ONCE = 16;
const MISSING_NAMED_MAX = 10;
const LOOK_EVERY_MS = 100;
/** Share of the limit that a process gets beyond its use, so that a request can begin at once. */
const IN_HAND_SHARE = 0.04;
const HEADROOM = 1.25;
/** How long responses to the requests of a dead process may still arrive. */
const ON_THE_WAY_MS = 1_000;

export class Coordinator {
  readonly #parts: CoordinatorParts;
  readonly #members: Members;
  readonly #rate: LeaseBook;
  readonly #pages: LeaseBook;
  readonly #turns: TurnBook;
  #changes: readonly Change[] = [];
  readonly #holds = new Set<string>();
  /** URLs that several processes found, in the order of their reports. */
  readonly #popular: Halves[] = [];
  #division: Division | undefined;
  #grants = 0;
  #wave = 1;
  #isDone = false;
  #end: Licence["end"] = "no";
  #why = "";
  #cancelTimer: (() => void) | undefined;

  constructor(parts: CoordinatorParts) {
    this.#parts = parts;
    this.#members = new Members(parts.clock);
    this.#turns = new TurnBook(parts.clock.nowMs());
    this.#division = parts.division;
    this.#rate = new LeaseBook(parts.limitBps ?? Infinity);
    this.#pages = new LeaseBook(parts.pagesMax ?? Infinity);
    this.#look();
  }

  get members(): Members {
    return this.#members;
  }

  get division(): Division | undefined {
    return this.#division;
  }

  get hasEnded(): boolean {
    return this.#end !== "no";
  }

  /** URLs and bytes exchanged so far, over all processes. */
  exchange(): Pick<Exchange, "urlsSent" | "sentBytes"> {
    let urlsSent = 0;
    let sentBytes = 0;
    for (const { exchange } of this.#members.all()) {
      urlsSent += exchange?.urlsSent ?? 0;
      sentBytes += exchange?.sentBytes ?? 0;
    }
    return { urlsSent, sentBytes };
  }

  onMessage(from: string, message: Message): void {
    const member = this.#members.get(from);
    if (message.kind === "report") {
      if (member === undefined) this.#parts.onJoinRequest?.(from, message);
      else this.#onReport(member, message);
    }
    if (message.kind === "heard" && member !== undefined && message.leader === this.#leader)
      this.#onHeard(member, message.grant);
  }

  /** A process has died, and its licence with it. It may return under the same name. */
  gone(name: string): void {
    const member = this.#members.get(name);
    if (member !== undefined) this.#lapse(member);
  }

  /** The process has nothing left that other processes need, and may end before them. */
  release(name: string): void {
    const member = this.#members.get(name);
    if (member !== undefined) member.mayGo = true;
  }

  redivide(division: Division): void {
    this.#division = division;
    // A quiet process may have work again.
    this.#wave += 1;
  }

  setLimit(limitBps: number | undefined): void {
    this.#rate.setTotal(limitBps ?? Infinity);
    this.#licenseAll();
  }

  /** What became of a requested change; undefined while it is not known. */
  outcomeOf(id: string): Outcome | undefined {
    const message = this.#parts.refusedBecause?.(id);
    const processes = this.#members.size;
    const none = { processes, missing: 0, missingNames: [] };
    if (message !== undefined) return { id, isRefused: true, message, ...none };
    const change = this.#changes.find((one) => one.id === id);
    if (change === undefined) return undefined;
    const isMissing = ({ report, mayGo, hasEnded }: Member): boolean =>
      !mayGo && !hasEnded && (report?.change ?? 0) < change.number;
    const missing = [...this.#members.all()].filter(isMissing).map(({ name }) => name);
    const missingNames = missing.slice(0, MISSING_NAMED_MAX);
    const outcome = { id, isRefused: false, message: change.message };
    return { ...outcome, processes, missing: missing.length, missingNames };
  }

  setPages(pagesMax: number): void {
    this.#pages.setTotal(pagesMax);
  }

  hold(why: string, isHeld: boolean): void {
    if (isHeld) this.#holds.add(why);
    else this.#holds.delete(why);
    this.#licenseAll();
  }

  /** Sets the list of all changes so far, for every process. */
  setChanges(changes: readonly Change[]): void {
    if (changes === this.#changes) return;
    this.#changes = changes;
    this.#licenseAll();
  }

  end(how: "finish" | "stop", why: string): void {
    if (this.#end === "stop") return;
    this.#end = how;
    this.#why = why;
    this.#licenseAll();
  }

  stop(): void {
    this.#cancelTimer?.();
  }

  get #leader(): number {
    return this.#parts.term ?? 0;
  }

  /** The name belongs to another process now: this is a late message of its predecessor, or a second process. */
  #refuse(name: string, { life }: Report): void {
    const why = "another node of this name has taken its place";
    this.#parts.bus.tell(name, asControlMessage({ kind: "refusal", life, why }));
  }

  #look(): void {
    const { clock } = this.#parts;
    for (const member of this.#members.overdue()) this.#lapse(member);
    this.#turns.sweep(clock.nowMs());
    this.#cancelTimer = clock.after(LOOK_EVERY_MS, () => this.#look());
  }

  #lapse(member: Member): void {
    this.#members.lapse(member);
    // It may have fetched all pages that it was granted: they count until its next report.
    this.#rate.leave(member.name, this.#parts.clock.nowMs() + ON_THE_WAY_MS);
    this.#turns.lapsed(this.#parts.clock.nowMs(), member.name);
  }

  #onHeard(member: Member, grant: number): void {
    this.#rate.heard(member.name, grant);
    this.#pages.heard(member.name, grant);
    // Other processes can use what it gave back at once.
    for (const other of this.#members.all())
      if (other !== member && other.report?.isHungry === true) this.#license(other);
  }

  #onReport(member: Member, report: Report): void {
    const nowMs = this.#parts.clock.nowMs();
    const { name } = member;
    if (member.livesBefore.has(report.life)) return this.#refuse(name, report);
    if (!this.#members.isNews(member, report)) return;
    // A term of another coordinator does not count here.
    const term = report.leader === this.#leader ? report.term : 0;
    if (term !== member.term && member.licensedUntilMs !== -Infinity) {
      // Its licence has ended by its own clock, which is earlier than here.
      if (term === 0) this.#lapse(member);
      else return;
    }
    member.heardAtMs = nowMs;
    member.hasEnded = report.hasEnded;
    member.report = report;
    member.exchange = report.exchange;
    member.snapshot = report.snapshot ?? member.snapshot;
    if (report.waiting !== null) {
      member.waiting = report.waiting;
      member.waitingAtMs = nowMs;
    }
    if (term === member.term) {
      this.#rate.heard(name, report.grant);
      this.#pages.heard(name, report.grant);
      for (const given of report.given) this.#turns.given(nowMs, name, given);
      if (this.#popular.length < POPULAR_MAX) this.#popular.push(...report.popular);
      for (const wish of report.wishes) this.#turns.wanted(nowMs, name, wish);
    }
    this.#parts.onReport?.(member, report);
    if (report.isDry && this.#end === "no") this.#serve(member, nowMs);
    this.#settle(member, report);
    if (!report.hasEnded) this.#license(member);
  }

  /** Waits until all have reported since the process was last given a part: else the same URLs would count again. */
  #serve(member: Member, nowMs: number): void {
    const waiting = new Map<number, number>();
    for (const other of this.#members.all()) {
      if (other.report === undefined) continue;
      if (other.waitingAtMs <= member.servedAtMs) return;
      // Its report does not contain yet what it was just given.
      const given = other.waitingAtMs <= other.servedAtMs ? other.given : [];
      for (const [bucket, urls] of [...(other.waiting ?? []), ...given])
        waiting.set(bucket, (waiting.get(bucket) ?? 0) + urls);
    }
    const given = this.#parts.handOut(member.name, waiting);
    if (given.length === 0) return;
    member.given = given;
    member.servedAtMs = nowMs;
  }

  /** Detects that all processes are done. */
  #settle(member: Member, report: Report): void {
    const isAtEnd = !report.isSated || this.#pagesSoFar() >= this.#pages.total;
    if (report.isDone && isAtEnd && report.epoch === (this.#division?.epoch ?? 0)) {
      const { wave, activity } = report;
      if (member.quiet?.wave !== wave) member.quietBefore = member.quiet;
      member.quiet = { wave, activity };
    } else member.quiet = member.quietBefore = undefined;
    if (this.#end !== "no" || this.#parts.mayEnd?.() === false) return;
    const all = [...this.#members.all()];
    if (!all.every(({ quiet }) => quiet?.wave === this.#wave)) return;
    if (!all.every((one) => isSteady(one))) this.#wave += 1;
    else if (!this.#isDone) {
      this.#isDone = true;
      this.#parts.onDone(all.reduce((sum, one) => sum + (one.report?.unreachable ?? 0), 0));
    }
  }

  #license(member: Member): void {
    const { clock, bus, licenceMs } = this.#parts;
    const { name, report } = member;
    if (report === undefined) return;
    const nowMs = clock.nowMs();
    this.#grants += 1;
    const terms = { number: this.#grants, endsAtMs: nowMs + licenceMs };
    const limitBps = this.#rateFor(member, nowMs, terms);
    const pagesMax = this.#pagesFor(member, nowMs, terms);
    const knows = report.epoch >= (this.#division?.epoch ?? 0);
    const popularFrom = report.term === member.term ? report.popularKnown : 0;
    const licence: Licence = {
      kind: "licence",
      answers: report.sentAtMs,
      forMs: licenceMs,
      leader: this.#leader,
      term: member.term,
      grant: this.#grants,
      limitBps,
      wholeBps: this.#rate.total === Infinity ? null : this.#rate.total,
      pagesMax,
      division: knows || this.#division === undefined ? null : writeDivision(this.#division),
      wave: this.#wave,
      ...this.#turns.newsFor(nowMs, name, TURNS_AT_ONCE),
      popular: this.#popular.slice(popularFrom, popularFrom + POPULAR_AT_ONCE),
      held: [...this.#holds].join("; "),
      changes: this.#changes
        .filter(({ number }) => number > report.change)
        .slice(0, CHANGES_AT_ONCE),
      outcomes: report.requests.flatMap(({ id }) => this.outcomeOf(id) ?? []),
      end: this.#end === "no" && member.mayGo ? "finish" : this.#end,
      why: this.#why,
    };
    member.licensedUntilMs = nowMs + licenceMs;
    bus.tell(name, asControlMessage(licence));
  }

  #licenseAll(): void {
    for (const member of this.#members.all())
      if (member.report !== undefined) this.#license(member);
  }

  #rateFor(member: Member, nowMs: number, terms: Terms): number | null {
    const { total } = this.#rate;
    if (total === Infinity) return null;
    const claims = [...this.#members.all()].map(({ name, report }) => ({
      holder: name,
      ceiling: report === undefined ? 0 : this.#ceilingOf(report, total),
      floor: report?.neededBps ?? 0,
    }));
    const wanted = divide(total, claims).get(member.name) ?? 0;
    return this.#rate.grant(member.name, nowMs, wanted, terms);
  }

  #ceilingOf({ isHungry, usedBps, isDry }: Report, totalBps: number): number {
    if (isHungry) return Infinity;
    return HEADROOM * usedBps + (isDry ? 0.25 : 1) * IN_HAND_SHARE * totalBps;
  }

  #pagesFor(member: Member, nowMs: number, terms: Terms): number | null {
    const { total } = this.#pages;
    if (total === Infinity) return null;
    const own = member.report?.pages ?? 0;
    const left = Math.max(0, total - this.#pagesSoFar());
    const part = Math.ceil(left / (2 * this.#members.size));
    const wanted = member.report?.isDry === true ? own : own + part;
    const forGood = { ...terms, endsAtMs: Infinity };
    return Math.floor(this.#pages.grant(member.name, nowMs, wanted, forGood));
  }

  #pagesSoFar(): number {
    let pages = 0;
    for (const { report, snapshot } of this.#members.all())
      pages += report?.pages ?? snapshot?.totals.pages ?? 0;
    return pages;
  }
}

type Terms = { readonly number: number; readonly endsAtMs: number };

/** Whether it was quiet in two successive waves, with no activity in between. */
function isSteady({ quiet, quietBefore }: Member): boolean {
  return (
    quiet !== undefined && quietBefore !== undefined && quiet.activity === quietBefore.activity
  );
}
