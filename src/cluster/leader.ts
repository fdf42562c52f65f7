/**
 * The node that coordinates a cluster, for as long as it leads: takes nodes in and lets them go, deals the web
 * to them, and writes the division into the registry before anybody goes by it.
 *
 * A new leader waits for one licence's time before it gives any: by then every licence of an earlier leader has
 * ended, and what was lent is free. What it says and writes carries its term, so that of two who think they
 * lead the later one is heard.
 *
 * That the crawl is over is written down, too, before anybody is told: who was cut off then must not take it
 * for lost what the others have done.
 */

import { couldNotBeReached } from "../crawl/unreachable.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Settings } from "../config/schema.ts";
import type { Division } from "../crawl/ownership.ts";
import type { Snapshot } from "../control/snapshot.ts";
import type { Bus, Membership } from "../exchange/bus.ts";
import type { Registry } from "../exchange/registry.ts";
import type { Worker } from "../partition/assignment.ts";
import type { Coordination } from "../partition/mode.ts";
import type { CanonicalUrl } from "../url/url.ts";
import { Coordinator } from "./coordinator.ts";
import { CrawlRecord, type Over } from "./crawl-record.ts";
import { Dealing } from "./dealing.ts";
import type { Member } from "./members.ts";
import { asNote, COORDINATOR, knownIn, type Report } from "./notes.ts";
import { readDivision } from "./written-division.ts";
import { SharedLine } from "./shared-line.ts";
import { type Newcomers, Strangers } from "./strangers.ts";
import { partitionOf } from "./team-means.ts";
import { isFinal, wholeOf } from "./whole-view.ts";

export interface LeaderParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly bus: Bus;
  readonly registry: Registry;
  readonly settings: Settings;
  readonly seeds: readonly CanonicalUrl[];
  readonly spec: string;
  readonly term: number;
  /** The last division that this node went by, and whether it has taken part in this run. */
  readonly known: Division;
  readonly hasTakenPart: boolean;
  /** This node has just begun the crawl, which was not there before. */
  readonly isBeginning: boolean;
  readonly licenceMs: number;
  /** False once it no longer leads: then nothing is said any more. */
  readonly isLeading: () => boolean;
  readonly onFault: (fault: unknown) => void;
}

const LOOK_EVERY_MS = 250;
const SHOW_EVERY_MS = 1_000;
export class Leader {
  readonly #parts: LeaderParts;
  readonly #line: SharedLine;
  readonly #leaving = new Set<string>();
  /** Of these, who has handed everything over. */
  readonly #released = new Set<string>();
  readonly #startedAtMs: number;
  #member: Membership | undefined;
  #coordinator: Coordinator | undefined;
  #dealing: Dealing | undefined;
  readonly #strangers: Strangers;
  #isWriting = false;
  #mustWrite = false;
  #inForceBps: number | undefined;
  #whole: Snapshot | undefined;
  #shownAtMs = -Infinity;
  /** How the crawl ends; undefined while it does not. */
  #over: Over | undefined;
  readonly #record: CrawlRecord;
  #cancelTimer: (() => void) | undefined;

  constructor(parts: LeaderParts) {
    this.#parts = parts;
    this.#line = new SharedLine(parts.clock, parts.settings);
    this.#record = new CrawlRecord(parts);
    this.#startedAtMs = parts.clock.nowMs();
    this.#strangers = new Strangers(parts.clock);
  }

  get snapshot(): Snapshot | undefined {
    return this.#whole;
  }

  /** Everybody has said their last word, or goes on without this node and its successor knows that. */
  mayGo(node: string): boolean {
    const members = [...(this.#coordinator?.members.all() ?? [])];
    if (this.isEnding) return this.#whole !== undefined && isFinal(this.#whole);
    return !this.#isWriting && members.every(({ name }) => name !== node);
  }

  get isEnding(): boolean {
    return this.#over !== undefined;
  }

  async start(): Promise<void> {
    const { bus, clock, licenceMs } = this.#parts;
    const dealing = await this.#takeUp();
    if (dealing === undefined) return;
    this.#dealing = dealing;
    const member = await bus.join(COORDINATOR, {
      onParcel: () => undefined,
      onReceipt: () => undefined,
      onNote: (from, note) => {
        const known = knownIn(note);
        if (known !== undefined) return this.#onKnown(readDivision(known.division));
        this.#coordinator?.onNote(from, note);
        const bytes = this.#coordinator?.members.get(from)?.report?.bytes;
        if (bytes !== undefined) this.#line.received(from, bytes);
      },
    });
    if (this.#record.isStopped) return member.leave();
    this.#member = member;
    // Where the crawl has just begun nobody has a licence.
    const waitMs = this.#isIgnorant && this.#parts.isBeginning ? 0 : licenceMs;
    this.#cancelTimer = clock.after(waitMs, () => this.#begin());
  }

  /** Ends the crawl of all nodes, to be gone on with later. */
  end(why: string): void {
    this.#endAs("stop", why);
  }

  async stop(): Promise<void> {
    this.#record.stop();
    this.#cancelTimer?.();
    this.#coordinator?.stop();
    await this.#member?.leave();
  }

  #endAs(how: Over["how"], why: string): void {
    if (this.#over?.how === "stop") return;
    this.#over = { how, why };
    this.#write();
  }

  /** Goes on with the division in the registry, or with what this node knows of it, as its own. */
  async #takeUp(): Promise<Dealing | undefined> {
    const { known, hasTakenPart } = this.#parts;
    this.#over = await this.#record.howItEnded(!hasTakenPart);
    let dealing: Dealing | undefined;
    const division = await this.#record.takeUp((kept) => {
      dealing = this.#dealingOf(kept === undefined || known.epoch > kept.epoch ? known : kept);
      if (dealing.division.members.size > 0) dealing.renumber();
      return dealing.division;
    });
    return division === undefined ? undefined : dealing;
  }

  #dealingOf(last: Division): Dealing {
    const { settings, seeds } = this.#parts;
    const partition = partitionOf(settings);
    return new Dealing(
      {
        coordination: settings.coordination as Exclude<Coordination, "independent">,
        partition,
        grain: settings.grain,
        seeded: seeds.map((url) => partition.bucketOf(url)),
      },
      [],
      last,
    );
  }

  #begin(): void {
    const { clock, settings, term, licenceMs, isLeading } = this.#parts;
    const dealing = this.#dealing as Dealing;
    this.#coordinator = new Coordinator({
      clock,
      bus: { tell: (to, note) => isLeading() && this.#member?.tell(to, note) },
      licenceMs,
      division: dealing.division,
      handOut: (dry, wanted) => {
        if (!this.#leaving.has(dry) && dealing.handOut(dry, wanted)) this.#write();
      },
      onDone: (unreachable) =>
        unreachable > 0
          ? this.#endAs("stop", couldNotBeReached(unreachable))
          : this.#endAs("finish", ""),
      mayEnd: () => !this.#isWriting && this.#strangers.isEmpty && this.#leaving.size === 0,
      limitBps: this.#line.agreedBps(),
      pagesMax: settings.pagesMax,
      term,
      onStranger: (name, report) => this.#onStranger(name, report),
      onReport: (member, report) => this.#onReport(member, report),
    });
    for (const name of dealing.division.members) this.#coordinator.members.add(name);
    if (this.#over !== undefined) this.#coordinator.end(this.#over.how, this.#over.why);
    this.#look();
  }

  #onStranger(name: string, report: Report): void {
    const { spec } = this.#parts;
    const { life } = report;
    if (report.hasEnded || report.isLeaving) return;
    this.#strangers.heard();
    if (report.spec !== spec) {
      const why = "this node has other settings, other seeds or another version of Weir";
      return this.#member?.tell(name, asNote({ kind: "refusal", life, why }));
    }
    // Its licence is from an earlier leader, and is waited for like all others.
    if (report.term !== 0) return;
    this.#strangers.add(name, report);
  }

  /** Nobody has told how the web is divided, neither the registry nor the node itself. */
  get #isIgnorant(): boolean {
    return this.#dealing?.division.members.size === 0;
  }

  /** Somebody knew of a division and may tell it: until then nobody is taken in. */
  get #mayLearn(): boolean {
    const ledMs = this.#parts.clock.nowMs() - this.#startedAtMs;
    const { licenceMs } = this.#parts;
    return this.#isIgnorant && this.#strangers.hasVeterans && ledMs < 2 * licenceMs;
  }

  /** The table was lost, and this node is new: it goes on with what the others know. */
  #onKnown(division: Division): void {
    if (!this.#isIgnorant || this.#record.isStopped) return;
    this.#cancelTimer?.();
    this.#coordinator?.stop();
    this.#coordinator = undefined;
    this.#strangers.clear();
    this.#dealing = this.#dealingOf(division);
    this.#dealing.renumber();
    this.#write();
    this.#cancelTimer = this.#parts.clock.after(this.#parts.licenceMs, () => this.#begin());
  }

  #onReport({ name }: Member, report: Report): void {
    const dealing = this.#dealing as Dealing;
    // Somebody went by a later division than this one knows: only its number matters.
    if (report.epochKnown > dealing.division.epoch) {
      dealing.skipTo(report.epochKnown);
      this.#write();
    }
    if (report.wantsStop !== "" && !this.isEnding) this.end(report.wantsStop);
    if (dealing.handedOver(name, report.handedOver)) this.#write();
    if (report.isLeaving && !this.#leaving.has(name)) this.#onLeaving(name);
    const isFree = report.isDone && report.epoch === dealing.division.epoch;
    if (!this.#leaving.has(name) || !isFree || dealing.isHandingOver(name)) return;
    // First it is written down that it takes no part any more, so that no later leader waits for it.
    if (!dealing.division.members.has(name)) this.#coordinator?.release(name);
    else if (!this.#released.has(name)) {
      this.#released.add(name);
      this.#remember(name);
      this.#refit(new Set());
    }
  }

  #onLeaving(name: string): void {
    const { licenceMs } = this.#parts;
    const others = this.#coordinator?.members.names().filter((one) => one !== name) ?? [];
    const isLast = others.every((one) => this.#leaving.has(one));
    // Somebody may be there who has not been taken in yet.
    const isAlone = this.#strangers.quietMs > 2 * licenceMs;
    if (isLast && !isAlone) return;
    this.#leaving.add(name);
    // Where nobody is left to take it over everything stays where it is.
    if (isLast) this.end("all nodes have left");
    else this.#refit(new Set());
  }

  #look(): void {
    const { clock, settings } = this.#parts;
    const nowMs = clock.nowMs();
    try {
      if (!this.#mayLearn) this.#takeIn(this.#strangers.takeIfDue());
      this.#letGo(nowMs, settings.nodeTimeoutMs);
      this.#judgeLine();
      const isNews = this.#haveAllEnded && !(this.#whole !== undefined && isFinal(this.#whole));
      if (isNews || nowMs - this.#shownAtMs >= SHOW_EVERY_MS) this.#show(nowMs);
    } catch (fault) {
      this.#parts.onFault(fault);
    }
    this.#cancelTimer = clock.after(LOOK_EVERY_MS, () => this.#look());
  }

  get #haveAllEnded(): boolean {
    const members = [...(this.#coordinator?.members.all() ?? [])];
    return this.isEnding && members.every(({ hasEnded }) => hasEnded);
  }

  #takeIn(newcomers: Newcomers | undefined): void {
    if (newcomers === undefined) return;
    const { names, veterans, epochKnown } = newcomers;
    const dealing = this.#dealing as Dealing;
    for (const name of names) {
      this.#coordinator?.members.add(name);
    }
    if (epochKnown > dealing.division.epoch) dealing.skipTo(epochKnown);
    this.#refit(new Set(), veterans);
  }

  /** Those who have handed over everything may go; those who are silent for too long are lost. */
  #letGo(nowMs: number, timeoutMs: number): void {
    const lost = new Set<string>();
    const gone: string[] = [];
    for (const { name, heardAtMs, hasEnded, mayGo } of this.#coordinator?.members.all() ?? []) {
      if (this.isEnding) continue;
      // Its last word may have been lost.
      const isSilent = nowMs - heardAtMs > 2 * this.#parts.licenceMs;
      if ((hasEnded && this.#leaving.has(name)) || (mayGo && isSilent)) gone.push(name);
      else if (nowMs - heardAtMs > timeoutMs) lost.add(name);
    }
    if (gone.length === 0 && lost.size === 0) return;
    for (const name of [...gone, ...lost]) {
      if (!lost.has(name)) this.#remember(name);
      this.#coordinator?.gone(name);
      this.#coordinator?.members.remove(name);
      this.#leaving.delete(name);
      this.#released.delete(name);
      const message = lost.has(name) ? "a node is lost; the others take over" : "a node has left";
      this.#parts.log.write({ level: "warn", message, values: { node: name } });
    }
    this.#refit(lost);
  }

  /** What it has done counts for the whole when it is gone. */
  #remember(name: string): void {
    const { snapshot } = this.#coordinator?.members.get(name) ?? {};
    if (snapshot !== undefined) this.#dealing?.remember(name, snapshot.totals);
  }

  #refit(lost: ReadonlySet<string>, veterans: readonly string[] = []): void {
    const all = this.#coordinator?.members.names() ?? [];
    const workers: Worker[] = all
      .filter((name) => !this.#leaving.has(name))
      .map((name) => ({ name, weight: 1 }));
    const members = new Set(all.filter((name) => !this.#released.has(name)));
    this.#dealing?.refit(workers, lost, members, veterans);
    this.#write();
  }

  /** Written before it is announced: a later leader must know it. */
  #write(): void {
    this.#mustWrite = true;
    if (this.#isWriting) return;
    this.#isWriting = true;
    this.#writeOn().then(
      () => {
        this.#isWriting = false;
      },
      (fault) => this.#parts.onFault(fault),
    );
  }

  async #writeOn(): Promise<void> {
    while (this.#mustWrite) {
      this.#mustWrite = false;
      const { division } = this.#dealing as Dealing;
      const over = this.#over;
      if (!(await this.#record.write(division, over))) return;
      this.#coordinator?.redivide(division);
      if (over !== undefined) this.#coordinator?.end(over.how, over.why);
    }
  }

  #judgeLine(): void {
    const limitBps = this.#line.agreedBps();
    if (limitBps !== this.#inForceBps) {
      const isNothing = limitBps === 0;
      if (isNothing !== (this.#inForceBps === 0))
        this.#coordinator?.hold("the calendar allows nothing now", isNothing);
      this.#inForceBps = limitBps;
      this.#line.meter.setLimit(this.#parts.clock.nowMs(), isNothing ? undefined : limitBps);
      if (!isNothing) this.#coordinator?.setLimit(limitBps);
    }
    if (this.isEnding) return;
    const usages = [...(this.#coordinator?.members.all() ?? [])].map(
      ({ snapshot }) => snapshot?.totals.usage ?? "",
    );
    const why = this.#line.whyQuotaEnds(usages);
    if (why !== undefined) this.end(why);
  }

  /** Shows the whole to everybody. */
  #show(nowMs: number): void {
    this.#shownAtMs = nowMs;
    const members = [...(this.#coordinator?.members.all() ?? [])];
    const names = members.map(({ name }) => name);
    const ended = this.#over?.how === "finish" ? "done" : "stopped";
    const ending = this.#haveAllEnded ? ended : "stopping";
    this.#whole = wholeOf(members, this.#dealing?.division.left, {
      state: this.isEnding ? ending : "running",
      elapsedMs: nowMs - this.#startedAtMs,
      limitBps: this.#inForceBps,
      recentBps: this.#line.meter.recentBps(nowMs),
    });
    const note = asNote({ kind: "look", snapshot: this.#whole });
    if (this.#parts.isLeading()) for (const name of names) this.#member?.tell(name, note);
  }
}
