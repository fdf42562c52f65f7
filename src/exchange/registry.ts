/**
 * A small table that all nodes of a crawl share, as a socket: it holds the leader, the division and the crawl's
 * definition.
 *
 * A value changes only for a node that knows its latest revision, so of two concurrent writes one succeeds. Revisions of a
 * key never repeat, not even when the whole table has been lost and created again; they need not count up. The table may
 * be lost at any time: keys are then absent, and a node that needs one writes it again.
 *
 * Every response was true at some moment between request and response. If none arrives, the promise is rejected with
 * `RegistryAway`; whether a change took effect is then unknown.
 *
 * Promises, held by `registry.suite.ts` on every adapter. Keys and values are free text; together they have at most
 * `ENTRY_BYTES_MAX`.
 */

import { assert } from "../base/assert.ts";

export interface RegistryEntry {
  readonly value: string;
  readonly revision: number;
}

export interface Registry {
  get(key: string): Promise<RegistryEntry | undefined>;
  /**
   * Writes if the latest revision is the expected one; 0 means that the key must be absent. Returns the new revision,
   * or undefined when another write came first.
   */
  put(key: string, value: string, expectedRevision: number): Promise<number | undefined>;
  /** False when the key has another revision than expected, or none. */
  remove(key: string, expectedRevision: number): Promise<boolean>;
  close(): Promise<void>;
}

/** The registry cannot be reached now. */
export class RegistryAway extends Error {
  override readonly name = "RegistryAway";
}

export const ENTRY_BYTES_MAX = 48 * 1024;

export function assertEntry(key: string, value: string): void {
  assert(key !== "", "a key has a character");
  const bytes = Buffer.byteLength(key) + Buffer.byteLength(value);
  assert(bytes <= ENTRY_BYTES_MAX, "an entry is within its size");
}
