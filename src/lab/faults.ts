/**
 * What goes wrong on a simulated web, from a seed: how a server treats each request.
 *
 * Faults come and go, as most do on the real web: no URL, and no site, meets more than
 * `FAULTS_IN_ROW_MAX` of them in a row. A crawler that tries three times therefore misses nothing, and
 * the ground truth stays exact under any seed.
 */

import type { Random } from "../base/random.ts";
import { respond, type WorldAnswer } from "./world.ts";
import type { World } from "./world/plan.ts";
import { type Site, speedBpsAt } from "./world/site.ts";

/** How a server treats one request. */
export interface Conduct {
  readonly connect: "accept" | "refuse" | "silence";
  /** There and back again; connecting takes it once, the answer's first byte once more. */
  readonly latencyMs: number;
  /** What the server takes to begin its answer, beside the way; nothing when absent. */
  readonly thinkMs?: number;
  /** undefined: the request is read and never answered. */
  readonly answer: WorldAnswer | undefined;
  /** Of the server; downloads open there at the same time share it. */
  readonly speedBps: number;
  /** Where in the body it breaks off, and how. */
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
/** Below every speed floor that makes sense. */
const DRIP_BPS = 100;

export class FaultSource {
  readonly #random: Random;
  readonly #share: number;
  readonly #faults: readonly Fault[];
  readonly #inRow = new Map<string, number>();

  /** `share` of all requests meet one of the faults. */
  constructor(random: Random, share: number, faults: readonly Fault[] = FAULTS) {
    this.#random = random;
    this.#share = share;
    this.#faults = faults;
  }

  /** The fault that this request meets, if any. */
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

/** The question put to a site at a moment. */
export interface Asked {
  readonly site: Site;
  readonly path: string;
  readonly etag: string | undefined;
  readonly wallMs: number;
}

/** What the site does, the fault included. */
export function conductOf(world: World, asked: Asked, fault: Fault | undefined): Conduct {
  const { site, path, etag, wallMs } = asked;
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
      return { ...good, answer: troubled(500, "Internal Server Error", undefined) };
    case "busy":
      return { ...good, answer: troubled(429, "Too Many Requests", 1 + (path.length % 5)) };
    case "overload":
      return { ...good, answer: troubled(503, "Service Unavailable", undefined) };
    default:
      return good;
  }
}

function troubled(
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
