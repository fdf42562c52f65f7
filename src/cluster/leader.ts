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
import { CrawlError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Settings } from "../config/schema.ts";
import type { Division } from "../crawl/ownership.ts";
import type { Snapshot } from "../control/snapshot.ts";
import type { Bus, Membership } from "../exchange/bus.ts";
import type { Registry } from "../exchange/registry.ts";
import type { Worker } from "../partition/assignment.ts";
import type { Coordination } from "../partition/mode.ts";
import type { CanonicalUrl } from "../url/url.ts";
import { type Change, ChangeList, type ChangeRequest, MESSAGE_CHARS_MAX } from "./change-list.ts";
import { Coordinator } from "./coordinator.ts";
import { CrawlRecord, type Over } from "./crawl-record.ts";
import { Dealing } from "./dealing.ts";
import type { Member } from "./members.ts";
import { MessageReader } from "./message-reader.ts";
import { asNote, COORDINATOR, type Known, type Report } from "./notes.ts";
import { readDivision } from "./written-division.ts";
import { SharedSettings } from "./shared-settings.ts";
import { type Newcomers, Strangers } from "./strangers.ts";
import { partitionOf } from "./team-means.ts";
import { forMessage } from "./bounded-snapshot.ts";
import { FLOWS_NODES_MAX, isFinal, wholeOf } from "./whole-view.ts";

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
  /** The changes that this node has made. */
  readonly knownChanges: readonly Change[];
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
const REFUSED_MAX = 64;

export class Leader {
  readonly #parts: LeaderParts;
  readonly #shared: SharedSettings;
  #changes = new ChangeList();
  /** Requested changes that were refused, by their ids. */
  readonly #refused = new Map<string, string>();
  readonly #leaving = new Set<string>();
  /** Of these, who has handed everything over. */
  readonly #released = new Set<string>();
  readonly #startedAtMs: number;
  readonly #reader: MessageReader;
  #member: Membership | undefined;
  #coordinator: Coordinator | undefined;
  #dealing: Dealing | undefined;
  readonly #strangers: Strangers;
  #isWriting = false;
  #mustWrite = false;
  #whole: Snapshot | undefined;
  #shownAtMs = -Infinity;
  /** How the crawl ends; undefined while it does not. */
  #over: Over | undefined;
  readonly #record: CrawlRecord;
  #cancelTimer: (() => void) | undefined;

  constructor(parts: LeaderParts) {
    this.#parts = parts;
    const { clock, settings } = parts;
    const coordinator = (): Coordinator | undefined => this.#coordinator;
    const onStop = (why: string): void => this.end(why);
    this.#shared = new SharedSettings({ clock, settings, coordinator, onStop });
    this.#record = new CrawlRecord(parts);
    this.#reader = new MessageReader(parts.log);
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
        const message = this.#reader.read(from, note);
        if (message === undefined) return;
        if (message.kind === "known") return this.#onKnown(message);
        this.#coordinator?.onMessage(from, message);
        const bytes = this.#coordinator?.members.get(from)?.report?.bytes;
        if (bytes !== undefined) this.#shared.line.received(from, bytes);
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
    const { known, knownChanges, hasTakenPart } = this.#parts;
    const { over, isResumed } = await this.#record.howItEnded(!hasTakenPart);
    this.#over = over;
    let dealing: Dealing | undefined;
    const kept = await this.#record.takeUp((before) => {
      const isAhead = before === undefined || known.epoch > before.division.epoch;
      dealing = this.#dealingOf(isAhead ? known : before.division);
      if (dealing.division.members.size > 0) dealing.renumber();
      // A change holds until the crawl ends.
      const changes = isResumed ? [] : (before?.changes ?? []);
      this.#changes = new ChangeList(later(changes, knownChanges));
      return { division: dealing.division, changes: this.#changes.all };
    });
    return kept === undefined ? undefined : dealing;
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
      handOut: (dry, waiting) => {
        const given = this.#leaving.has(dry) ? [] : dealing.handOut(dry, waiting);
        if (given.length > 0) this.#write();
        return given;
      },
      onDone: (unreachable) =>
        unreachable > 0
          ? this.#endAs("stop", couldNotBeReached(unreachable))
          : this.#endAs("finish", ""),
      mayEnd: () => !this.#isWriting && this.#strangers.isEmpty && this.#leaving.size === 0,
      limitBps: this.#shared.line.agreedBps(),
      pagesMax: settings.pagesMax,
      term,
      onStranger: (name, report) => this.#onStranger(name, report),
      onReport: (member, report) => this.#onReport(member, report),
      refusedBecause: (id) => this.#refused.get(id),
    });
    this.#shared.attach();
    // What an earlier leader accepted; how it ended is recorded apart.
    for (const { key, value } of this.#changes.all)
      if (key !== "stop") this.#shared.apply(key, value);
    this.#coordinator.setChanges(this.#changes.all);
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
  #onKnown({ division: written, changes }: Known): void {
    if (!this.#isIgnorant || this.#record.isStopped) return;
    const division = readDivision(written);
    if (division?.owners.length !== this.#parts.known.owners.length) return;
    this.#cancelTimer?.();
    this.#coordinator?.stop();
    this.#coordinator = undefined;
    this.#strangers.clear();
    this.#dealing = this.#dealingOf(division);
    this.#dealing.renumber();
    this.#changes = new ChangeList(later(this.#changes.all, changes));
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
    if (report.change > this.#changes.last) {
      this.#changes.renumberAbove(report.change);
      this.#write();
    }
    for (const request of report.requests) this.#onRequest(request);
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

  /** In force at once; confirmed when it is written, so that a later leader knows it, and every node has made it. */
  #onRequest(request: ChangeRequest): void {
    const { id, key, value } = request;
    if (this.#changes.has(id) || this.#refused.has(id)) return;
    try {
      const why = this.#changes.whyNot(request);
      if (why !== undefined) throw new CrawlError("USAGE", why);
      this.#changes.add(request, this.#shared.apply(key, value));
      this.#write();
    } catch (error) {
      if (!(error instanceof CrawlError)) throw error;
      const [oldest] = this.#refused.keys();
      if (this.#refused.size >= REFUSED_MAX && oldest !== undefined) this.#refused.delete(oldest);
      this.#refused.set(id, error.message.slice(0, MESSAGE_CHARS_MAX));
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
      if (isNews || nowMs - this.#shownAtMs >= this.#showEveryMs) this.#show(nowMs);
    } catch (fault) {
      this.#parts.onFault(fault);
    }
    this.#cancelTimer = clock.after(LOOK_EVERY_MS, () => this.#look());
  }

  /** All that is shown in a second grows with the square of the nodes: beyond 32 it is shown more rarely. */
  get #showEveryMs(): number {
    return SHOW_EVERY_MS * Math.ceil((this.#coordinator?.members.size ?? 0) / FLOWS_NODES_MAX);
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
      const changes = this.#changes.all;
      if (!(await this.#record.write({ division, changes }, over))) return;
      this.#coordinator?.redivide(division);
      this.#coordinator?.setChanges(changes);
      if (over !== undefined) this.#coordinator?.end(over.how, over.why);
    }
  }

  #judgeLine(): void {
    this.#shared.look();
    if (this.isEnding) return;
    const usages = [...(this.#coordinator?.members.all() ?? [])].map(
      ({ snapshot }) => snapshot?.totals.usage ?? "",
    );
    const why = this.#shared.line.whyQuotaEnds(usages);
    if (why !== undefined) this.end(why);
  }

  /** Shows the whole to everybody. */
  #show(nowMs: number): void {
    this.#shownAtMs = nowMs;
    const members = [...(this.#coordinator?.members.all() ?? [])];
    const names = members.map(({ name }) => name);
    const ended = this.#over?.how === "finish" ? "done" : "stopped";
    const ending = this.#haveAllEnded ? ended : "stopping";
    const { because } = this.#shared;
    const running = because === "" ? "running" : "paused";
    this.#whole = wholeOf(members, this.#dealing?.division.left, {
      state: this.isEnding ? ending : running,
      because,
      elapsedMs: nowMs - this.#startedAtMs,
      limitBps: this.#shared.limitBps,
      recentBps: this.#shared.line.meter.recentBps(nowMs),
      droppedMessages: this.#reader.dropped,
    });
    const note = asNote({ kind: "look", snapshot: forMessage(this.#whole) });
    if (this.#parts.isLeading()) for (const name of names) this.#member?.tell(name, note);
  }
}

/** Of two lists of changes the one with the latest. */
function later(a: readonly Change[], b: readonly Change[]): readonly Change[] {
  return new ChangeList(b).last > new ChangeList(a).last ? b : a;
}
