/**
 * How much the system may take in for us before we read: a socket's receive window.
 *
 * The server does not notice that a reader has stopped until the receive buffer is full, and by itself
 * that is 64 KiB at the first packet and megabytes later. The buffer must be set before a connection
 * is made, which Node has no call for; so the socket is opened here, by the system's own calls
 * through `node:ffi`, and handed to Node as a descriptor. Where that is not possible (another system,
 * an older Node, no permission) there is no window, and the answer is undefined.
 *
 * Linux doubles the number it is given for its own overhead, and with well filled packets all of the
 * double holds data. So half is asked for: a window of n never holds more than n, and about n/2 at
 * first. It can be widened later, and narrowed while it is full: a segment on its way to the wider window
 * would be dropped, and the connection would stall until the server sends it again.
 *
 * One system call or two for each use; some microseconds.
 */

import { isIP } from "node:net";

/** Linux' numbers are the same on all machines but these. */
const ODD_MACHINES = /^mips/;
const AF_INET = 2;
const AF_INET6 = 10;
const STREAM_NONBLOCK_CLOEXEC = 0o2004001;
const SOL_SOCKET = 1;
const SO_RCVBUF = 8;
const IPPROTO_TCP = 6;
const TCP_INFO = 11;
/** Where `struct tcp_info` has `tcpi_rtt`, in microseconds; RFC 6298's smoothed round trip. */
const RTT_INDEX = 68 / 4;
const TCP_QUICKACK = 12;
const ON = Int32Array.of(1);
/** `tcpi_rcv_mss`: how large the server's packets are. */
const PACKET_INDEX = 20 / 4;
/** `tcpi_bytes_received`, of which the lower half is enough, and `tcpi_segs_in`. */
const BYTES_IN_INDEX = 128 / 4;
const SEGMENTS_IN_INDEX = 140 / 4;
/** One for all, since a new one for each question would cost as much as the question. */
const INFO = new Int32Array(SEGMENTS_IN_INDEX + 1);
const INFO_SIZE = new Int32Array(1);

/** With what a system needs beside the payload. */
const PACKETS_LEAST = 1.5;

/** The narrowest that Linux makes. */
export const WINDOW_BYTES_MIN = 2304;

interface SystemCalls {
  socket(family: number, kind: number, protocol: number): number;
  close(fd: number): number;
  setsockopt(fd: number, level: number, name: number, value: Int32Array, bytes: number): number;
  getsockopt(fd: number, level: number, name: number, value: Int32Array, bytes: Int32Array): number;
}

let loaded: { readonly calls: SystemCalls | undefined } | undefined;

/** Whether windows can be set on this machine: tried on a socket that goes nowhere. */
export function canSetWindows(): boolean {
  const trial = openWindow("127.0.0.1", 2 * WINDOW_BYTES_MIN);
  trial?.close();
  return trial !== undefined;
}

/** A socket for an address, not connected. Its descriptor is the caller's to give on or close. */
export function openWindow(address: string, bytes: number): ReceiveWindow | undefined {
  const calls = systemCalls();
  if (calls === undefined) return undefined;
  const family = isIP(address) === 6 ? AF_INET6 : AF_INET;
  const fd = calls.socket(family, STREAM_NONBLOCK_CLOEXEC, 0);
  if (fd < 0) return undefined;
  const window = new ReceiveWindow(fd, calls);
  window.widen(bytes);
  if (window.bytes > 0) return window;
  window.close();
  return undefined;
}

export type { ReceiveWindow };

class ReceiveWindow {
  readonly fd: number;
  readonly #calls: SystemCalls;
  #bytes = 0;

  constructor(fd: number, calls: SystemCalls) {
    this.fd = fd;
    this.#calls = calls;
  }

  /** The most it holds; nothing before it was first set. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Only while the socket is open: a descriptor that was closed may be another's by now. */
  widen(bytes: number): void {
    if (bytes > this.#bytes && this.#set(bytes)) this.#bytes = bytes;
  }

  /**
   * Only when it is full, so that nothing is on its way that would find no room. False where it would have no room for a
   * packet: a server that has seen a wider one waits before it sends smaller ones.
   */
  narrow(bytes: number): boolean {
    const packetBytes = this.#info(PACKET_INDEX) ?? Infinity;
    if (bytes < PACKETS_LEAST * packetBytes || !this.#set(bytes)) return false;
    this.#bytes = bytes;
    return true;
  }

  /** The round trip as the system has it; the same care with the descriptor as above. */
  rttMs(): number | undefined {
    const rttMicros = this.#info(RTT_INDEX) ?? 0;
    return rttMicros > 0 ? rttMicros / 1000 : undefined;
  }

  /**
   * Requests an immediate acknowledgement of the next packet. Without a read, an acknowledgement
   * may be delayed by 40 ms; a nearby server takes this for a loss after two, and sends its last
   * packet again.
   */
  acknowledgeSoon(): void {
    this.#calls.setsockopt(this.fd, IPPROTO_TCP, TCP_QUICKACK, ON, 4);
  }

  /** Segments received so far, empty ones too. */
  segmentsIn(): number | undefined {
    return this.#info(SEGMENTS_IN_INDEX);
  }

  /** How much has come in beyond what was read; a few gigabytes on one connection do not confuse it. */
  unreadBytes(readBytes: number): number | undefined {
    const cameBytes = this.#info(BYTES_IN_INDEX);
    // Both are counted modulo 2^32, and so is their difference.
    return cameBytes === undefined ? undefined : Math.max(0, (cameBytes - readBytes) | 0);
  }

  #info(index: number): number | undefined {
    INFO_SIZE[0] = INFO.byteLength;
    if (this.#calls.getsockopt(this.fd, IPPROTO_TCP, TCP_INFO, INFO, INFO_SIZE) !== 0)
      return undefined;
    return INFO_SIZE[0] === INFO.byteLength ? INFO[index] : undefined;
  }

  /** For a descriptor that was not handed over. */
  close(): void {
    this.#calls.close(this.fd);
  }

  /** Sets, and looks whether it took: some systems answer yes and do as they like. */
  #set(bytes: number): boolean {
    const value = Int32Array.of(Math.ceil(bytes / 2));
    if (this.#calls.setsockopt(this.fd, SOL_SOCKET, SO_RCVBUF, value, 4) !== 0) return false;
    const size = Int32Array.of(4);
    if (this.#calls.getsockopt(this.fd, SOL_SOCKET, SO_RCVBUF, value, size) !== 0) return false;
    const tookBytes = value[0] ?? 0;
    return tookBytes > 0 && tookBytes <= Math.max(bytes + 1, 2 * WINDOW_BYTES_MIN);
  }
}

function systemCalls(): SystemCalls | undefined {
  loaded ??= { calls: load() };
  return loaded.calls;
}

function load(): SystemCalls | undefined {
  if (process.platform !== "linux" || ODD_MACHINES.test(process.arch)) return undefined;
  try {
    // Nothing named: the C library that Node itself runs on, whichever that is.
    return withoutFfiWarning(() => process.getBuiltinModule("node:ffi")?.dlopen(null, CALLS))
      ?.functions;
  } catch {
    return undefined;
  }
}

const CALLS = {
  socket: { arguments: ["int32", "int32", "int32"], return: "int32" },
  close: { arguments: ["int32"], return: "int32" },
  setsockopt: { arguments: ["int32", "int32", "int32", "buffer", "uint32"], return: "int32" },
  getsockopt: { arguments: ["int32", "int32", "int32", "buffer", "buffer"], return: "int32" },
} as const;

/**
 * Node warns on loading that this part of it may change. That is ours to know and nothing to people
 * who crawl; so this one warning is kept back, for as long as the loading takes.
 */
function withoutFfiWarning<T>(act: () => T): T {
  const emitWarning = process.emitWarning;
  process.emitWarning = ((warning: string | Error, ...rest: []) => {
    if (!String(warning).startsWith("FFI is an experimental")) emitWarning(warning, ...rest);
  }) as typeof process.emitWarning;
  try {
    return act();
  } finally {
    process.emitWarning = emitWarning;
  }
}
