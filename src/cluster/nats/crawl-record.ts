/**
 * What a leader writes into the registry for its successors: the division, the operator's changes, and how the crawl
 * ended.
 *
 * Each entry carries the term of its leader. A new leader begins by writing the division it continues with as its own, so
 * that a late write of its predecessor meets another revision and reads that its term is over. A failed write is repeated
 * until it succeeds or another node leads.
 */

import { type Clock, sleep } from "../../base/clock.ts";
import type { Division } from "../../crawl/ownership.ts";
import { type Registry, RegistryAway, type RegistryEntry } from "../../exchange/registry.ts";
import { isChanges, isDivision } from "../message-checks.ts";
import { readDivision, type WrittenDivision, writeDivision } from "../division-codec.ts";
import type { Change } from "../change-list.ts";
import { type Kept, laterChanges, type LeaderRecord, type Over, type Start } from "../leader.ts";
import { DIVISION, OVER } from "./spec.ts";

interface CrawlRecordParts {
  readonly clock: Clock;
  readonly registry: Registry;
  readonly term: number;
  readonly spec: string;
  /** The last division of this node, the changes that it has made, and whether it has taken part in this run. */
  readonly known: Division;
  readonly knownChanges: readonly Change[];
  readonly hasTakenPart: boolean;
  /** This node has just begun the crawl, which did not exist before. */
  readonly isBeginning: boolean;
  readonly isLeading: () => boolean;
}

interface WrittenKept {
  readonly division: WrittenDivision;
  readonly changes: readonly Change[];
  readonly begunAtMs: number | null;
  readonly isResumed: boolean;
}

interface WrittenBy {
  readonly term: number;
  readonly spec: string;
}

const AGAIN_MS = 200;

export class CrawlRecord implements LeaderRecord {
  readonly #parts: CrawlRecordParts;
  readonly #stopping = new AbortController();

  constructor(parts: CrawlRecordParts) {
    this.#parts = parts;
  }

  get isStopped(): boolean {
    return this.#stopping.signal.aborted || !this.#parts.isLeading();
  }

  stop(): void {
    this.#stopping.abort();
  }

  /** Continues from the record of an earlier leader, or with what this node knows. */
  async takeUp(): Promise<Start | undefined> {
    const { registry, isBeginning } = this.#parts;
    const end = await this.#howItEnded();
    const start = await this.#insist(async () => {
      const entry = await registry.get(DIVISION);
      const before = keptIn(this.#read<WrittenKept>(entry));
      const kept = this.#continued(before, end?.isResumed === true);
      const revision = await registry.put(DIVISION, this.#write(kept), entry?.revision ?? 0);
      return revision === undefined ? undefined : kept;
    });
    if (start === undefined || end === undefined) return undefined;
    const isFirst = isBeginning && start.division.members.size === 0;
    return { ...start, over: end.over, isFirst };
  }

  /** Under an epoch of its own, so that every process learns of it. A change holds until the crawl ends. */
  #continued(before: Kept | undefined, isResumed: boolean): Kept {
    const { known, knownChanges } = this.#parts;
    const isAhead = before === undefined || known.epoch > before.division.epoch;
    const division = isAhead ? known : before.division;
    const epoch = division.epoch + (division.members.size > 0 ? 1 : 0);
    const changes = laterChanges(isResumed ? [] : (before?.changes ?? []), knownChanges);
    const run = { begunAtMs: before?.begunAtMs, isResumed: before?.isResumed === true };
    const now = isResumed ? { begunAtMs: undefined, isResumed } : run;
    return { division: { ...division, epoch }, changes, ...now };
  }

  /** A crawl that was stopped has not ended for a node that begins it again: it `isResumed`. */
  async #howItEnded(): Promise<{ over: Over | undefined; isResumed: boolean } | undefined> {
    const { registry, hasTakenPart } = this.#parts;
    return this.#insist(async () => {
      const entry = await registry.get(OVER);
      const { how, why = "" } = this.#read<Over>(entry) ?? {};
      if (entry === undefined || (how !== "finish" && how !== "stop"))
        return { over: undefined, isResumed: false };
      if (how === "finish" || hasTakenPart)
        return { over: { how, why: String(why) }, isResumed: false };
      const isRemoved = await registry.remove(OVER, entry.revision);
      return isRemoved ? { over: undefined, isResumed: true } : undefined;
    });
  }

  /** False when this node no longer leads; then nothing was written. */
  async write(kept: Kept, over: Over | undefined): Promise<boolean> {
    const isWritten = await this.#insist(async () => {
      const isKept = await this.#writeOver(DIVISION, this.#write(kept));
      const isLast = isKept !== true || over === undefined;
      return isLast ? isKept : this.#writeOver(OVER, this.#sealed(over));
    });
    return isWritten === true;
  }

  /** undefined if another write came first, false if a later leader has written. */
  async #writeOver(key: string, text: string): Promise<boolean | undefined> {
    const { registry, term } = this.#parts;
    const there = await registry.get(key);
    if ((this.#read(there)?.term ?? 0) > term || this.isStopped) return false;
    const revision = await registry.put(key, text, there?.revision ?? 0);
    return revision === undefined ? undefined : true;
  }

  /** Repeats an attempt until it returns a value or this node no longer leads. */
  async #insist<T>(attempt: () => Promise<T | undefined>): Promise<T | undefined> {
    while (!this.isStopped) {
      try {
        const answer = await attempt();
        if (answer !== undefined) return this.isStopped ? undefined : answer;
      } catch (error) {
        if (!(error instanceof RegistryAway)) throw error;
      }
      await sleep(this.#parts.clock, AGAIN_MS, this.#stopping.signal);
    }
    return undefined;
  }

  #write({ division, begunAtMs, ...rest }: Kept): string {
    const written = { division: writeDivision(division), begunAtMs: begunAtMs ?? null, ...rest };
    return this.#sealed(written satisfies WrittenKept);
  }

  #sealed(what: object): string {
    const { term, spec } = this.#parts;
    return JSON.stringify({ ...what, term, spec });
  }

  /** Ignores the record of another crawl of the same name. */
  #read<T extends object>(
    entry: RegistryEntry | undefined,
  ): (Partial<T> & Partial<WrittenBy>) | undefined {
    try {
      const read = JSON.parse(entry?.value ?? "null") as (Partial<T> & Partial<WrittenBy>) | null;
      return read?.spec === this.#parts.spec ? read : undefined;
    } catch {
      // Not a record of ours: the next write replaces it.
      return undefined;
    }
  }
}

function keptIn(written: Partial<WrittenKept> | undefined): Kept | undefined {
  if (!isDivision(written?.division)) return undefined;
  const division = readDivision(written?.division as WrittenDivision);
  const changes = isChanges(written?.changes) ? (written?.changes as readonly Change[]) : [];
  const begun = written?.begunAtMs;
  const begunAtMs = typeof begun === "number" && Number.isFinite(begun) ? begun : undefined;
  return division && { division, changes, begunAtMs, isResumed: written?.isResumed === true };
}
