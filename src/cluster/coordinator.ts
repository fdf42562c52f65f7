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
  ALONE_FALL_MS,
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
  /** How long a process continues alone when its licence has ended; 0 by default. */
  readonly aloneMs?: number;
  /** Processes that may hold grants of an earlier coordinator. */
  readonly inherited?: Iterable<string>;
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
/** How long a process uses its turns alone: longer than a restart of NATS, and as long as others may wait for them. */
const TURNS_ALONE_MS = 90_000;
/** Clocks differ in rate by at most a tenth. */
const TURNS_MARGIN = 1.25;

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
  readonly #aloneMs: number;
  readonly #fallMs: number;
  readonly #turnsAloneMs: number;
  readonly #startedAtMs: number;
  #knowsTurns = true;

  constructor(parts: CoordinatorParts) {
    this.#parts = parts;
    this.#members = new Members(parts.clock);
    this.#startedAtMs = parts.clock.nowMs();
    this.#aloneMs = parts.aloneMs ?? 0;
    this.#fallMs = Math.min(ALONE_FALL_MS, this.#aloneMs);
    this.#turnsAloneMs = Math.min(TURNS_ALONE_MS, this.#aloneMs);
    for (const name of parts.inherited ?? []) {
      const member = this.#members.add(name);
      member.isUnheard = true;
      member.hasDeclared = false;
      this.#knowsTurns = false;
    }
    this.#turns = new TurnBook(this.#startedAtMs, this.#knowsTurns);
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
    for (const member of this.#members.all()) this.#watchOver(member, clock.nowMs());
    this.#openTurns();
    this.#turns.sweep(clock.nowMs());
    this.#cancelTimer = clock.after(LOOK_EVERY_MS, () => this.#look());
  }

  #watchOver(member: Member, nowMs: number): void {
    if (member.licensedUntilMs <= nowMs && !member.hasEnded) member.isAway = true;
    if (member.turnsUntilMs > nowMs || member.turnsUntilMs === -Infinity) return;
    member.turnsUntilMs = -Infinity;
    this.#turns.lapsed(nowMs, member.name);
  }

  /** Once no process holds a turn of an earlier coordinator that is unknown here. */
  #openTurns(): void {
    if (this.#knowsTurns) return;
    const nowMs = this.#parts.clock.nowMs();
    // By then the turns have ended of a process that has not been heard of since.
    const isOver = nowMs >= this.#startedAtMs + TURNS_MARGIN * this.#turnsAloneMs;
    this.#knowsTurns = [...this.#members.all()].every(
      ({ hasDeclared, isUnheard }) => hasDeclared || (isUnheard && isOver),
    );
    if (this.#knowsTurns) this.#turns.open(nowMs);
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
    const isNewLife = member.life !== undefined && member.life !== report.life;
    if (!this.#members.isNews(member, report)) return;
    // A term of another coordinator does not count here.
    const term = report.leader === this.#leader ? report.term : 0;
    if (member.isUnheard) this.#inherit(member, report);
    // It still goes by a licence of an earlier coordinator; its first one from here is on its way.
    const isOfEarlier = report.term !== 0 && report.leader < this.#leader;
    if (!isOfEarlier && term !== member.term && member.licensedUntilMs !== -Infinity) {
      // Its licence has ended by its own clock, which is earlier than here.
      // Without ever having had one, it may still receive its first licence.
      if (term !== 0) return;
      if (isNewLife || member.isConfirmed) this.#lapse(member);
    }
    member.heardAtMs = nowMs;
    member.isAway = false;
    member.hasEnded = report.hasEnded;
    member.report = report;
    member.exchange = report.exchange;
    member.snapshot = report.snapshot ?? member.snapshot;
    if (report.waiting !== null) {
      member.waiting = report.waiting;
      member.waitingAtMs = nowMs;
    }
    if (term === member.term) {
      member.isConfirmed = true;
      this.#rate.heard(name, report.grant);
      this.#pages.heard(name, report.grant);
      for (const given of report.given) this.#turns.given(nowMs, name, given);
      if (this.#popular.length < POPULAR_MAX) this.#popular.push(...report.popular);
      for (const turn of report.held) this.#turns.held(nowMs, name, turn);
      for (const wish of report.wishes) this.#turns.wanted(nowMs, name, wish);
      if (report.held.length === 0) member.hasDeclared = true;
    }
    this.#parts.onReport?.(member, report);
    if (report.hasEnded) member.hasDeclared = true;
    if (report.isDry && this.#end === "no") this.#serve(member, nowMs);
    this.#settle(member, report);
    if (!report.hasEnded) this.#license(member);
  }

  /** It goes by its old grants until it has a licence of this coordinator; one without a licence has none. */
  #inherit(member: Member, { term, heldBps }: Report): void {
    member.isUnheard = false;
    member.inheritedBps = heldBps ?? 0;
    member.hasDeclared = term === 0;
    const endsAtMs = this.#parts.clock.nowMs() + this.#parts.licenceMs + this.#aloneMs;
    this.#rate.add(member.name, { number: 0, amount: member.inheritedBps, endsAtMs });
  }

  /** Of processes that have not reported to this coordinator: first all that the others had not, then their parts. */
  #unheardBps(nowMs: number): number {
    const all = [...this.#members.all()];
    const unheard = all.filter(({ isUnheard }) => isUnheard).length;
    if (unheard === 0) return 0;
    const { total } = this.#rate;
    if (nowMs >= this.#startedAtMs + this.#fallMs) return (total * unheard) / all.length;
    return Math.max(0, total - all.reduce((sum, { inheritedBps }) => sum + inheritedBps, 0));
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
    const terms = { number: this.#grants, endsAtMs: nowMs + licenceMs + this.#fallMs };
    const limitBps = this.#rateFor(member, nowMs, terms);
    const aloneBps =
      limitBps === null ? null : Math.min(limitBps, this.#rate.total / this.#members.size);
    const aloneUntilMs = nowMs + licenceMs + this.#aloneMs;
    if (aloneBps !== null && this.#aloneMs > this.#fallMs)
      this.#rate.add(name, { ...terms, amount: aloneBps, endsAtMs: aloneUntilMs });
    const pagesMax = this.#pagesFor(member, nowMs, terms);
    const knows = report.epoch >= (this.#division?.epoch ?? 0);
    const popularFrom = report.term === member.term ? report.popularKnown : 0;
    const licence: Licence = {
      kind: "licence",
      life: report.life,
      answers: report.sentAtMs,
      forMs: licenceMs,
      aloneMs: this.#aloneMs,
      turnsAloneMs: this.#turnsAloneMs,
      aloneBps,
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
    member.aloneUntilMs = aloneUntilMs;
    member.turnsUntilMs = nowMs + licenceMs + TURNS_MARGIN * this.#turnsAloneMs;
    bus.tell(name, asControlMessage(licence));
  }

  #licenseAll(): void {
    for (const member of this.#members.all())
      if (member.report !== undefined) this.#license(member);
  }

  #rateFor(member: Member, nowMs: number, terms: Terms): number | null {
    const { total } = this.#rate;
    if (total === Infinity) return null;
    const claims = [...this.#members.all()].map((one) => {
      const { name, report } = one;
      // One that continues alone can be given nothing, and has what it has.
      const isReached = one === member || this.#members.isHere(one);
      if (report === undefined || !isReached)
        return { holder: name, ceiling: this.#rate.heldBy(name, nowMs) };
      return {
        holder: name,
        ceiling: this.#ceilingOf(report, total),
        floor: report.neededBps,
      };
    });
    const wanted = divide(total, claims).get(member.name) ?? 0;
    const reserved = this.#unheardBps(nowMs);
    return this.#rate.grant(member.name, nowMs, wanted, { ...terms, reserved });
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
