/**
 * Expected bytes of TLS handshakes: those of a site's first connection, and the mean over requests to known sites,
 * most of which use an open connection.
 */

import type { Candidate } from "../controller.ts";

/** Weight of the last request in each mean. */
const LAST_SHARE = 0.1;
/** Longest plausible handshake in bytes; a longer one is paused like a body. */
export const HANDSHAKE_BYTES_MAX = 16_384;

export class Handshakes {
  #newBytes: number | undefined;
  #knownBytes = 0;

  learn(flow: Candidate & { readonly handshakeBytes: number }): void {
    const { handshakeBytes } = flow;
    if (isNew(flow)) {
      this.#newBytes ??= handshakeBytes;
      this.#newBytes += LAST_SHARE * (handshakeBytes - this.#newBytes);
    } else this.#knownBytes += LAST_SHARE * (handshakeBytes - this.#knownBytes);
  }

  expectedBytes(candidate: Candidate): number {
    return isNew(candidate) ? (this.#newBytes ?? 0) : this.#knownBytes;
  }

  /** Expected bytes without the handshake: the expected size includes it. */
  responseBytes(candidate: Candidate): number {
    return Math.max(0, candidate.expectedBytes - this.expectedBytes(candidate));
  }
}

/** Whether nothing was received from its site yet. */
function isNew({ expectedWaitMs }: Candidate): boolean {
  return expectedWaitMs === 0;
}
