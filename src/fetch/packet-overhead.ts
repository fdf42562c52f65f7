/**
 * How many bytes of packet headers the line carries for each byte that a socket gives us.
 *
 * A limit is meant for the line, and a program sees only what is inside the packets. How much is
 * around it depends on how full they are: under 5 % for long bodies, 15 % and more for pages of 2 KB
 * with a connection each. So it is measured: the interface counts its bytes and packets, and every
 * packet has the same headers (14 bytes Ethernet, 20 IPv4 or 40 IPv6, 32 TCP with timestamps).
 *
 * Exact when the line is ours alone, and near enough when it is shared, since others' packets have
 * headers too. Where nobody counts, packets are taken for full ones.
 *
 * The past is forgotten by bytes, not by time: a mebibyte later it hardly counts, and a silence with
 * some stray packets teaches nothing. One look a second; two small files.
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

const LOOK_MS = 1_000;
const MEMORY_BYTES = 1024 * 1024;
const SHARE_MAX = 0.5;
const IPV4_HEADER_BYTES = 14 + 20 + 32;
const IPV6_HEADER_BYTES = 14 + 40 + 32;
const SEGMENT_BYTES = 1448;
const LOOPBACK = "lo";
/** What is believed before anything was seen: this many full packets. */
const PRIOR_PACKETS = 64;

export class PacketOverhead {
  readonly #readCounters: () => readonly LineCounters[];
  readonly #last = new Map<string, LineCounters>();
  #headerSum = PRIOR_PACKETS * IPV4_HEADER_BYTES;
  #payloadSum = PRIOR_PACKETS * SEGMENT_BYTES;
  #lookedMs = -Infinity;

  constructor(readCounters: () => readonly LineCounters[]) {
    this.#readCounters = readCounters;
  }

  /** Header bytes for each byte of payload, from 0 to a half. */
  shareNow(nowMs: number): number {
    if (nowMs - this.#lookedMs >= LOOK_MS) {
      this.#lookedMs = nowMs;
      for (const counters of this.#readCounters()) this.#learn(counters);
    }
    return Math.min(SHARE_MAX, this.#headerSum / this.#payloadSum);
  }

  #learn(counters: LineCounters): void {
    const last = this.#last.get(counters.line);
    this.#last.set(counters.line, counters);
    if (last === undefined) return;
    const bytes = counters.bytes - last.bytes;
    const headerBytes = (counters.packets - last.packets) * counters.headerBytes;
    // Counters that ran backwards were set anew; a line without payload has nothing to tell.
    if (headerBytes < 0 || bytes <= headerBytes) return;
    const kept = Math.exp(-bytes / MEMORY_BYTES);
    this.#headerSum = this.#headerSum * kept + headerBytes;
    this.#payloadSum = this.#payloadSum * kept + bytes - headerBytes;
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
