/**
 * What making a connection brings before an answer can come: of TLS some kilobytes, at once and unasked.
 *
 * A site of which nothing has ever come needs a connection. Of the others most requests find one that is there, so
 * they are expected to bring what they bring on average.
 *
 * O(1) everything.
 */

import type { Candidate } from "../controller.ts";

/** A download as it is greeted. */
export interface GreetedFlow extends Candidate {
  readonly greetingBytes: number;
}

/** How much the last one counts, and what is not worth setting aside. */
const LAST_SHARE = 0.05;
const LAST_SHARE_NEW = 0.2;
const BYTES_MIN = 200;
/** Nobody greets at such a length who means it. */
const BYTES_MAX = 16_384;

export class Greetings {
  #newBytes: number | undefined;
  #usualBytes = 0;

  /** The greeting is over. */
  learn(flow: GreetedFlow): void {
    const { greetingBytes } = flow;
    if (isNew(flow)) {
      this.#newBytes ??= greetingBytes;
      this.#newBytes += LAST_SHARE_NEW * (greetingBytes - this.#newBytes);
    } else this.#usualBytes += LAST_SHARE * (greetingBytes - this.#usualBytes);
  }

  expectedBytes(candidate: Candidate): number {
    const bytes = isNew(candidate) ? (this.#newBytes ?? 0) : this.#usualBytes;
    return bytes < BYTES_MIN ? 0 : bytes;
  }

  /** Of so much that is expected in all, what comes after the greeting: sizes of first answers have it in them. */
  answerBytes(candidate: Candidate): number {
    const { expectedBytes } = candidate;
    return isNew(candidate)
      ? Math.max(0, expectedBytes - this.expectedBytes(candidate))
      : expectedBytes;
  }

  /** Whether to let it go on unasked: the server waits for us, and an answer that is kept from beginning makes it look slow. */
  mayGoOn({ greetingBytes }: GreetedFlow): boolean {
    return greetingBytes <= BYTES_MAX;
  }
}

/** Nothing of its site has ever come. */
function isNew({ expectedWaitMs }: Candidate): boolean {
  return expectedWaitMs === 0;
}
