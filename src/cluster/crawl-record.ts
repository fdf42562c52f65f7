/**
 * What a leader writes into the registry for later ones: how the web is divided, and how the crawl ended.
 *
 * Everything carries the term of who wrote it. A leader begins by writing the division it goes on with as its
 * own, so that the late writing of an earlier one finds another revision, looks, and sees that it is over.
 * What cannot be written now is tried until it can, or until somebody else leads.
 */

import { type Clock, sleep } from "../base/clock.ts";
import type { Division } from "../crawl/ownership.ts";
import { type Registry, RegistryAway, type RegistryEntry } from "../exchange/registry.ts";
import { readDivision, type WrittenDivision, writeDivision } from "./written-division.ts";
import { DIVISION, OVER } from "./spec.ts";

export interface CrawlRecordParts {
  readonly clock: Clock;
  readonly registry: Registry;
  readonly term: number;
  readonly spec: string;
  readonly isLeading: () => boolean;
}

/** How a crawl ended: all is done, or somebody stopped it. */
export interface Over {
  readonly how: "finish" | "stop";
  readonly why: string;
}

interface WrittenBy {
  readonly term: number;
  readonly spec: string;
}

const AGAIN_MS = 200;

export class CrawlRecord {
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

  /** Goes on from what an earlier leader wrote, with what `choose` makes of it. */
  async takeUp(choose: (kept: Division | undefined) => Division): Promise<Division | undefined> {
    const { registry } = this.#parts;
    return this.#insist(async () => {
      const entry = await registry.get(DIVISION);
      const kept = this.#read<{ readonly division: WrittenDivision }>(entry);
      const division = choose(kept === undefined ? undefined : readDivision(kept.division));
      const text = this.#sealed({ division: writeDivision(division) });
      const revision = await registry.put(DIVISION, text, entry?.revision ?? 0);
      return revision === undefined ? undefined : division;
    });
  }

  /** How it ended. What was stopped has not ended for whoever begins anew. */
  async howItEnded(isBeginning: boolean): Promise<Over | undefined> {
    const { registry } = this.#parts;
    const answer = await this.#insist(async () => {
      const entry = await registry.get(OVER);
      const over = this.#read<Over>(entry);
      if (entry === undefined || over === undefined) return { over: undefined };
      if (over.how === "finish" || !isBeginning) return { over };
      return (await registry.remove(OVER, entry.revision)) ? { over: undefined } : undefined;
    });
    return answer?.over;
  }

  /** False when it no longer leads, and nothing was written. */
  async write(division: Division, over: Over | undefined): Promise<boolean> {
    const isWritten = await this.#insist(async () => {
      const isKept = await this.#writeOver(DIVISION, { division: writeDivision(division) });
      return isKept === true && over !== undefined ? this.#writeOver(OVER, over) : isKept;
    });
    return isWritten === true;
  }

  /** undefined where somebody was faster, false where a later leader has written. */
  async #writeOver(key: string, what: object): Promise<boolean | undefined> {
    const { registry, term } = this.#parts;
    const there = await registry.get(key);
    if ((this.#read(there)?.term ?? 0) > term || this.isStopped) return false;
    const revision = await registry.put(key, this.#sealed(what), there?.revision ?? 0);
    return revision === undefined ? undefined : true;
  }

  /** Tries until there is an answer, or it no longer leads. */
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

  #sealed(what: object): string {
    const { term, spec } = this.#parts;
    return JSON.stringify({ ...what, term, spec });
  }

  /** What was written about another crawl of the same name is none of our business. */
  #read<T extends object>(entry: RegistryEntry | undefined): (T & WrittenBy) | undefined {
    if (entry === undefined) return undefined;
    const read = JSON.parse(entry.value) as T & WrittenBy;
    return read.spec === this.#parts.spec ? read : undefined;
  }
}
