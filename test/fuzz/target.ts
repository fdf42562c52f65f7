/** What a fuzzer needs to know of the code it tests. */

import type { Random } from "../../src/base/random.ts";

export interface Target {
  readonly name: string;
  /** Valid inputs, from which others are made. */
  readonly samples: readonly Uint8Array[];
  /** Pieces that mean something to the reader, in the order of their weight. */
  readonly words: readonly (string | Uint8Array)[];
  readonly inputBytesMax: number;
  /** Where the work for one input is bounded differently. */
  readonly cpuMsMax?: number;
  /** Inputs of one run of the tests; about five seconds of CPU. */
  readonly inputsPerTest: number;
  /**
   * Reads the input, and throws when a promise is broken. The result describes what was read: an input with a new
   * description is kept and varied further. `random` is the same for the same input.
   */
  check(input: Uint8Array, random: Random): string | Promise<string>;
  close?(): Promise<void>;
}

/** An input that once broke a promise. */
export interface FoundInput {
  readonly target: string;
  /** What was wrong. */
  readonly was: string;
  readonly input: Uint8Array;
}
