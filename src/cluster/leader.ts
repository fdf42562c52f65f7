/**
 * Leads a crawl by several processes: divides the web among them, decides limit, quota and end for all together, accepts
 * changes, and shows the whole as one crawl.
 *
 * The same on one machine, where the supervisor leads, and in a cluster, where an elected node does. What a later leader
 * must know is recorded before any process uses it. A new leader waits for the length of one licence before it gives any:
 * by then no licence of its predecessor can come into force. It adopts what the processes hold. Its messages and records
 * carry its term, so that of two supposed leaders the later one prevails.
 *
 * The end of the crawl is recorded before it is announced: a node that was cut off then must not count the finished part
 * of another node as lost.
 */

import type { Clock } from "../base/clock.ts";
import { CrawlError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Settings } from "../config/schema.ts";
import type { CrawlResult, CrawlState, Snapshot } from "../control/snapshot.ts";
import { measuredRate } from "../crawl/make-snapshot.ts";
import type { Division } from "../crawl/ownership.ts";
import { couldNotBeReached } from "../crawl/unreachable.ts";
import type { Bus, Membership } from "../exchange/bus.ts";
import type { WeightedProcess } from "../partition/assignment.ts";
import type { LoadedModel } from "../topics/model.ts";
import type { CanonicalUrl } from "../url/url.ts";
import { forMessage } from "./bounded-snapshot.ts";
import { type Change, ChangeList, type ChangeRequest, MESSAGE_CHARS_MAX } from "./change-list.ts";
import { Coordinator } from "./coordinator.ts";
import { readDivision } from "./division-codec.ts";
import { JoinQueue, type Newcomers } from "./join-queue.ts";
import type { Member } from "./members.ts";
import { MessageReader } from "./message-reader.ts";
import {
  asControlMessage,
  COORDINATOR,
  type Known,
  type Outcome,
  type Report,
} from "./messages.ts";
import { Ownership } from "./ownership.ts";
import { SharedSettings } from "./shared-settings.ts";
import { partitionOf } from "./team-setup.ts";
import { type Exact, resultOf } from "./whole-result.ts";
import { FLOWS_NODES_MAX, isFinal, wholeOf } from "./whole-view.ts";

/** How a crawl ended: finished, or stopped. */
export interface Over {
  readonly how: "finish" | "stop";
  readonly why: string;
}

/** What each leader takes over from its predecessor. */
export interface Kept {
  readonly division: Division;
  /** Made by an operator so far. */
  readonly changes: readonly Change[];
  /** When this run of the crawl began, by the wall clock; undefined before its first report. */
  readonly begunAtMs: number | undefined;
  readonly isResumed: boolean;
}

export interface Start extends Kept {
  readonly over: Over | undefined;
  /** No licence of an earlier leader can be in force. */
  readonly isFirst: boolean;
}

/** Where a leader keeps what its successors must know. */
export interface LeaderRecord {
  /** It writes nothing any more, because another node leads. */
  readonly isStopped: boolean;
  /** undefined when this node no longer leads. */
  takeUp(): Promise<Start | undefined>;
  /** False when this node no longer leads; then nothing was written. */
  write(kept: Kept, over: Over | undefined): Promise<boolean>;
  stop(): void;
}

export interface LeaderParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly bus: Bus;
  readonly settings: Settings;
  readonly seeds: readonly CanonicalUrl[];
  readonly spec: string;
  readonly record: LeaderRecord;
  /** Higher than that of every earlier leader. */
  readonly term: number;
  readonly licenceMs: number;
  /** A process that is silent for this long is lost; Infinity where each is restarted until it has ended. */
  readonly nodeTimeoutMs: number;
  /** Of the topics that decide ownership; loaded from the settings by default. */
  readonly model?: LoadedModel | undefined;
  /** The value of a change for each process, where it is divided among them. */
  readonly partOf?: (key: string, value: string) => string;
  /** False once it no longer leads: then it sends nothing more. */
  readonly isLeading: () => boolean;
  readonly onFault: (fault: unknown) => void;
}

const LOOK_EVERY_MS = 250;
const SHOW_EVERY_MS = 1_000;
const REFUSED_MAX = 64;
/** Of the time after which a silent node is lost, how long it continues alone. */
const ALONE_SHARE = 0.8;

export class Leader {
  readonly #parts: LeaderParts;
  readonly #shared: SharedSettings;
  #changes = new ChangeList();
  /** Requested changes that were refused, by their ids. */
  readonly #refused = new Map<string, string>();
  readonly #leaving = new Set<string>();
  /** New nodes: they are members, and get licences, once a division with them is recorded. */
  readonly #joining = new Set<string>();
  /** Leaving nodes that have handed everything over. */
  readonly #released = new Set<string>();
  /** By the process of that name, when it has ended. */
  readonly #results = new Map<string, CrawlResult>();
  readonly #leadsSinceMs: number;
  readonly #reader: MessageReader;
  #begunAtMs: number | undefined;
  #isResumed = false;
  #isFirst = false;
  #member: Membership | undefined;
  #coordinator: Coordinator | undefined;
  #ownership: Ownership | undefined;
  readonly #joinQueue: JoinQueue;
  #isWriting = false;
  #mustWrite = false;
  #shownAtMs = -Infinity;
  #isFinalShown = false;
  /** How the crawl ended; undefined while it runs. */
  #over: Over | undefined;
  #cancelTimer: (() => void) | undefined;

  constructor(parts: LeaderParts) {
    this.#parts = parts;
    const { clock, settings, log } = parts;
    this.#shared = new SharedSettings({
      clock,
      settings,
      coordinator: () => this.#coordinator,
      onStop: (why) => this.end(why),
    });
    this.#reader = new MessageReader(log);
    this.#leadsSinceMs = clock.nowMs();
    this.#joinQueue = new JoinQueue(clock);
  }

  get division(): Division | undefined {
    return this.#ownership?.division;
  }

  /** URLs sent between the processes so far. */
  get urlsSent(): number {
    return this.#coordinator?.exchange().urlsSent ?? 0;
  }

  /** How many URLs a process knows: its progress. */
  knownTo(name: string): number {
    return this.#coordinator?.members.get(name)?.snapshot?.totals.known ?? 0;
  }

  /** All nodes have sent their last report, or continue without this node, which the registry knows. */
  mayGo(node: string): boolean {
    if (this.isEnding) return this.#isFinalShown;
    return !this.#isWriting && this.#members.every(({ name }) => name !== node);
  }

  get isEnding(): boolean {
    return this.#over !== undefined;
  }

  async start(): Promise<void> {
    const { bus, clock, licenceMs, record } = this.#parts;
    const start = await record.takeUp();
    if (start === undefined) return;
    this.#over = start.over;
    this.#begunAtMs = start.begunAtMs;
    this.#isResumed = start.isResumed;
    this.#changes = new ChangeList(start.changes);
    this.#ownership = this.#ownershipFrom(start.division);
    const member = await bus.join(COORDINATOR, {
      onParcel: () => undefined,
      onReceipt: () => undefined,
      onMessage: (from, control) => {
        const message = this.#reader.read(from, control);
        if (message?.kind === "known") this.#onKnown(message);
        else if (message !== undefined) this.#coordinator?.onMessage(from, message);
      },
    });
    if (record.isStopped) return member.leave();
    this.#member = member;
    this.#isFirst = start.isFirst;
    if (start.isFirst) this.#begin();
    else this.#cancelTimer = clock.after(licenceMs, () => this.#begin());
  }

  /** Stops all nodes; the same commands resume. */
  end(why: string): void {
    this.#endAs("stop", why);
  }

  /** The process of this name has died, and its licence with it. It may return. */
  gone(name: string): void {
    this.#coordinator?.gone(name);
  }

  /** In force at once; confirmed when it is recorded for later leaders and every process has made it. */
  onRequest(request: ChangeRequest): void {
    const { id, key, value } = request;
    if (this.#changes.has(id) || this.#refused.has(id)) return;
    try {
      const part = { id, key, value: this.#parts.partOf?.(key, value) ?? value };
      const why = this.#changes.whyNot(part);
      if (why !== undefined) throw new CrawlError("USAGE", why);
      this.#changes.add(part, this.#shared.apply(key, value));
      this.#write();
    } catch (error) {
      if (!(error instanceof CrawlError)) throw error;
      const [oldest] = this.#refused.keys();
      if (this.#refused.size >= REFUSED_MAX && oldest !== undefined) this.#refused.delete(oldest);
      this.#refused.set(id, error.message.slice(0, MESSAGE_CHARS_MAX));
    }
  }

  /** What became of a requested change; undefined while it is not recorded. */
  outcomeOf(id: string): Outcome | undefined {
    return this.#coordinator?.outcomeOf(id);
  }

  /** The whole as one crawl. */
  snapshot(): Snapshot {
    const members = this.#members;
    const { line } = this.#shared;
    const { state, because } = this.#condition();
    return wholeOf(members, this.#ownership?.division.left, {
      state,
      because,
      resumed: this.#isResumed,
      elapsedMs: this.#elapsedMs,
      limitBps: this.#shared.limitBps,
      recentBps: line.meter.recentBps(this.#parts.clock.nowMs()),
      droppedMessages: this.#reader.dropped,
    });
  }

  /** The process of that name has ended with this result. */
  onResult(name: string, result: CrawlResult): void {
    this.#results.set(name, result);
    const member = this.#coordinator?.members.get(name);
    if (member !== undefined) member.hasEnded = true;
  }

  /** Of the whole, from the last reports of all processes; `exact` is counted in their stores where they are at hand. */
  result(exact?: Exact): CrawlResult {
    const names = this.#members.map(({ name }) => name);
    const ended = names.flatMap((name) => {
      const result = this.#results.get(name);
      return result === undefined ? [] : [{ name, result }];
    });
    const rate = measuredRate(this.#shared.line.meter, this.#shared.limitBps, this.#elapsedMs);
    const whyStopped = (pending: number): string => this.#whyStopped(pending);
    return resultOf({ whole: this.snapshot(), ended, rate, whyStopped }, exact);
  }

  async stop(): Promise<void> {
    this.#parts.record.stop();
    this.#cancelTimer?.();
    this.#coordinator?.stop();
    await this.#member?.leave();
  }

  get #members(): Member[] {
    return [...(this.#coordinator?.members.all() ?? [])];
  }

  get #elapsedMs(): number {
    const { clock } = this.#parts;
    return this.#begunAtMs === undefined ? 0 : Math.max(0, clock.wallMs() - this.#begunAtMs);
  }

  get #haveAllEnded(): boolean {
    return this.isEnding && this.#members.every(({ hasEnded }) => hasEnded);
  }

  /** It is paused, too, when all processes that have work wait for sites that cannot be reached. */
  #condition(): { readonly state: CrawlState; readonly because: string } {
    const snapshots = this.#members.flatMap(({ snapshot }) => snapshot ?? []);
    const busy = snapshots.filter(({ pending }) => pending > 0);
    const areAllPaused =
      busy.length > 0 && busy.every((one) => one.state === "paused" && one.unreachable > 0);
    const reasons = new Set(areAllPaused ? busy.map((one) => one.because) : []);
    if (this.#shared.because !== "") reasons.add(this.#shared.because);
    const because = [...reasons].join("; ");
    const pending = busy.reduce((sum, one) => sum + one.pending, 0);
    const ended = this.#whyStopped(pending) === "" ? "done" : "stopped";
    if (this.isEnding) return { state: this.#haveAllEnded ? ended : "stopping", because };
    return { state: because === "" ? "running" : "paused", because };
  }

  /** Empty for a complete crawl. */
  #whyStopped(pending: number): string {
    if (pending === 0) return "";
    if (this.#over?.how === "stop") return this.#over.why;
    return this.#parts.settings.pagesMax === undefined ? "" : "pages limit";
  }

  #endAs(how: Over["how"], why: string): void {
    if (this.#over?.how === "stop") return;
    this.#over = { how, why };
    this.#write();
  }

  #ownershipFrom(last: Division): Ownership {
    const { settings, seeds, model } = this.#parts;
    const { coordination, grain } = settings;
    const partition = partitionOf(settings, model);
    const seeded = seeds.map((url) => partition.bucketOf(url));
    return new Ownership({ coordination, partition, grain, seeded }, [], last);
  }

  #begin(): void {
    const { clock, settings, term, licenceMs, nodeTimeoutMs, isLeading } = this.#parts;
    const ownership = this.#ownership as Ownership;
    this.#coordinator = new Coordinator({
      clock,
      bus: { tell: (to, control) => isLeading() && this.#member?.tell(to, control) },
      licenceMs,
      // Less than the time after which others take over, by clocks whose rates differ by at most a tenth.
      aloneMs: Number.isFinite(nodeTimeoutMs)
        ? Math.max(0, Math.floor(ALONE_SHARE * nodeTimeoutMs - licenceMs))
        : 0,
      inherited: this.#isFirst ? [] : ownership.division.members,
      division: ownership.division,
      handOut: (dry, waiting) => {
        const given = this.#leaving.has(dry) ? [] : ownership.handOut(dry, waiting);
        if (given.length > 0) this.#write();
        return given;
      },
      onDone: (unreachable) =>
        unreachable > 0
          ? this.#endAs("stop", couldNotBeReached(unreachable))
          : this.#endAs("finish", ""),
      mayEnd: () => !this.#isWriting && this.#joinQueue.isEmpty && this.#leaving.size === 0,
      limitBps: this.#shared.line.agreedBps(),
      pagesMax: settings.pagesMax,
      term,
      onJoinRequest: (name, report) => this.#onJoinRequest(name, report),
      onReport: (member, report) => this.#onReport(member, report),
      refusedBecause: (id) => this.#refused.get(id),
    });
    this.#shared.attach();
    // What an earlier leader accepted; how it ended is recorded apart.
    for (const { key, value } of this.#changes.all)
      if (key !== "stop") this.#shared.apply(key, value);
    this.#coordinator.setChanges(this.#changes.all);
    if (this.#isFirst)
      for (const name of ownership.division.members) this.#coordinator.members.add(name);
    if (this.#over !== undefined) this.#coordinator.end(this.#over.how, this.#over.why);
    this.#look();
  }

  #onJoinRequest(name: string, report: Report): void {
    const { spec } = this.#parts;
    const { life } = report;
    if (report.hasEnded || report.isLeaving) return;
    this.#joinQueue.heard();
    if (report.spec !== spec) {
      const why = "this node has other settings, other seeds or another version of Weir";
      return this.#member?.tell(name, asControlMessage({ kind: "refusal", life, why }));
    }
    // With a licence it would be a member of a recorded division, which this leader has yet to learn.
    if (report.term !== 0 || this.#joining.has(name)) return;
    this.#joinQueue.add(name, report);
  }

  /** The division is unknown to the record and to this node. */
  get #isIgnorant(): boolean {
    return this.#ownership?.division.members.size === 0;
  }

  /** A node may know the division: until it has sent it, no node joins. */
  get #mayLearn(): boolean {
    const ledMs = this.#parts.clock.nowMs() - this.#leadsSinceMs;
    const { licenceMs } = this.#parts;
    return this.#isIgnorant && this.#joinQueue.hasVeterans && ledMs < 2 * licenceMs;
  }

  /** The record was lost, and this node is new: it continues with the division of another node. */
  #onKnown({ division: written, changes }: Known): void {
    if (!this.#isIgnorant || this.#parts.record.isStopped) return;
    const division = readDivision(written);
    if (division?.owners.length !== this.#ownership?.division.owners.length) return;
    this.#cancelTimer?.();
    this.#coordinator?.stop();
    this.#coordinator = undefined;
    this.#joinQueue.clear();
    this.#joining.clear();
    this.#isFirst = false;
    this.#ownership = this.#ownershipFrom(division as Division);
    this.#ownership.renumber();
    this.#changes = new ChangeList(laterChanges(this.#changes.all, changes));
    this.#write();
    this.#cancelTimer = this.#parts.clock.after(this.#parts.licenceMs, () => this.#begin());
  }

  #onReport({ name }: Member, report: Report): void {
    const ownership = this.#ownership as Ownership;
    if (this.#begunAtMs === undefined) {
      this.#begunAtMs = this.#parts.clock.wallMs();
      this.#write();
    }
    this.#shared.line.received(name, report.life, report.bytes);
    if (report.result !== null) this.onResult(name, report.result);
    // A node used a later division, unknown here: only its epoch matters.
    if (report.epochKnown > ownership.division.epoch) {
      ownership.skipTo(report.epochKnown);
      this.#write();
    }
    if (report.change > this.#changes.last) {
      this.#changes.renumberAbove(report.change);
      this.#write();
    }
    for (const request of report.requests) this.onRequest(request);
    if (report.wantsStop !== "" && !this.isEnding) this.end(report.wantsStop);
    if (ownership.handedOver(name, report.handedOver)) this.#write();
    if (report.isLeaving && !this.#leaving.has(name)) this.#onLeaving(name);
    const isFree = report.isDone && report.epoch === ownership.division.epoch;
    if (!this.#leaving.has(name) || !isFree || ownership.isHandingOver(name)) return;
    // First its departure is recorded, so that no later leader waits for it.
    if (!ownership.division.members.has(name)) this.#coordinator?.release(name);
    else if (!this.#released.has(name)) {
      this.#released.add(name);
      this.#remember(name);
      this.#refit(new Set());
    }
  }

  #onLeaving(name: string): void {
    const { licenceMs } = this.#parts;
    const others = this.#members.filter((one) => one.name !== name);
    const isLast = others.every((one) => this.#leaving.has(one.name));
    // Another node may be about to join.
    const isAlone = this.#joinQueue.quietMs > 2 * licenceMs;
    if (isLast && !isAlone) return;
    this.#leaving.add(name);
    // Without another node to take over, the last one keeps its part.
    if (isLast) this.end("all nodes have left");
    else this.#refit(new Set());
  }

  #look(): void {
    const { clock, nodeTimeoutMs } = this.#parts;
    const nowMs = clock.nowMs();
    try {
      if (!this.#mayLearn) this.#takeIn(this.#joinQueue.takeIfDue());
      this.#letGo(nowMs, nodeTimeoutMs);
      this.#judge();
      const isNews = this.#haveAllEnded && !this.#isFinalShown;
      if (isNews || nowMs - this.#shownAtMs >= this.#showEveryMs) this.#show(nowMs);
    } catch (fault) {
      this.#parts.onFault(fault);
    }
    this.#cancelTimer = clock.after(LOOK_EVERY_MS, () => this.#look());
  }

  /** All snapshots together grow with the square of the nodes: with more than 32 they are sent more rarely. */
  get #showEveryMs(): number {
    return SHOW_EVERY_MS * Math.ceil((this.#coordinator?.members.size ?? 0) / FLOWS_NODES_MAX);
  }

  #takeIn(newcomers: Newcomers | undefined): void {
    if (newcomers === undefined) return;
    const { names, veterans, epochKnown } = newcomers;
    const ownership = this.#ownership as Ownership;
    for (const name of names) this.#joining.add(name);
    if (epochKnown > ownership.division.epoch) ownership.skipTo(epochKnown);
    this.#refit(new Set(), veterans);
  }

  /** Removes nodes that have handed over everything, and declares lost those that are silent for too long. */
  #letGo(nowMs: number, timeoutMs: number): void {
    if (this.isEnding) return;
    const lost = new Set<string>();
    const gone: string[] = [];
    for (const { name, heardAtMs, hasEnded, mayGo } of this.#members) {
      // Its last report may have been lost.
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

  /** Keeps the totals of a node that leaves. */
  #remember(name: string): void {
    const { snapshot } = this.#coordinator?.members.get(name) ?? {};
    if (snapshot !== undefined) this.#ownership?.remember(name, snapshot.totals);
  }

  #refit(lost: ReadonlySet<string>, veterans: readonly string[] = []): void {
    const all = [...(this.#coordinator?.members.names() ?? []), ...this.#joining];
    const workers: WeightedProcess[] = all
      .filter((name) => !this.#leaving.has(name))
      .map((name) => ({ name, weight: 1 }));
    const members = new Set(all.filter((name) => !this.#released.has(name)));
    this.#ownership?.refit(workers, lost, members, veterans);
    this.#write();
  }

  /** Records the division before it is announced: a later leader must know it. */
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
      const { division } = this.#ownership as Ownership;
      const over = this.#over;
      const changes = this.#changes.all;
      const run = { begunAtMs: this.#begunAtMs, isResumed: this.#isResumed };
      if (!(await this.#parts.record.write({ division, changes, ...run }, over))) return;
      for (const name of this.#joining) {
        if (!division.members.has(name)) continue;
        this.#joining.delete(name);
        this.#coordinator?.members.add(name);
      }
      this.#coordinator?.redivide(division);
      this.#coordinator?.setChanges(changes);
      if (over !== undefined) this.#coordinator?.end(over.how, over.why);
    }
  }

  /** Applies the limit of this moment; ends the crawl when its time or its quota is used up. */
  #judge(): void {
    this.#shared.look();
    if (this.isEnding) return;
    const usages = this.#members.map(({ snapshot }) => snapshot?.totals.usage ?? "");
    const why = this.#shared.line.whyQuotaEnds(usages);
    if (why !== undefined) this.end(why);
    else if (this.#elapsedMs >= (this.#parts.settings.timeMaxMs ?? Infinity))
      this.end("time limit");
  }

  /** Sends a snapshot of the whole to all processes that show it, at the end with the result. */
  #show(nowMs: number): void {
    this.#shownAtMs = nowMs;
    const snapshot = this.snapshot();
    const result = isFinal(snapshot) ? this.result() : null;
    const control = asControlMessage({ kind: "look", snapshot: forMessage(snapshot), result });
    if (this.#parts.isLeading())
      for (const { name, report } of this.#members)
        if (report?.isWatching === true) this.#member?.tell(name, control);
    this.#isFinalShown = isFinal(snapshot);
  }
}

/** The list of changes with the latest one. */
export function laterChanges(a: readonly Change[], b: readonly Change[]): readonly Change[] {
  return new ChangeList(b).last > new ChangeList(a).last ? b : a;
}
