/**
 * A connection that can be shut at any byte: between the socket and its reader.
 *
 * Node reads ahead: 64 KiB at a time from the socket, a whole record of TLS, one more chunk into a paused stream. Here bytes come in steps of a part of a window, each is reported before its reader sees it, and when the callback says stop, the socket is not read any more. TLS and HTTP
 * sit on the stream above and notice only that nothing comes.
 *
 * Promise: after `hold` nothing enters the program; the system takes in what the window has room for.
 *
 * A window also bounds the speed, to one window for each round trip. So when on a long way four
 * windows in a row pass in one exchange without a hold, it may be the window that slows it down, and
 * it is doubled.
 *
 * One copy of every byte; what that costs is in docs/decisions/007-pacing.md.
 */

import { Socket } from "node:net";
import { Duplex } from "node:stream";
import { openWindow, type ReceiveWindow, WINDOW_BYTES_MIN } from "./receive-window.ts";

interface ValveOptions {
  /** Where the socket will connect to; undefined when only the system knows. */
  readonly address: string | undefined;
  readonly windowBytes: number;
  /** Called for every read, after the socket has counted it; may call `hold`. */
  readonly onRead: () => void;
  /** Below this round trip the window is no bound to speak of, and stays as it is. */
  readonly longWayMs?: number;
}

const READ_BYTES_MAX = 64 * 1024;
/** One for all: what is read into it is copied before anything else is read. */
const LANDING = Buffer.allocUnsafeSlow(READ_BYTES_MAX);
/** Copies share memory that was asked for at once: a piece of its own for each would cost more than copying it. */
const SHELF_BYTES = 64 * 1024;
const SMALL_WINDOW_BYTES_MAX = 8192;
const IN_A_ROW_BYTES_MAX = 256 * 1024;
const WINDOWS_BEFORE_GROWTH = 4;
const GROWTH_MAX = 8;
const LONG_WAY_MS = 5;
/** After so long a server near by has filled the window; after 8 ms it would ask whether anything got lost. */
const WINDOW_FULL_MS = 3;
const GROWN_BYTES_MAX = 1024 * 1024;
/** What is no more than so many times too wide is left as it is. */
const WIDER_TIMES = 2;
/** Who has not sent a window's worth after so long does not send through a narrow one. */
const STUCK_MS = 150;
/** A window that holds so much of what it may is full: packets take room beside their payload. */
const FULL_SHARE = 0.5;

/**
 * Acknowledges the bytes received after valves were shut, when their windows are full.
 *
 * Without a read, Linux delays acknowledgements by 40 ms, and a nearby server has sent its last
 * packet again by then. This is also the moment to narrow a window.
 */
class Acknowledging {
  readonly #held = new Set<Valve>();
  #isArmed = false;

  add(valve: Valve): void {
    this.#held.add(valve);
    if (this.#isArmed) return;
    this.#isArmed = true;
    setTimeout(() => this.#round(), WINDOW_FULL_MS).unref();
  }

  #round(): void {
    this.#isArmed = false;
    for (const valve of this.#held) valve.settle();
    this.#held.clear();
  }
}

const acknowledging = new Acknowledging();

let shelf = Buffer.alloc(0);

function copyOf(bytes: Uint8Array): Buffer {
  if (bytes.length > SHELF_BYTES / 4) return Buffer.from(bytes);
  if (shelf.length < bytes.length) shelf = Buffer.allocUnsafeSlow(SHELF_BYTES);
  const copy = shelf.subarray(0, bytes.length);
  shelf = shelf.subarray(bytes.length);
  copy.set(bytes);
  return copy;
}

export class Valve {
  /** Below: connects, counts bytes, and is closed. */
  readonly socket: Socket;
  /** Above: what is read and written. */
  readonly stream: Duplex;
  readonly #onRead: () => void;
  readonly #window: ReceiveWindow | undefined;
  readonly #longWayMs: number;
  #windowBytesMax = 0;
  /** Too wide for what was set since; undefined: it is not. */
  #narrowToBytes: number | undefined;
  /** What it was before it was narrowed, until it has shown that bytes come through it. */
  #narrowedFromBytes: number | undefined;
  #landing = LANDING;
  #isHeld = false;
  #isWanted = false;
  #isResting = false;
  #inARowBytes = 0;
  #freeBytes = 0;

  constructor({ address, windowBytes, onRead, longWayMs = LONG_WAY_MS }: ValveOptions) {
    this.#onRead = onRead;
    this.#longWayMs = longWayMs;
    this.#window = address === undefined ? undefined : openWindow(address, windowBytes);
    this.#bound(windowBytes);
    this.socket = this.#open();
    this.stream = new Duplex({
      allowHalfOpen: false,
      decodeStrings: false,
      // These bytes are already reported, so the socket may stay busy.
      readableHighWaterMark: READ_BYTES_MAX,
      read: () => {
        this.#isWanted = true;
        this.#goOn();
      },
      write: (chunk, encoding, done) => void this.socket.write(chunk, encoding, done),
      final: (done) => void this.socket.end(done),
      destroy: (error, done) => {
        this.socket.destroy();
        done(error);
      },
    });
    this.#join();
  }

  /** The most that the system holds unread; undefined when that is up to the system. */
  get windowBytes(): number | undefined {
    return this.#window?.bytes;
  }

  /** The round trip as the system measures it. */
  rttMs(): number | undefined {
    return this.socket.destroyed ? undefined : this.#window?.rttMs();
  }

  /** Segments received so far, as the system counts them. */
  segmentsIn(): number | undefined {
    return this.socket.destroyed ? undefined : this.#window?.segmentsIn();
  }

  /** What lies in the system and was not read; undefined where the system does not tell. */
  unreadBytes(): number | undefined {
    return this.socket.destroyed ? undefined : this.#window?.unreadBytes(this.socket.bytesRead);
  }

  /** From now on this is its window. A much wider one is narrowed when it is next full. */
  setWindow(bytes: number): void {
    this.#bound(bytes);
    if (this.socket.destroyed) return;
    this.#window?.widen(bytes);
    this.#narrowToBytes = (this.windowBytes ?? 0) > WIDER_TIMES * bytes ? bytes : undefined;
    if (this.#isHeld && this.#narrowToBytes !== undefined) acknowledging.add(this);
  }

  /** Makes the system acknowledge at once the bytes received so far. */
  acknowledge(): void {
    if (!this.socket.destroyed) this.#window?.acknowledgeSoon();
  }

  /** No read for a moment. Bytes on their way to a full window also fit into the narrower one. */
  settle(): void {
    this.acknowledge();
    if (this.#narrowToBytes === undefined || !this.#isHeld) return;
    const fullBytes = FULL_SHARE * (this.windowBytes ?? Infinity);
    if ((this.unreadBytes() ?? 0) < fullBytes) return;
    const { windowBytes } = this;
    if (this.#window?.narrow(this.#narrowToBytes) === true) this.#narrowedFromBytes = windowBytes;
    this.#narrowToBytes = undefined;
  }

  hold(): void {
    this.#isHeld = true;
    this.#freeBytes = 0;
    this.socket.pause();
  }

  /**
   * One exchange is over: the valve is open again. A window is widened once for many small
   * exchanges together; one wider than twice is not kept, so each further widening must prove
   * itself again.
   */
  rest(): void {
    if ((this.#window?.bytes ?? 0) * GROWTH_MAX > this.#windowBytesMax) this.#freeBytes = 0;
    this.release();
  }

  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    if (this.#narrowedFromBytes !== undefined) this.#tryNarrowed(this.#narrowedFromBytes);
    this.#goOn();
  }

  /** Where nothing comes through a narrowed window, its server waits for more room than there is: it is as wide as before again. */
  #tryNarrowed(fromBytes: number): void {
    this.#narrowedFromBytes = undefined;
    const fullBytes = this.socket.bytesRead + fromBytes;
    setTimeout(() => {
      const isStuck = !this.#isHeld && this.socket.bytesRead < fullBytes;
      if (isStuck && !this.socket.destroyed) this.#window?.widen(fromBytes);
    }, STUCK_MS).unref();
  }

  #bound(windowBytes: number): void {
    this.#windowBytesMax = Math.min(GROWTH_MAX * windowBytes, GROWN_BYTES_MAX);
    this.#landing = LANDING.subarray(0, readBytesOf(windowBytes));
  }

  #open(): Socket {
    const onread = {
      buffer: () => this.#landing,
      callback: (bytes: number, buffer: Uint8Array): boolean => this.#came(bytes, buffer),
    };
    if (this.#window === undefined) return new Socket({ onread });
    // A socket given as a descriptor would be read at once, and this one is not connected yet.
    const taken = { fd: this.#window.fd, manualStart: true, readable: true, writable: true };
    try {
      return new Socket({ ...taken, onread });
    } catch (error) {
      this.#window.close();
      throw error;
    }
  }

  #join(): void {
    let hasEnded = false;
    this.socket.on("end", () => {
      hasEnded = true;
      this.stream.push(null);
    });
    this.socket.on("error", (error) => this.stream.destroy(error));
    // The reader listens too; but an error may arrive before there is a reader.
    this.stream.on("error", () => {});
    this.socket.on("close", () => {
      // After an orderly end the stream above may still contain unread bytes.
      if (!hasEnded) this.stream.destroy();
    });
  }

  #came(bytes: number, buffer: Uint8Array): boolean {
    this.#freeBytes += bytes;
    this.#onRead();
    this.#isWanted = this.stream.push(copyOf(buffer.subarray(0, bytes)));
    if (this.#isHeld) {
      this.acknowledge();
      acknowledging.add(this);
      return false;
    }
    this.#grow();
    this.#inARowBytes += bytes;
    if (this.#inARowBytes < IN_A_ROW_BYTES_MAX) return this.#isWanted;
    this.#letOthersGo();
    return false;
  }

  /**
   * A server that sends as fast as we read would be read from for as long as it pleases, and with a hundred of
   * them no timer would come to its turn for seconds.
   */
  #letOthersGo(): void {
    this.#inARowBytes = 0;
    this.#isResting = true;
    setImmediate(() => {
      this.#isResting = false;
      this.#goOn();
    });
  }

  #grow(): void {
    const window = this.#window;
    if (window === undefined || this.#freeBytes < WINDOWS_BEFORE_GROWTH * window.bytes) return;
    this.#freeBytes = 0;
    if ((this.rttMs() ?? 0) < this.#longWayMs) return;
    if (!this.socket.destroyed) window.widen(Math.min(2 * window.bytes, this.#windowBytesMax));
  }

  #goOn(): void {
    const mayRead = this.#isWanted && !this.#isHeld && !this.#isResting;
    if (mayRead && !this.socket.destroyed) this.socket.resume();
  }
}

/** How much is read at a time: of a small window a quarter, of a wide one half, since each reading costs a moment. */
function readBytesOf(windowBytes: number): number {
  const share = windowBytes > SMALL_WINDOW_BYTES_MAX ? 1 / 2 : 1 / 4;
  return Math.max(windowBytes * share, WINDOW_BYTES_MIN / 2);
}
