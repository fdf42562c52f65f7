/**
 * The node that coordinates a cluster while it leads: lets nodes join and leave, assigns the web to them, and writes each
 * division into the registry before any node uses it.
 *
 * A new leader waits for the length of one licence before it gives any: by then every licence of its predecessor has
 * ended, and all grants are free. Its messages and records carry its term, so that of two supposed leaders the later one
 * prevails.
 *
 * The end of the crawl is recorded before it is announced: a node that was cut off then must not count the finished part
 * of another node as lost.
 */

import { couldNotBeReached } from "../../crawl/unreachable.ts";
import type { Clock } from "../../base/clock.ts";
import { CrawlError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Settings } from "../../config/schema.ts";
import type { Division } from "../../crawl/ownership.ts";
import type { Snapshot } from "../../control/snapshot.ts";
import type { Bus, Membership } from "../../exchange/bus.ts";
import type { Registry } from "../../exchange/registry.ts";
import type { WeightedProcess } from "../../partition/assignment.ts";
import type { Coordination } from "../../partition/mode.ts";
import type { CanonicalUrl } from "../../url/url.ts";
import { type Change, ChangeList, type ChangeRequest, MESSAGE_CHARS_MAX } from "../change-list.ts";
import { Coordinator } from "../coordinator.ts";
import { CrawlRecord, type Over } from "./crawl-record.ts";
import { Ownership } from "../ownership.ts";
import type { Member } from "../members.ts";
import { MessageReader } from "../message-reader.ts";
import { asControlMessage, COORDINATOR, type Known, type Report } from "../messages.ts";
import { readDivision } from "../division-codec.ts";
import { SharedSettings } from "../shared-settings.ts";
import { type Newcomers, JoinQueue } from "./join-queue.ts";
import { partitionOf } from "../team-setup.ts";
import { forMessage } from "../bounded-snapshot.ts";
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
  /** The last division of this node, and whether it has taken part in this run. */
  readonly known: Division;
  /** The changes that this node has made. */
  readonly knownChanges: readonly Change[];
  readonly hasTakenPart: boolean;
  /** This node has just begun the crawl, which did not exist before. */
  readonly isBeginning: boolean;
  readonly licenceMs: number;
  /** False once it no longer leads: then it sends nothing more. */
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
  /** Leaving nodes that have handed everything over. */
  readonly #released = new Set<string>();
  readonly #startedAtMs: number;
  readonly #reader: MessageReader;
  #member: Membership | undefined;
  #coordinator: Coordinator | undefined;
  #ownership: Ownership | undefined;
  readonly #joinQueue: JoinQueue;
  #isWriting = false;
  #mustWrite = false;
  #whole: Snapshot | undefined;
  #shownAtMs = -Infinity;
  /** How the crawl ended; undefined while it runs. */
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
    this.#joinQueue = new JoinQueue(parts.clock);
  }

  get snapshot(): Snapshot | undefined {
    return this.#whole;
  }

  /** All nodes have sent their last report, or continue without this node, which the registry knows. */
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
    const ownership = await this.#takeUp();
    if (ownership === undefined) return;
    this.#ownership = ownership;
    const member = await bus.join(COORDINATOR, {
      onParcel: () => undefined,
      onReceipt: () => undefined,
      onMessage: (from, control) => {
        const message = this.#reader.read(from, control);
        if (message === undefined) return;
        if (message.kind === "known") return this.#onKnown(message);
        this.#coordinator?.onMessage(from, message);
        const bytes = this.#coordinator?.members.get(from)?.report?.bytes;
        if (bytes !== undefined) this.#shared.line.received(from, bytes);
      },
    });
    if (this.#record.isStopped) return member.leave();
    this.#member = member;
    // In a crawl that has just begun no node has a licence.
    const waitMs = this.#isIgnorant && this.#parts.isBeginning ? 0 : licenceMs;
    this.#cancelTimer = clock.after(waitMs, () => this.#begin());
  }

  /** Stops all nodes; the same commands resume. */
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

  /** Takes over the division in the registry, or the one that this node knows, as its own. */
  async #takeUp(): Promise<Ownership | undefined> {
    const { known, knownChanges, hasTakenPart } = this.#parts;
    const { over, isResumed } = await this.#record.howItEnded(!hasTakenPart);
    this.#over = over;
    let ownership: Ownership | undefined;
    const kept = await this.#record.takeUp((before) => {
      const isAhead = before === undefined || known.epoch > before.division.epoch;
      ownership = this.#ownershipFrom(isAhead ? known : before.division);
      if (ownership.division.members.size > 0) ownership.renumber();
      // A change holds until the crawl ends.
      const changes = isResumed ? [] : (before?.changes ?? []);
      this.#changes = new ChangeList(later(changes, knownChanges));
      return { division: ownership.division, changes: this.#changes.all };
    });
    return kept === undefined ? undefined : ownership;
  }

  #ownershipFrom(last: Division): Ownership {
    const { settings, seeds } = this.#parts;
    const partition = partitionOf(settings);
    return new Ownership(
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
    const ownership = this.#ownership as Ownership;
    this.#coordinator = new Coordinator({
      clock,
      bus: { tell: (to, control) => isLeading() && this.#member?.tell(to, control) },
      licenceMs,
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
    // It has a licence of an earlier leader, which has to end first.
    if (report.term !== 0) return;
    this.#joinQueue.add(name, report);
  }

  /** The division is unknown to the registry and to this node. */
  get #isIgnorant(): boolean {
    return this.#ownership?.division.members.size === 0;
  }

  /** A node may know the division: until it has sent it, no node joins. */
  get #mayLearn(): boolean {
    const ledMs = this.#parts.clock.nowMs() - this.#startedAtMs;
    const { licenceMs } = this.#parts;
    return this.#isIgnorant && this.#joinQueue.hasVeterans && ledMs < 2 * licenceMs;
  }

  /** The table was lost, and this node is new: it continues with the division of another node. */
  #onKnown({ division: written, changes }: Known): void {
    if (!this.#isIgnorant || this.#record.isStopped) return;
    const division = readDivision(written);
    if (division?.owners.length !== this.#parts.known.owners.length) return;
    this.#cancelTimer?.();
    this.#coordinator?.stop();
    this.#coordinator = undefined;
    this.#joinQueue.clear();
    this.#ownership = this.#ownershipFrom(division);
    this.#ownership.renumber();
    this.#changes = new ChangeList(later(this.#changes.all, changes));
    this.#write();
    this.#cancelTimer = this.#parts.clock.after(this.#parts.licenceMs, () => this.#begin());
  }

  #onReport({ name }: Member, report: Report): void {
    const ownership = this.#ownership as Ownership;
    // A node used a later division, unknown here: only its epoch matters.
    if (report.epochKnown > ownership.division.epoch) {
      ownership.skipTo(report.epochKnown);
      this.#write();
    }
    if (report.change > this.#changes.last) {
      this.#changes.renumberAbove(report.change);
      this.#write();
    }
    for (const request of report.requests) this.#onRequest(request);
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

  /** In force at once; confirmed when it is recorded for later leaders and every node has made it. */
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
    // Another node may be about to join.
    const isAlone = this.#joinQueue.quietMs > 2 * licenceMs;
    if (isLast && !isAlone) return;
    this.#leaving.add(name);
    // Without another node to take over, the last one keeps its part.
    if (isLast) this.end("all nodes have left");
    else this.#refit(new Set());
  }

  #look(): void {
    const { clock, settings } = this.#parts;
    const nowMs = clock.nowMs();
    try {
      if (!this.#mayLearn) this.#takeIn(this.#joinQueue.takeIfDue());
      this.#letGo(nowMs, settings.nodeTimeoutMs);
      this.#judgeLine();
      const isNews = this.#haveAllEnded && !(this.#whole !== undefined && isFinal(this.#whole));
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

  get #haveAllEnded(): boolean {
    const members = [...(this.#coordinator?.members.all() ?? [])];
    return this.isEnding && members.every(({ hasEnded }) => hasEnded);
  }

  #takeIn(newcomers: Newcomers | undefined): void {
    if (newcomers === undefined) return;
    const { names, veterans, epochKnown } = newcomers;
    const ownership = this.#ownership as Ownership;
    for (const name of names) {
      this.#coordinator?.members.add(name);
    }
    if (epochKnown > ownership.division.epoch) ownership.skipTo(epochKnown);
    this.#refit(new Set(), veterans);
  }

  /** Removes nodes that have handed over everything, and declares lost those that are silent for too long. */
  #letGo(nowMs: number, timeoutMs: number): void {
    const lost = new Set<string>();
    const gone: string[] = [];
    for (const { name, heardAtMs, hasEnded, mayGo } of this.#coordinator?.members.all() ?? []) {
      if (this.isEnding) continue;
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
    const all = this.#coordinator?.members.names() ?? [];
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

  /** Sends a snapshot of the whole to all nodes. */
  #show(nowMs: number): void {
    this.#shownAtMs = nowMs;
    const members = [...(this.#coordinator?.members.all() ?? [])];
    const names = members.map(({ name }) => name);
    const ended = this.#over?.how === "finish" ? "done" : "stopped";
    const ending = this.#haveAllEnded ? ended : "stopping";
    const { because } = this.#shared;
    const running = because === "" ? "running" : "paused";
    this.#whole = wholeOf(members, this.#ownership?.division.left, {
      state: this.isEnding ? ending : running,
      because,
      elapsedMs: nowMs - this.#startedAtMs,
      limitBps: this.#shared.limitBps,
      recentBps: this.#shared.line.meter.recentBps(nowMs),
      droppedMessages: this.#reader.dropped,
    });
    const control = asControlMessage({ kind: "look", snapshot: forMessage(this.#whole) });
    if (this.#parts.isLeading()) for (const name of names) this.#member?.tell(name, control);
  }
}

/** The list of changes with the latest one. */
function later(a: readonly Change[], b: readonly Change[]): readonly Change[] {
  return new ChangeList(b).last > new ChangeList(a).last ? b : a;
}
