/**
 * The servers of the bandwidth bench: a hundred sites in one process, cheap enough to share a core.
 *
 *   node bench/bandwidth-server.ts '{"mix":"small","port":8080}'
 *
 * Prints "ready" and serves until it is killed. A crawler's limit is only tested by servers that
 * could give more, so nothing is made here when it is asked for: every body is a slice of one text
 * in memory, or a file of the documentation pages. A page's number decides its size and its links,
 * and page n leads to pages 8n+1 … 8n+8, so that work never runs out and every run meets the same
 * pages. HTTP is spoken by hand, one request at a time for each connection: that is a fifth of the
 * cost of `node:http`.
 */

import { readFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";

export type Mix = "small" | "docs" | "large" | "mix";

export interface ServerOptions {
  readonly mix: Mix;
  readonly port: number;
  /** Where to listen; everywhere when it is not said. */
  readonly address?: string;
  /** The longest a site takes to its first byte: each site has its own time, from 0.2 s on. */
  readonly firstByteMsMax?: number;
  /** Shortest and longest time from a header to its body; every page has its own. */
  readonly bodyMs?: readonly [number, number];
  /** Some pages move, some fail, some break off. */
  readonly trouble?: boolean;
  readonly tls?: { readonly key: string; readonly cert: string };
  /** How many pages a site has, by its address; without it there is no end to them. */
  readonly pagesOf?: Readonly<Record<string, number>>;
  /** How fast a site sends to all its visitors together, by its address; as fast as it can where it is not there. */
  readonly speedsOf?: Readonly<Record<string, number>>;
  /** Folder with `urls.txt` and `sites/`, the real pages. */
  readonly docsFolder?: string;
}

/** One answer: what goes before the body, the body, and how much of it really comes. */
interface Answer {
  readonly head: string;
  readonly body: Uint8Array;
  readonly breaksOff: boolean;
}

const FANOUT = 8;
const KB = 1000;
const SMALL_BYTES = [2 * KB, 20 * KB] as const;
const LARGE_BYTES = [200 * KB, 20_000 * KB] as const;
/** In the mix, one page in so many is large; documentation pages come by their own links. */
const LARGE_ONE_IN = 12;
/** Larger bodies are no HTML, as on the web. */
const HTML_BYTES_MAX = 1000 * KB;
const TEXT_BYTES = 32 * 2 ** 20;
const CHUNK_BYTES = 256 * 1024;
const PACED_BYTES = 4096;
const PACE_BURST_MS = 20;
const FIRST_BYTE_MS_MIN = 200;
const REQUEST_BYTES_MAX = 16_384;
const EMPTY = new Uint8Array(0);
/** Of a hundred pages of a site with trouble: how many move, fail and break off. */
const TROUBLE = { moved: 10, missing: 4, failed: 1, brokenOff: 5 } as const;

function serve(options: ServerOptions): void {
  const site = new Pages(options);
  const paces = new Map(
    Object.entries(options.speedsOf ?? {}).map(([address, bps]) => [address, new Pace(bps)]),
  );
  const onSocket = (socket: Socket): void =>
    converse(socket, site, paces.get(socket.localAddress ?? ""));
  const server: Server =
    options.tls === undefined
      ? createServer({ noDelay: true }, onSocket)
      : createTlsServer(
          {
            key: readFileSync(options.tls.key),
            cert: readFileSync(options.tls.cert),
            noDelay: true,
          },
          onSocket,
        );
  server.listen({ port: options.port, host: options.address ?? "0.0.0.0", backlog: 4096 }, () =>
    process.stdout.write("ready\n"),
  );
}

/** Answers the requests of one connection, in turn. */
function converse(socket: Socket, pages: Pages, pace: Pace | undefined): void {
  let received = "";
  let isAnswering = false;
  socket.setEncoding("latin1");
  socket.on("error", () => socket.destroy());
  socket.on("data", (text: string) => {
    received += text;
    if (received.length > REQUEST_BYTES_MAX) socket.destroy();
    else if (!isAnswering) next();
  });
  function next(): void {
    const end = received.indexOf("\r\n\r\n");
    isAnswering = end >= 0;
    if (end < 0) return;
    const request = received.slice(0, end);
    received = received.slice(end + 4);
    const waitMs = pages.firstByteMs(request);
    if (waitMs === 0) give(request);
    else setTimeout(give, waitMs, request);
  }
  function give(request: string): void {
    if (socket.destroyed) return;
    const { head, body, breaksOff } = pages.answer(request);
    const sent = breaksOff ? body.subarray(0, body.length >> 1) : body;
    const bodyMs = pages.bodyMs(request);
    if (bodyMs > 0) {
      socket.write(head, "latin1");
      setTimeout(() => pour(socket, sent, { pace, done: next }), bodyMs);
      return;
    }
    // Head and body leave together, as from any server in use: each on its own would be a packet more.
    socket.cork();
    socket.write(head, "latin1");
    pour(socket, request.startsWith("HEAD") ? EMPTY : sent, {
      pace,
      done: breaksOff ? () => void socket.destroySoon() : next,
    });
    socket.uncork();
  }
}

/** Writes a body piece by piece as the socket takes it, then goes on. */
function pour(
  socket: Socket,
  body: Uint8Array,
  { pace, done }: { readonly pace: Pace | undefined; readonly done: () => void },
): void {
  let from = 0;
  const pieceBytes = pace === undefined ? CHUNK_BYTES : PACED_BYTES;
  const more = (): void => {
    while (from < body.length && !socket.destroyed) {
      const waitMs = pace?.waitMs(Math.min(pieceBytes, body.length - from)) ?? 0;
      if (waitMs > 0) {
        setTimeout(more, waitMs);
        return;
      }
      const piece = body.subarray(from, from + pieceBytes);
      from += piece.length;
      if (!socket.write(piece) && from < body.length) {
        socket.once("drain", more);
        return;
      }
    }
    done();
  };
  more();
}

/** What a site sends to all its visitors together, piece by piece in the order in which they ask. */
class Pace {
  readonly #bytesPerMs: number;
  #freeAtMs = 0;

  constructor(bps: number) {
    this.#bytesPerMs = bps / 1000;
  }

  /** 0 when so much may be sent now; it is counted then. */
  waitMs(bytes: number): number {
    const nowMs = performance.now();
    if (this.#freeAtMs > nowMs) return this.#freeAtMs - nowMs;
    // A timer may be late by some milliseconds, and that is made good.
    this.#freeAtMs = Math.max(this.#freeAtMs, nowMs - PACE_BURST_MS) + bytes / this.#bytesPerMs;
    return 0;
  }
}

class Pages {
  readonly #options: ServerOptions;
  readonly #text: Uint8Array;
  readonly #docs: readonly string[];

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#text = randomText(TEXT_BYTES);
    this.#docs = options.docsFolder === undefined ? [] : documentPaths(options.docsFolder);
    if (options.mix === "docs" || options.mix === "mix") this.#fetchFromDisk();
  }

  /** All sites are one process, and would stand still together while one waits for its disk. */
  #fetchFromDisk(): void {
    for (const path of this.#docs) this.#document(path);
  }

  firstByteMs(request: string): number {
    const { firstByteMsMax } = this.#options;
    if (firstByteMsMax === undefined) return 0;
    return between([FIRST_BYTE_MS_MIN, firstByteMsMax], hash(hostOf(request)));
  }

  /** Time from the header to the body. */
  bodyMs(request: string): number {
    const { bodyMs: [least, most] = [0, 0] } = this.#options;
    return least + (most - least) * hash(request.slice(0, request.indexOf(" HTTP/")));
  }

  answer(request: string): Answer {
    const path = request.slice(request.indexOf(" ") + 1, request.indexOf(" HTTP/"));
    if (path.startsWith("/d/")) return this.#document(path.slice(3));
    const number = /^\/p\/(\d+)/.exec(path)?.[1];
    return number === undefined ? failure(404) : this.#page(Number(number), hostOf(request), path);
  }

  #page(number: number, host: string, path: string): Answer {
    const chance = hash(`${host}/${number}`);
    const trouble = this.#options.trouble === true ? troubleAt(hash(`${number}!`) * 100) : "none";
    if (trouble === "moved" && !path.endsWith("?moved"))
      return { ...failure(302, `/p/${number}.html?moved`), body: EMPTY };
    if (trouble === "missing") return failure(404);
    if (trouble === "failed") return failure(500);
    const bytes = this.#sizeOf(chance);
    const isHtml = bytes <= HTML_BYTES_MAX;
    const links = isHtml ? Buffer.from(this.#links(number, host)) : EMPTY;
    const offset = Math.floor(hash(`${number}${host}`) * (TEXT_BYTES - bytes));
    const text = this.#text.subarray(offset, offset + Math.max(0, bytes - links.length));
    const body = isHtml ? Buffer.concat([links, text]) : text;
    const type = isHtml ? "text/html; charset=utf-8" : "application/octet-stream";
    return { head: headOf(200, type, body.length), body, breaksOff: trouble === "brokenOff" };
  }

  #sizeOf(chance: number): number {
    const { mix } = this.#options;
    const isLarge = mix === "large" || (mix === "mix" && chance * LARGE_ONE_IN < 1);
    const share = mix === "mix" && isLarge ? chance * LARGE_ONE_IN : chance;
    return Math.round(between(isLarge ? LARGE_BYTES : SMALL_BYTES, share));
  }

  #links(number: number, host: string): string {
    const pagesMax = this.#options.pagesOf?.[host] ?? Infinity;
    let links = `<!doctype html><title>Page ${number}</title>\n`;
    for (let child = 1; child <= FANOUT; child++) {
      const target = number * FANOUT + child;
      if (target >= pagesMax) break;
      links += `<a href="/p/${target}.html">${target}</a>\n`;
    }
    if (this.#options.mix === "mix" && this.#docs.length > 0)
      links += `<a href="/d/${this.#docs[(number * 7919) % this.#docs.length] ?? ""}">on</a>\n`;
    return links;
  }

  #document(path: string): Answer {
    const { docsFolder } = this.#options;
    if (docsFolder === undefined || path.includes("..")) return failure(404);
    try {
      const wanted = decodeURIComponent(path.replace(/[?#].*/, ""));
      const name = wanted.endsWith("/") ? `${wanted}index.html` : wanted;
      const type = /\.html?$/.test(name) ? "text/html; charset=utf-8" : "application/octet-stream";
      const body = readFileSync(join(docsFolder, "sites", name));
      return { head: headOf(200, type, body.length), body, breaksOff: false };
    } catch {
      return failure(404);
    }
  }
}

/** Paths such as `3/howto/index.html`: the folder of a site of documentation, and a page in it. */
export function documentPaths(folder: string): string[] {
  return readFileSync(join(folder, "urls.txt"), "utf8")
    .trim()
    .split("\n")
    .map((url) => url.replace(/^http:\/\/127\.0\.1\.(\d+):\d+\//, "$1/"));
}

function troubleAt(percentile: number): keyof typeof TROUBLE | "none" {
  let above = 0;
  for (const kind of ["moved", "missing", "failed", "brokenOff"] as const) {
    above += TROUBLE[kind];
    if (percentile < above) return kind;
  }
  return "none";
}

function hostOf(request: string): string {
  return /\r\nhost: *([^\r:]+)/i.exec(request)?.[1] ?? "";
}

function failure(status: number, location?: string): Answer {
  const body = status === 302 ? EMPTY : Buffer.from(`${status}\n`);
  const head = headOf(status, "text/plain", body.length);
  const moved =
    location === undefined ? head : head.replace("\r\n", `\r\nLocation: ${location}\r\n`);
  return { head: moved, body, breaksOff: false };
}

function headOf(status: number, type: string, length: number): string {
  return `HTTP/1.1 ${status} -\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`;
}

/** A point between two sizes, even on the scale of their logarithms. */
function between([low, high]: readonly [number, number], chance: number): number {
  return low * (high / low) ** chance;
}

/** FNV-1a with a last stir, as a number from 0 to 1. */
function hash(text: string): number {
  let state = 0x811c9dc5;
  for (let at = 0; at < text.length; at++)
    state = Math.imul(state ^ text.charCodeAt(at), 0x01000193);
  state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d);
  state = Math.imul(state ^ (state >>> 12), 0x297a2d39);
  return ((state ^ (state >>> 15)) >>> 0) / 2 ** 32;
}

/** Letters and spaces without order, the same every time: nothing is like anything else in it. */
function randomText(bytes: number): Uint8Array {
  const alphabet = Buffer.from("etaoinshrdlucmfwypvbgkqjxz      ");
  const text = Buffer.allocUnsafe(bytes);
  let state = 88_172_645;
  for (let at = 0; at < bytes; at++) {
    if (at % 4 === 0) {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
    }
    text[at] = alphabet[(state >>> ((at % 4) * 8)) & 31] ?? 32;
  }
  for (let at = 0; at + 1000 <= bytes; at += 1000) text.write("\n<p>", at);
  return text;
}

// Last, because a class is not there before its line.
if (import.meta.main) serve(JSON.parse(process.argv[2] ?? "{}") as ServerOptions);
