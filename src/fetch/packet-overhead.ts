/**
 * How many bytes the line carries beside each byte that a socket gives us: packet headers, and what came twice.
 *
 * A limit is meant for the line, and a program sees only what is inside the packets. How much is
 * around it depends on how full they are: under 5 % for long bodies, 15 % and more for pages of 2 KB
 * with a connection each. So it is measured: the interface counts its bytes and packets, and every
 * packet has the same headers (14 bytes Ethernet, 20 IPv4 or 40 IPv6, 32 TCP with timestamps). Packets that
 * came twice are counted by the system, which tells their senders so (RFC 2883).
 *
 * Exact when the line is ours alone, and near enough when it is shared, since others' packets have
 * headers too. Where nobody counts, packets are taken for full ones.
 *
 * The past is forgotten by bytes, not by time: a mebibyte later it hardly counts, on a slow line a look
 * later, and a silence with some stray packets teaches nothing. Four looks a second; three small files.
 */

import { readFileSync } from "node:fs";
import { networkInterfaces } from "node:os";

/** What an interface has received since it was made. */
export interface LineCounters {
  /** Which one was read: another one has counted from elsewhere. */
  readonly line: string;
  readonly bytes: number;
  readonly packets: number;
  readonly headerBytes: number;
}

const LOOK_MS = 250;
const MEMORY_BYTES = { least: 16 * 1024, most: 1024 * 1024 };
/** On a slow line a mebibyte is long ago: so many looks are remembered there. */
const MEMORY_LOOKS = 4;
const SHARE_MAX = 0.5;
const BUSY_SHARE = 0.5;
/** Others on this machine may have trouble with their lines: no more than this is believed of ours. */
const REPEATED_SHARE_MAX = 0.1;
const IPV4_HEADER_BYTES = 14 + 20 + 32;
const IPV6_HEADER_BYTES = 14 + 40 + 32;
const SEGMENT_BYTES = 1448;
const LOOPBACK = "lo";
/** What is believed before anything was seen weighs as much as so many packets. */
const PRIOR_PACKETS = 16;
/** Of packets as full as they can be. */
const FULL_SHARE = IPV4_HEADER_BYTES / SEGMENT_BYTES;

export class PacketOverhead {
  readonly #readCounters: () => readonly LineCounters[];
  readonly #readRepeated: () => number;
  readonly #last = new Map<string, LineCounters>();
  #besideSum = 0;
  #payloadSum = 0;
  #expectedShare = Number.NaN;
  #repeated: number;
  #lookedMs = -Infinity;

  /** `readRepeated`: how many packets have come twice so far. */
  constructor(readCounters: () => readonly LineCounters[], readRepeated = () => 0) {
    this.#readCounters = readCounters;
    this.#readRepeated = readRepeated;
    this.#repeated = readRepeated();
    this.expect(FULL_SHARE);
  }

  /** Packets are of another kind from now on: what was seen of the earlier ones tells nothing of them. */
  expect(share: number): void {
    if (share === this.#expectedShare) return;
    this.#expectedShare = share;
    this.#payloadSum = PRIOR_PACKETS * SEGMENT_BYTES;
    this.#besideSum = share * this.#payloadSum;
  }

  /**
   * Bytes beside each byte of payload, from 0 to a half. `limitBps` is what the line may carry: while it
   * carries little, and that in emptier packets than usual, they make connections and tell nothing of pages.
   */
  shareNow(nowMs: number, limitBps = 0): number {
    const sinceMs = nowMs - this.#lookedMs;
    if (sinceMs >= LOOK_MS) {
      this.#lookedMs = nowMs;
      this.#look((limitBps * BUSY_SHARE * sinceMs) / 1000);
    }
    return Math.min(SHARE_MAX, this.#besideSum / this.#payloadSum);
  }

  #look(busyBytes: number): void {
    const sum = { bytes: 0, packets: 0, headerBytes: 0 };
    for (const counters of this.#readCounters()) {
      const last = this.#last.get(counters.line);
      this.#last.set(counters.line, counters);
      const packets = counters.packets - (last?.packets ?? Infinity);
      const bytes = counters.bytes - (last?.bytes ?? Infinity);
      // Counters that ran backwards were set anew; a line without payload has nothing to tell.
      if (packets < 0 || bytes <= packets * counters.headerBytes) continue;
      sum.bytes += bytes;
      sum.packets += packets;
      sum.headerBytes += packets * counters.headerBytes;
    }
    const repeated = this.#readRepeated();
    const again = Math.max(0, repeated - this.#repeated);
    this.#repeated = repeated;
    const believed = this.#besideSum / this.#payloadSum;
    const isEmptier = sum.headerBytes > believed * (sum.bytes - sum.headerBytes);
    const isIdle = sum.bytes < busyBytes;
    if (sum.bytes > 0 && !(isEmptier && isIdle)) this.#learn(sum, again);
  }

  #learn(
    { bytes, packets, headerBytes }: Pick<LineCounters, "bytes" | "packets" | "headerBytes">,
    repeated: number,
  ): void {
    const insideBytes = bytes - headerBytes;
    const repeatedBytes = insideBytes * Math.min(REPEATED_SHARE_MAX, repeated / packets);
    const memoryBytes = Math.min(
      MEMORY_BYTES.most,
      Math.max(MEMORY_BYTES.least, MEMORY_LOOKS * bytes),
    );
    const kept = Math.exp(-bytes / memoryBytes);
    this.#besideSum = this.#besideSum * kept + headerBytes + repeatedBytes;
    this.#payloadSum = this.#payloadSum * kept + insideBytes - repeatedBytes;
  }
}

/** Packets that came twice to this machine, whoever they were for. */
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

/** Where packets are counted: interfaces by the addresses of our sockets, and what came over loopback. */
export interface Counted {
  localAddresses(): Iterable<string>;
  readonly loopbackTraffic: { readonly bytes: number; readonly segments: number };
}

/** Reads the counters of the interfaces that our sockets' addresses belong to, as Linux shows them. */
export function lineCounters(counted: Counted): () => LineCounters[] {
  const lines = new Map<string, string | undefined>();
  return () => {
    const read = new Map<string, LineCounters>();
    for (const address of counted.localAddresses()) {
      if (!lines.has(address)) lines.set(address, interfaceWith(address));
      const line = lines.get(address);
      if (line === undefined || read.has(line)) continue;
      const counters =
        line === LOOPBACK ? ofLoopback(counted.loopbackTraffic) : readLine(line, address);
      if (counters !== undefined) read.set(line, counters);
    }
    return [...read.values()];
  };
}

/** The interface receives what we send, too, so it is the sockets that are asked. */
function ofLoopback({ bytes, segments }: Counted["loopbackTraffic"]): LineCounters {
  const headerBytes = IPV4_HEADER_BYTES;
  return { line: LOOPBACK, bytes: bytes + segments * headerBytes, packets: segments, headerBytes };
}

function readLine(line: string, address: string): LineCounters | undefined {
  const folder = `/sys/class/net/${line}/statistics`;
  const bytes = readNumber(`${folder}/rx_bytes`);
  const packets = readNumber(`${folder}/rx_packets`);
  if (bytes === undefined || packets === undefined) return undefined;
  const headerBytes = address.includes(":") ? IPV6_HEADER_BYTES : IPV4_HEADER_BYTES;
  return { line, bytes, packets, headerBytes };
}

function interfaceWith(address: string): string | undefined {
  for (const [name, places = []] of Object.entries(networkInterfaces()))
    if (places.some((place) => place.address === address)) return name;
  // All of 127.0.0.0/8 is this machine, and only its first address is listed.
  return address.startsWith("127.") && address !== "127.0.0.1"
    ? interfaceWith("127.0.0.1")
    : undefined;
}

function readNumber(path: string): number | undefined {
  try {
    const number = Number(readFileSync(path, "latin1"));
    return Number.isSafeInteger(number) ? number : undefined;
  } catch {
    return undefined;
  }
}
