/**
 * A registry inside one process, with faults.
 *
 * `MemoryTable` is shared by all nodes; each has a `MemoryRegistry`, its own connection to the table, on which requests
 * and responses take time and may be lost. Without faults it responds in the same turn of the event loop.
 */

import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import { assertEntry, type Registry, RegistryAway } from "../exchange/registry.ts";
import type { RegistryEntry } from "../exchange/registry.ts";

export class MemoryTable {
  readonly #entries = new Map<string, RegistryEntry>();
  #revision = 0;

  get(key: string): RegistryEntry | undefined {
    return this.#entries.get(key);
  }

  put(key: string, value: string, expectedRevision: number): number | undefined {
    if ((this.#entries.get(key)?.revision ?? 0) !== expectedRevision) return undefined;
    const entry = { value, revision: ++this.#revision };
    this.#entries.set(key, entry);
    return entry.revision;
  }

  remove(key: string, expectedRevision: number): boolean {
    if (this.#entries.get(key)?.revision !== expectedRevision) return false;
    this.#entries.delete(key);
    return true;
  }

  /** Loses all entries, as a server whose disk is replaced. */
  wipe(): void {
    for (const [key, { revision }] of this.#entries) this.remove(key, revision);
  }
}

/** Faults of each request and each response. */
export interface RegistryFaults {
  readonly clock: Clock;
  readonly random: Random;
  readonly lossShare: number;
  readonly delayMsMax: number;
  /** How long a response is waited for. */
  readonly timeoutMs: number;
}

export class MemoryRegistry implements Registry {
  /** While set, all requests and responses are lost. */
  isCut = false;
  readonly #table: MemoryTable;
  readonly #faults: RegistryFaults | undefined;

  constructor(table = new MemoryTable(), faults?: RegistryFaults) {
    this.#table = table;
    this.#faults = faults;
  }

  get(key: string): Promise<RegistryEntry | undefined> {
    return this.#ask(() => this.#table.get(key));
  }

  async put(key: string, value: string, expectedRevision: number): Promise<number | undefined> {
    assertEntry(key, value);
    return this.#ask(() => this.#table.put(key, value, expectedRevision));
  }

  remove(key: string, expectedRevision: number): Promise<boolean> {
    return this.#ask(() => this.#table.remove(key, expectedRevision));
  }

  async close(): Promise<void> {}

  #ask<T>(question: () => T): Promise<T> {
    const faults = this.#faults;
    if (faults === undefined) return Promise.resolve(question());
    return new Promise((resolve, reject) => {
      faults.clock.after(faults.timeoutMs, () => reject(new RegistryAway("no answer in time")));
      this.#carry(faults, () => {
        const answer = question();
        this.#carry(faults, () => resolve(answer));
      });
    });
  }

  #carry({ clock, random, lossShare, delayMsMax }: RegistryFaults, arrive: () => void): void {
    if (this.isCut || random.next() < lossShare) return;
    clock.after(random.next() * delayMsMax, () => {
      if (!this.isCut) arrive();
    });
  }
}
