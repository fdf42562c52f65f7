/**
 * How many bytes the line carries beside each byte that a socket gives us: packet headers, and what came twice.
 *
 * A limit is meant for the line, and a program sees only what is inside the packets. How much is
 * around it depends on how full they are: under 5 % for long bodies, 15 % and more for pages of 2 KB
 * with a connection each. So it is measured: the interface counts its bytes and packets, and every
 * packet has the same headers (`line-counters.ts`). Packets that
 * came twice are counted by the system, which tells their senders so (RFC 2883).
 *
 * Exact when the line is ours alone, and near enough when it is shared, since others' packets have
 * headers too. Without counters, packets are assumed to be full.
 *
 * The past is forgotten by bytes, not by time: what the line may carry in some seconds later it hardly counts,
 * and a silence with some stray packets teaches nothing. Overhead beyond that share is reported separately, so that it can be charged: a hundred connections that end together are a twentieth of 100 KB/s. Four
 * looks a second; three small files.
 */

import { readFileSync } from "node:fs";
import { CountedSteps, IPV4_HEADER_BYTES, type LineCounters } from "./line-counters.ts";

const LOOK_MS = 250;
/** How much is remembered: what the line may carry in so long; where that is not known, so many bytes. */
const MEMORY_SECONDS = 4;
const MEMORY_BYTES = 1024 * 1024;
const SHARE_MAX = 0.5;
const BUSY_SHARE = 0.5;
/** Others on this machine may have trouble with their lines: no more than this is believed of ours. */
const REPEATED_SHARE_MAX = 0.1;
const SEGMENT_BYTES = 1448;
/** What is believed before anything was seen weighs as much as so many packets, and as a second of the line. */
const PRIOR_PACKETS = 16;
const PRIOR_SECONDS = 1;
/** Of packets as full as they can be. */
const FULL_SHARE = IPV4_HEADER_BYTES / SEGMENT_BYTES;

export class PacketOverhead {
  readonly #steps: CountedSteps;
  readonly #readRepeated: () => number;
  #besideSum = 0;
  #payloadSum = 0;
  /** Since anybody asked: what the line carried, and what of it was beside the payload beyond what was believed. */
  #unsaid = { payloadBytes: 0, beyondBytes: 0 };
  #expectedShare = Number.NaN;
  #repeated: number;
  #lookedMs = -Infinity;

  /** `readRepeated`: how many packets have come twice so far. */
  constructor(readCounters: () => readonly LineCounters[], readRepeated = () => 0) {
    this.#steps = new CountedSteps(readCounters);
    this.#readRepeated = readRepeated;
    this.#repeated = readRepeated();
    this.expect(FULL_SHARE);
  }

  /** Packets are of another kind from now on: what was seen of the earlier ones tells nothing of them. */
  expect(share: number): void {
    if (share === this.#expectedShare) return;
    this.#expectedShare = share;
    this.#payloadSum = 0;
    this.#besideSum = 0;
  }

  /**
   * Bytes beside each byte of payload, from 0 to a half. `limitBps` is what the line may carry: while it
   * carries little, and that in emptier packets than usual, they make connections and tell nothing of pages.
   */
  shareNow(nowMs: number, limitBps = 0): number {
    if (this.#payloadSum === 0) {
      this.#payloadSum = Math.max(PRIOR_PACKETS * SEGMENT_BYTES, PRIOR_SECONDS * limitBps);
      this.#besideSum = this.#expectedShare * this.#payloadSum;
    }
    const sinceMs = nowMs - this.#lookedMs;
    if (sinceMs >= LOOK_MS) {
      this.#lookedMs = nowMs;
      const busyBytes = (limitBps * BUSY_SHARE * sinceMs) / 1000;
      this.#look(busyBytes, limitBps > 0 ? MEMORY_SECONDS * limitBps : MEMORY_BYTES);
    }
    return this.#share();
  }

  /**
   * What came beside the payload beyond the share, since this was last asked; negative when it was less. Of a line
   * that others use too, the part that `ownBytes` have of its payload.
   */
  takeBeyond(ownBytes: number): number {
    const { payloadBytes, beyondBytes } = this.#unsaid;
    this.#unsaid = { payloadBytes: 0, beyondBytes: 0 };
    return payloadBytes > ownBytes ? (beyondBytes * ownBytes) / payloadBytes : beyondBytes;
  }

  #share(): number {
    return Math.min(SHARE_MAX, this.#besideSum / this.#payloadSum);
  }

  #look(busyBytes: number, memoryBytes: number): void {
    const sum = this.#steps.take();
    const repeated = this.#readRepeated();
    const again = Math.max(0, repeated - this.#repeated);
    this.#repeated = repeated;
    if (sum.packets === 0) return;
    const insideBytes = Math.max(0, sum.bytes - sum.headerBytes);
    const repeatedBytes = insideBytes * Math.min(REPEATED_SHARE_MAX, again / sum.packets);
    const seen = {
      payloadBytes: insideBytes - repeatedBytes,
      besideBytes: sum.headerBytes + repeatedBytes,
    };
    const believedBytes = this.#share() * seen.payloadBytes;
    this.#unsaid.payloadBytes += seen.payloadBytes;
    this.#unsaid.beyondBytes += seen.besideBytes - believedBytes;
    const isEmptier = seen.besideBytes > believedBytes;
    if (isEmptier && sum.bytes < busyBytes) return;
    const kept = Math.exp(-sum.bytes / memoryBytes);
    this.#besideSum = this.#besideSum * kept + seen.besideBytes;
    this.#payloadSum = this.#payloadSum * kept + seen.payloadBytes;
  }
}

/** Packets that arrived twice at this machine, for any program. */
export function repeatedPackets(): number {
  const [names = "", numbers = ""] = linesOf("/proc/net/netstat");
  const at = names.split(" ").indexOf("TCPDSACKOldSent");
  const count = at < 0 ? 0 : Number(numbers.split(" ")[at]);
  return Number.isSafeInteger(count) ? count : 0;
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, "latin1").split("\n");
  } catch {
    return [];
  }
}
