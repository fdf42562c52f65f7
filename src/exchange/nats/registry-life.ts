/** The JetStream registry's encoding: entries as JSON, and a life and a sequence number as one number. */

import { assert } from "../../base/assert.ts";
import { below, type Random } from "../../base/random.ts";

/** The value under a key; a removed key leaves a marker without a value. */
export interface StoredEntry {
  /** Empty for a text that is not ours: it counts as a marker, so that the next writer replaces it. */
  readonly key: string;
  readonly value: string | undefined;
  /** Its sequence number in the stream. */
  readonly seq: number;
}

/** The product is the number of integers that are exact. */
const SEQUENCE_LIMIT = 2 ** 32;
const LIFE_LIMIT = 2 ** 21;

/** One in two million is drawn twice in a row. */
export function newLife(random: Random): number {
  return 1 + below(random, LIFE_LIMIT - 1);
}

export function revisionOf(life: number, seq: number): number {
  assert(seq < SEQUENCE_LIMIT, "a table is not written to so often");
  return life * SEQUENCE_LIMIT + seq;
}

export function partsOf(revision: number): { readonly life: number; readonly seq: number } {
  return { life: Math.floor(revision / SEQUENCE_LIMIT), seq: revision % SEQUENCE_LIMIT };
}

/** The number of a life, as its record has it; undefined for anything else. */
export function lifeIn(value: string | undefined): number | undefined {
  const life = /^[1-9]\d{0,6}$/.test(value ?? "") ? Number(value) : LIFE_LIMIT;
  return life < LIFE_LIMIT ? life : undefined;
}

/** Reads an entry from its JSON. */
export function storedEntry(text: string, seq: number): StoredEntry {
  try {
    const { key, value } = JSON.parse(text) as Partial<Record<"key" | "value", unknown>>;
    if (typeof key === "string" && key !== "")
      return { key, value: typeof value === "string" ? value : undefined, seq };
  } catch {
    // Not ours: see `StoredEntry.key`.
  }
  return { key: "", value: undefined, seq };
}
