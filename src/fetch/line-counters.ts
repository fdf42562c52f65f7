/**
 * What the interfaces of this machine have received, as Linux counts it: bytes, and packets.
 *
 * Only the interfaces that our sockets' addresses belong to are read. Of loopback that would be what we send as well, so
 * the sockets are asked, when an exchange ends. One small file a look.
 */

import { readFileSync } from "node:fs";
import { networkInterfaces } from "node:os";

/** What an interface has received since it was made. */
export interface LineCounters {
  /** Which one was read: another one has counted from elsewhere. */
  readonly line: string;
  readonly bytes: number;
  readonly packets: number;
  /** Of each packet. */
  readonly headerBytes: number;
  /** Whether it counts what comes when it comes. */
  readonly isPrompt: boolean;
}

/** Ethernet, IPv4 or IPv6, and TCP with timestamps. */
export const IPV4_HEADER_BYTES = 14 + 20 + 32;
const IPV6_HEADER_BYTES = 14 + 40 + 32;
const LOOPBACK = "lo";
const COUNTERS_FILE = "/proc/net/dev";

/** Where packets are counted: interfaces by the addresses of our sockets, and what came over loopback. */
export interface Counted {
  localAddresses(): Iterable<string>;
  readonly loopbackTraffic: { readonly bytes: number; readonly segments: number };
}

/** Reads the counters of the interfaces that our sockets' addresses belong to. */
export function lineCounters(counted: Counted): () => LineCounters[] {
  const lines = new Map<string, string | undefined>();
  return () => {
    const rows = rowsOfLines();
    const read = new Map<string, LineCounters>();
    for (const address of counted.localAddresses()) {
      if (!lines.has(address)) {
        const interfaces = interfacesNow();
        if (interfaces === undefined) continue;
        lines.set(address, interfaceWith(address, interfaces));
      }
      const line = lines.get(address);
      if (line === undefined || read.has(line)) continue;
      const counters =
        line === LOOPBACK
          ? ofLoopback(counted.loopbackTraffic)
          : countersIn(rows.get(line), line, address);
      if (counters !== undefined) read.set(line, counters);
    }
    return [...read.values()];
  };
}

/** What came between one look and the next, over all lines together. */
export class CountedSteps {
  readonly #readCounters: () => readonly LineCounters[];
  readonly #last = new Map<string, LineCounters>();

  constructor(readCounters: () => readonly LineCounters[]) {
    this.#readCounters = readCounters;
  }

  take(): {
    readonly bytes: number;
    readonly packets: number;
    readonly headerBytes: number;
    /** Whether there are lines to be read, and each counts what comes when it comes. */
    readonly isPrompt: boolean;
  } {
    const all = this.#readCounters();
    const isPrompt = all.length > 0 && all.every((counters) => counters.isPrompt);
    const sum = { bytes: 0, packets: 0, headerBytes: 0, isPrompt };
    for (const counters of all) {
      const last = this.#last.get(counters.line);
      this.#last.set(counters.line, counters);
      const packets = counters.packets - (last?.packets ?? Infinity);
      const bytes = counters.bytes - (last?.bytes ?? Infinity);
      // Counters that decreased were reset.
      if (packets < 0 || bytes < 0) continue;
      sum.bytes += bytes;
      sum.packets += packets;
      sum.headerBytes += packets * counters.headerBytes;
    }
    return sum;
  }
}

function ofLoopback({ bytes, segments }: Counted["loopbackTraffic"]): LineCounters {
  const headerBytes = IPV4_HEADER_BYTES;
  return {
    line: LOOPBACK,
    bytes: bytes + segments * headerBytes,
    packets: segments,
    headerBytes,
    isPrompt: false,
  };
}

function countersIn(
  row: string | undefined,
  line: string,
  address: string,
): LineCounters | undefined {
  const [bytes = Number.NaN, packets = Number.NaN] = (row ?? "").trim().split(/\s+/).map(Number);
  if (!Number.isSafeInteger(bytes) || !Number.isSafeInteger(packets)) return undefined;
  const headerBytes = address.includes(":") ? IPV6_HEADER_BYTES : IPV4_HEADER_BYTES;
  return { line, bytes, packets, headerBytes, isPrompt: true };
}

/** What the system tells of each interface: received bytes and packets come first. */
function rowsOfLines(): Map<string, string> {
  let text: string;
  try {
    text = readFileSync(COUNTERS_FILE, "latin1");
  } catch {
    return new Map();
  }
  const rows = new Map<string, string>();
  for (const row of text.split("\n")) {
    const at = row.indexOf(":");
    if (at >= 0) rows.set(row.slice(0, at).trim(), row.slice(at + 1));
  }
  return rows;
}

type Interfaces = ReturnType<typeof networkInterfaces>;

/** The system is asked through a socket, for which there may be no descriptor left: undefined then. */
function interfacesNow(): Interfaces | undefined {
  try {
    return networkInterfaces();
  } catch {
    return undefined;
  }
}

function interfaceWith(address: string, interfaces: Interfaces): string | undefined {
  for (const [name, places = []] of Object.entries(interfaces))
    if (places.some((place) => place.address === address)) return name;
  // All of 127.0.0.0/8 is this machine, and only its first address is listed.
  return address.startsWith("127.") && address !== "127.0.0.1"
    ? interfaceWith("127.0.0.1", interfaces)
    : undefined;
}
