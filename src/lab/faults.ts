/**
 * Injects faults into a simulated web from a seed: how a server treats each request.
 *
 * Faults are temporary, like most on the real web: a URL or a site has at most `FAULTS_IN_ROW_MAX`
 * of them in a row. A crawler with three attempts per URL therefore misses no page, and the ground
 * truth is exact for every seed.
 */

import type { Random } from "../base/random.ts";
import { respond, type WorldAnswer } from "./world.ts";
import type { World } from "./world/plan.ts";
import { type Site, speedBpsAt } from "./world/site.ts";

/** How a server treats one request. */
export interface Conduct {
  readonly connect: "accept" | "refuse" | "silence";
  /** Round-trip time; connecting takes one, the first byte of the answer another. */
  readonly latencyMs: number;
  /** Time from request to first byte of the answer, without the round trip; 0 when absent. */
  readonly thinkMs?: number;
  /** Time from the header to the first byte of the body; they arrive together when absent. */
  readonly bodyMs?: number;
  /** Bytes that a new connection receives for its TLS handshake; none when absent. */
  readonly handshakeBytes?: number;
  /** undefined: the request is read and never answered. */
  readonly answer: WorldAnswer | undefined;
  /** Rate of the server, shared by its concurrent downloads. */
  readonly speedBps: number;
  /** Where in the body the answer breaks off, and how. */
  readonly breaksOff:
    | { readonly afterBytes: number; readonly how: "reset" | "close" | "stall" }
    | undefined;
}

export type Fault =
  | "refuse"
  | "silence"
  | "mute"
  | "reset"
  | "close"
  | "stall"
  | "drip"
  | "error"
  | "busy"
  | "overload";

export const FAULTS: readonly Fault[] = [
  "refuse",
  "silence",
  "mute",
  "reset",
  "close",
  "stall",
  "drip",
  "error",
  "busy",
  "overload",
];

export const FAULTS_IN_ROW_MAX = 2;
/** Slower than any plausible minimum speed. */
const DRIP_BPS = 100;

export class FaultSource {
  readonly #random: Random;
  readonly #share: number;
  readonly #faults: readonly Fault[];
  readonly #inRow = new Map<string, number>();

  /** `share` of all requests fail with one of the faults. */
  constructor(random: Random, share: number, faults: readonly Fault[] = FAULTS) {
    this.#random = random;
    this.#share = share;
    this.#faults = faults;
  }

  /** Draws the fault of this request; undefined for none. */
  draw(site: string, path: string): Fault | undefined {
    const chance = this.#random.next();
    const fault = this.#faults[Math.floor((chance / this.#share) * this.#faults.length)];
    const url = site + path;
    const worst = Math.max(this.#inRow.get(site) ?? 0, this.#inRow.get(url) ?? 0);
    if (fault === undefined || worst >= FAULTS_IN_ROW_MAX) {
      this.#inRow.delete(site);
      this.#inRow.delete(url);
      return undefined;
    }
    for (const key of [site, url]) this.#inRow.set(key, (this.#inRow.get(key) ?? 0) + 1);
    return fault;
  }
}

/** A request to a site and its time. */
interface WorldRequest {
  readonly site: Site;
  readonly path: string;
  readonly etag: string | undefined;
  readonly wallMs: number;
}

/** How the site treats the request, the fault included. */
export function conductOf(world: World, request: WorldRequest, fault: Fault | undefined): Conduct {
  const { site, path, etag, wallMs } = request;
  const answer = respond(world, site, path, etag);
  const speedBps = speedBpsAt(site, wallMs);
  const { latencyMs, thinkMs } = site;
  const times = { latencyMs, thinkMs, speedBps };
  const good: Conduct = { connect: "accept", answer, ...times, breaksOff: undefined };
  switch (fault) {
    case "refuse":
    case "silence":
      return { ...good, connect: fault };
    case "mute":
      return { ...good, answer: undefined };
    case "reset":
    case "close":
    case "stall": {
      const afterBytes = Math.floor(answer.body.length / 2);
      return { ...good, breaksOff: { afterBytes, how: fault } };
    }
    case "drip":
      return { ...good, speedBps: DRIP_BPS };
    case "error":
      return { ...good, answer: errorAnswer(500, "Internal Server Error", undefined) };
    case "busy":
      return { ...good, answer: errorAnswer(429, "Too Many Requests", 1 + (path.length % 5)) };
    case "overload":
      return { ...good, answer: errorAnswer(503, "Service Unavailable", undefined) };
    default:
      return good;
  }
}

export function errorAnswer(
  status: number,
  statusText: string,
  retryAfterS: number | undefined,
): WorldAnswer {
  const body = Buffer.from(`<h1>${statusText}</h1>\n`);
  const headers: [string, string][] = [
    ["content-type", "text/html"],
    ["content-length", String(body.length)],
  ];
  if (retryAfterS !== undefined) headers.push(["retry-after", String(retryAfterS)]);
  return { status, statusText, headers, body };
}
