/**
 * A ring of time slots: the bytes received in the last second, and the bytes reserved for responses in the next seconds.
 *
 * Responses to requests that were sent one after another can all arrive at once, and cannot be refused by then. So each
 * request reserves its bytes at the time at which its response is expected, and starts only if they fit.
 *
 * O(1), except that a look ahead is O(slots) and taking due entries after a silence is O(entries).
 */

/** Length of a slot in milliseconds. */
export const SLOT_MS = 25;
const SECOND_SLOTS = 1000 / SLOT_MS;
/** Number of slots that can be reserved; a later response is reserved in the last of them. */
const SLOTS_AHEAD = 160;
const SLOTS = SECOND_SLOTS + SLOTS_AHEAD;

/** A balance as it is now and as it may develop. */
interface Projection {
  readonly bytes: number;
  /** Most and fewest bytes that it may have. */
  readonly mostBytes: number;
  readonly leastBytes: number;
  readonly rateBps: number;
}

export class Slots {
  readonly #received = new Float64Array(SLOTS);
  readonly #reserved = new Float64Array(SLOTS);
  #slot = 0;
  #secondBytes = 0;
  #lastReserved = 0;

  receive(nowMs: number, bytes: number): void {
    this.#advance(nowMs);
    this.#secondBytes += bytes;
    add(this.#received, this.#slot, bytes);
  }

  /** Bytes received in the last second. */
  secondBytes(nowMs: number): number {
    this.#advance(nowMs);
    return this.#secondBytes;
  }

  forgetSecond(): void {
    this.#received.fill(0);
    this.#secondBytes = 0;
  }

  /** Reserves bytes, and returns their slot. */
  reserve(nowMs: number, atMs: number, bytes: number): number {
    const slot = this.#slotAt(nowMs, atMs);
    add(this.#reserved, slot, bytes);
    this.#lastReserved = Math.max(this.#lastReserved, slot);
    return slot;
  }

  /** Releases reserved bytes; those of a slot that has passed were released by time. */
  release(slot: number, bytes: number): void {
    if (slot >= this.#slot) add(this.#reserved, slot, -bytes);
  }

  /** Whether a balance keeps its least bytes in the slot of a response and in all later ones. */
  fits(nowMs: number, atMs: number, bytes: number, projection: Projection): boolean {
    const { mostBytes, leastBytes, rateBps } = projection;
    const at = this.#slotAt(nowMs, atMs);
    let left = projection.bytes;
    for (let slot = this.#slot; slot <= Math.max(at, this.#lastReserved); slot++) {
      if (slot > this.#slot) left = Math.min(mostBytes, left + (rateBps * SLOT_MS) / 1000);
      left -= this.#reserved[slot % SLOTS] as number;
      if (slot === at) left -= bytes;
      if (slot >= at && left < leastBytes) return false;
    }
    return true;
  }

  #slotAt(nowMs: number, atMs: number): number {
    this.#advance(nowMs);
    return Math.max(this.#slot, Math.min(slotOf(atMs), this.#slot + SLOTS_AHEAD - 1));
  }

  #advance(nowMs: number): void {
    const slot = slotOf(nowMs);
    if (slot <= this.#slot) return;
    if (slot - this.#slot >= SECOND_SLOTS) this.forgetSecond();
    for (let next = Math.max(this.#slot, slot - SLOTS) + 1; next <= slot; next++) {
      this.#reserved[(next - 1) % SLOTS] = 0;
      // A second ago; its place in the ring is that of the last slot ahead.
      const old = (next + SLOTS_AHEAD) % SLOTS;
      this.#secondBytes -= this.#received[old] as number;
      this.#received[old] = 0;
    }
    this.#slot = slot;
  }
}

/** Entries by the slot in which each is due. */
export class DueList<T> {
  readonly #entries = new Map<number, Set<T>>();
  readonly #slotOf = new Map<T, number>();
  #taken = 0;

  /** A later call for the same entry replaces its time. */
  add(atMs: number, entry: T): void {
    this.delete(entry);
    const slot = Math.max(this.#taken + 1, slotOf(atMs));
    const entries = this.#entries.get(slot) ?? new Set();
    this.#entries.set(slot, entries.add(entry));
    this.#slotOf.set(entry, slot);
  }

  delete(entry: T): void {
    this.#entries.get(this.#slotOf.get(entry) ?? Number.NaN)?.delete(entry);
    this.#slotOf.delete(entry);
  }

  /** Removes and returns the entries that are due by now. */
  take(nowMs: number): T[] {
    const slot = slotOf(nowMs);
    const due: T[] = [];
    // After a silence there are fewer slots with entries than slots that have passed.
    const isLong = slot - this.#taken > this.#entries.size;
    const slots = isLong ? [...this.#entries.keys()].toSorted((a, b) => a - b) : undefined;
    for (let next = this.#taken + 1; slots === undefined && next <= slot; next++)
      this.#takeSlot(next, due);
    for (const next of slots ?? []) if (next <= slot) this.#takeSlot(next, due);
    this.#taken = Math.max(this.#taken, slot);
    return due;
  }

  #takeSlot(slot: number, due: T[]): void {
    for (const entry of this.#entries.get(slot) ?? []) {
      this.#slotOf.delete(entry);
      due.push(entry);
    }
    this.#entries.delete(slot);
  }
}

export function slotOf(atMs: number): number {
  return Math.floor(atMs / SLOT_MS);
}

function add(slots: Float64Array, slot: number, bytes: number): void {
  slots[slot % SLOTS] = (slots[slot % SLOTS] as number) + bytes;
}
