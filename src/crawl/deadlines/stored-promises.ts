/**
 * What was promised at the start of a crawl, stored so that it can be shown beside what came of it.
 *
 * A promise is made once for each site, by the first plan that has its deadline; a later run of the
 * same crawl keeps it, and a changed deadline makes a new one.
 */

import type { Certainty } from "../../plan/promise/certainty.ts";
import type { Store } from "../../store/store.ts";

export interface Promised {
  readonly certainty: Certainty;
  /** Planned time from the start of the site's time to its end. */
  readonly finishMs: number;
}

/** The name of the stored fact. */
const PROMISES = "promises";
const CERTAINTIES: readonly string[] = ["sure", "likely", "unlikely", "late"];
/** Sites whose promises are stored. */
const SITES_MAX = 4096;

export class StoredPromises {
  readonly #store: Pick<Store, "recall" | "remember">;
  readonly #promises: Map<string, Promised>;

  constructor(store: Pick<Store, "recall" | "remember">) {
    this.#store = store;
    this.#promises = new Map(readPromises(store.recall(PROMISES)));
  }

  of(site: string): Promised | undefined {
    return this.#promises.get(site);
  }

  /** A site that has a promise keeps it. */
  make(promises: ReadonlyMap<string, Promised>): void {
    const before = this.#promises.size;
    for (const [site, promised] of promises)
      if (!this.#promises.has(site) && this.#promises.size < SITES_MAX)
        this.#promises.set(site, promised);
    if (this.#promises.size > before) this.#write();
  }

  forget(site: string): void {
    if (this.#promises.delete(site)) this.#write();
  }

  #write(): void {
    this.#store.remember(PROMISES, JSON.stringify([...this.#promises]));
  }
}

/** Damaged facts are no promises. */
function readPromises(text: string | undefined): [string, Promised][] {
  let rows: unknown;
  try {
    rows = JSON.parse(text ?? "[]");
  } catch {
    return [];
  }
  if (!Array.isArray(rows)) return [];
  return rows.flatMap((row: unknown): [string, Promised][] => {
    if (!Array.isArray(row) || typeof row[0] !== "string") return [];
    const { certainty, finishMs } = (row[1] ?? {}) as Partial<Promised>;
    const isRight = typeof finishMs === "number" && CERTAINTIES.includes(certainty ?? "");
    return isRight ? [[row[0], { certainty: certainty as Certainty, finishMs }]] : [];
  });
}
