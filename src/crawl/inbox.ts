/**
 * Takes in what other processes send: each letter once, however often and in whatever order it comes.
 *
 * What a letter brings is noted in one go with the fact that it was taken, so a kill forgets both or
 * neither. The receipt goes out after the commit, and again for every repeat.
 */

import type { Log } from "../base/log.ts";
import type { Membership, Parcel } from "../exchange/bus.ts";
import { type Packing, unpack } from "../exchange/packing.ts";
import { decodeLetter, type Letter } from "../exchange/wire.ts";
import type { Store } from "../store/store.ts";
import type { Notebook } from "./notebook.ts";

export interface InboxParts {
  readonly store: Store;
  readonly notebook: Notebook;
  readonly bus: Pick<Membership, "acknowledge">;
  readonly log: Log;
  /** Notes what the letter brings. */
  readonly read: (letter: Letter, from: string) => void;
}

/** What was taken from one sender: everything below the floor, and these. */
interface Taken {
  floor: number;
  readonly seqs: Set<number>;
}

export class Inbox {
  readonly #parts: InboxParts;
  readonly #taken = new Map<string, Taken>();
  /** Noted and not committed yet. */
  #unacknowledged: Parcel[] = [];
  #receivedBytes = 0;

  constructor(parts: InboxParts) {
    this.#parts = parts;
  }

  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  take(parcel: Parcel): void {
    const { notebook, log } = this.#parts;
    this.#receivedBytes += parcel.body.length;
    const packing = unpack(parcel.body);
    const letters = packing?.letters.map(({ seq, body }) => ({ seq, letter: decodeLetter(body) }));
    if (packing === undefined || letters?.some(({ letter }) => letter === undefined) === true) {
      const message = "a parcel that cannot be read is left with its sender";
      log.write({ level: "error", message, values: { from: parcel.from, id: parcel.id } });
      return;
    }
    const taken = this.#takenFrom(packing);
    for (const { seq, letter } of letters ?? []) {
      if (letter === undefined || seq < taken.floor || taken.seqs.has(seq)) continue;
      taken.seqs.add(seq);
      this.#parts.read(letter, parcel.from);
    }
    this.#raiseFloor(taken, packing.floor);
    const { floor, seqs } = taken;
    notebook.noteFact(factOf(packing.sender), JSON.stringify({ floor, seqs: [...seqs] }));
    this.#unacknowledged.push(parcel);
  }

  committed(): void {
    const parcels = this.#unacknowledged;
    this.#unacknowledged = [];
    for (const parcel of parcels) this.#parts.bus.acknowledge(parcel);
  }

  #takenFrom({ sender }: Packing): Taken {
    const known = this.#taken.get(sender);
    if (known !== undefined) return known;
    const text = this.#parts.store.recall(factOf(sender));
    const kept = text === undefined ? undefined : (JSON.parse(text) as StoredTaken);
    const taken = { floor: kept?.floor ?? 0, seqs: new Set(kept?.seqs) };
    this.#taken.set(sender, taken);
    return taken;
  }

  /** What the sender no longer keeps it will not send again; a late copy is below the floor. */
  #raiseFloor(taken: Taken, floor: number): void {
    if (floor <= taken.floor) return;
    taken.floor = floor;
    for (const seq of taken.seqs) if (seq < floor) taken.seqs.delete(seq);
  }
}

interface StoredTaken {
  readonly floor: number;
  readonly seqs: readonly number[];
}

function factOf(sender: string): string {
  return `inbox ${sender}`;
}
