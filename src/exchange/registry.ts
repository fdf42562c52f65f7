/**
 * A small table that all nodes of a crawl see alike, as a socket: who is here, who leads, whose is what.
 *
 * A value changes only for one who knows its latest revision, so of two who want the same place one
 * gets it. Revisions of a key never come twice, not even when the whole table has been lost and begun
 * anew; they need not count up. The table may be lost at any time: keys are then absent, and whoever
 * needs one writes it again.
 *
 * Every answer is the truth at some moment between question and answer. Where none can be had, the
 * promise is rejected with `RegistryAway`; whether a change took effect is then not known.
 *
 * Promises, held by `registry.suite.ts` on every adapter. Keys and values are free text; together they
 * have at most `ENTRY_BYTES_MAX`.
 */

import { assert } from "../base/assert.ts";

export interface RegistryEntry {
  readonly value: string;
  readonly revision: number;
}

export type RegistryWatcher = (key: string, entry: RegistryEntry | undefined) => void;

export interface Registry {
  get(key: string): Promise<RegistryEntry | undefined>;
  /**
   * Writes where the latest revision is the expected one; 0 means that the key must be absent. The
   * answer is the new revision, or undefined when somebody was faster.
   */
  put(key: string, value: string, expectedRevision: number): Promise<number | undefined>;
  /** False when the key has another revision than expected, or none. */
  remove(key: string, expectedRevision: number): Promise<boolean>;
  /**
   * Tells of all keys that begin so: what is there first, then what changes, the latest value for
   * certain and those between perhaps. An absent key is told as undefined. The answer ends it.
   */
  watch(prefix: string, onChange: RegistryWatcher): Promise<() => void>;
  close(): Promise<void>;
}

/** Nobody can be asked now. */
export class RegistryAway extends Error {
  override readonly name = "RegistryAway";
}

export const ENTRY_BYTES_MAX = 48 * 1024;

export function assertEntry(key: string, value: string): void {
  assert(key !== "", "a key has a character");
  const bytes = Buffer.byteLength(key) + Buffer.byteLength(value);
  assert(bytes <= ENTRY_BYTES_MAX, "an entry is within its size");
}
