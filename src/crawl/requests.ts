/**
 * The requests under way, one row each, and the phase that each is in.
 *
 *     queued → sent → answered → recorded → committed
 *
 * A request is queued on the workbench; the fetch loop sends it. When the response is complete it is answered:
 * the connection is free, and the page waits for processing and the archive. It is recorded when its results are
 * in the batch, and committed with it. One that failed may be queued again.
 */

import type { Flow } from "../bandwidth/controller.ts";
import type { Purpose } from "../bandwidth/history/ledger.ts";
import { assert, unreachable } from "../base/assert.ts";
import type { FetchResult } from "../fetch/fetcher.ts";
import { NO_TRAFFIC, type OnBytes, type Traffic } from "../fetch/transport.ts";
import type { Turn } from "../frontier/politeness.ts";
import type { Search, Taken, Waiting } from "../frontier/workbench.ts";
import type { Reason } from "../page/outcome.ts";
import type { WaitingUrl } from "../store/store.ts";
import type { Site } from "./site.ts";

/** The phases of a request, and those that may follow. */
export const PHASES = {
  queued: ["sent"],
  sent: ["answered"],
  answered: ["recorded", "queued"],
  recorded: ["committed"],
  committed: [],
} as const satisfies Record<string, readonly string[]>;

export type Phase = keyof typeof PHASES;

/** A file about a site, which is requested before or beside its pages. */
export interface SiteFile {
  readonly kind: "robots" | "sitemap";
  readonly url: string;
}

/** A request on the workbench: for a URL of the frontier, or for a file about its site. */
export interface QueuedRequest extends Waiting {
  readonly row: WaitingUrl | undefined;
  readonly file: SiteFile | undefined;
}

export function requestFor(row: WaitingUrl, notBeforeMs = 0): QueuedRequest {
  return { id: row.id, score: row.score, notBeforeMs, row, file: undefined };
}

/** For a URL that has failed before. */
export function retryFor(row: WaitingUrl, notBeforeMs: number): QueuedRequest {
  return { ...requestFor(row, notBeforeMs), isRetry: true };
}

/** Files of sites have no row in the store; numbers below zero tell them apart. They go first. */
export function fileRequest(number: number, file: SiteFile, notBeforeMs = 0): QueuedRequest {
  return { id: -number, score: Infinity, notBeforeMs, row: undefined, file };
}

/** A request that was not sent after all. */
export interface Refused {
  readonly kind: "refused";
  readonly reason: Reason;
  /** How its URL ends; undefined when it has ended already. */
  readonly end:
    | { readonly row: WaitingUrl; readonly reason: Reason; readonly detail: string }
    | undefined;
}

export type Answer = FetchResult | Refused;

/** How a request ended, as politeness and the limit see it. */
interface RequestEnd {
  readonly reason: Reason;
  readonly retryAfterMs: number | undefined;
  readonly traffic: Traffic;
}

export function endOf(answer: Answer): RequestEnd {
  switch (answer.kind) {
    case "page":
      return { reason: "ok", retryAfterMs: undefined, traffic: answer.traffic };
    case "not_modified":
    case "redirect":
      return { reason: answer.kind, retryAfterMs: undefined, traffic: answer.traffic };
    case "busy":
      return {
        reason: answer.reason,
        retryAfterMs: answer.retryAfterMs,
        traffic: answer.traffic,
      };
    case "failed":
      return { reason: answer.reason, retryAfterMs: undefined, traffic: answer.traffic };
    case "refused":
      return { reason: answer.reason, retryAfterMs: undefined, traffic: NO_TRAFFIC };
    default:
      return unreachable(answer);
  }
}

/** The request never left this machine, for want of descriptors or ports: it is tried again. */
export function isOurTrouble(answer: Answer): boolean {
  return answer.kind === "failed" && answer.reason === "local_resource";
}

/** One request, from its start until its results are committed. */
export class Request {
  readonly id: number;
  readonly site: Site;
  readonly row: WaitingUrl | undefined;
  readonly file: SiteFile | undefined;
  /** undefined for a page that another process fetched. */
  readonly turn: Turn | undefined;
  phase: Phase = "queued";
  /** The moment at which it was sent, as `retries.ts` counts moments. */
  moment = 0;
  /** As the controller of the limit knows it; undefined while nothing is limited. */
  flow: Flow | undefined;
  receivedBytes = 0;
  answeredBytes = 0;
  /** What its site's share was charged for it. */
  chargedBytes = 0;
  /** Called by the transport. */
  onSent: (() => void) | undefined;
  onBytes: OnBytes | undefined;
  onLength: ((bytes: number | undefined) => void) | undefined;

  constructor(site: Site, { id, row, file }: QueuedRequest, turn: Turn | undefined) {
    this.id = id;
    this.site = site;
    this.row = row;
    this.file = file;
    this.turn = turn;
  }

  /** The purpose of its bytes, when that is known from the start. */
  get purpose(): Purpose | undefined {
    return this.file?.kind;
  }
}

/** How every request and every byte passes the rate limit: `limit/limiter.ts`. */
export interface RateLimit {
  /** How to look for a request that may start; undefined when any may, in any order. */
  readonly search: Search<QueuedRequest> | undefined;
  /** Whether anything is limited at all; without it requests start at once. */
  readonly isHolding: boolean;
  /** Whether nothing may start now, whatever it is. */
  isShut(): boolean;
  begin(request: Request, taken: Taken<QueuedRequest>): void;
  end(request: Request, traffic: Traffic, reason: Reason): void;
  /** Resolves when a page may be processed. */
  nextSlice(): Promise<void>;
}

export class Requests {
  readonly #open = new Map<number, Request>();
  #counts = { sent: 0, answered: 0 };
  #urls = 0;
  #answeredBytes = 0;
  #recorded: Request[] = [];
  /** Pages that may be stored; Infinity for no limit. */
  pagesMax: number;

  constructor(pagesMax: number) {
    this.pagesMax = pagesMax;
  }

  /** Requests that are waiting for their response or receiving it. */
  get sent(): number {
    return this.#counts.sent;
  }

  /** Responses that are being processed, and their bytes. */
  get answered(): number {
    return this.#counts.answered;
  }

  get answeredBytes(): number {
    return this.#answeredBytes;
  }

  /** Requests for URLs, sent or answered. */
  get urls(): number {
    return this.#urls;
  }

  /** Whether no request is sent or answered. */
  get isQuiet(): boolean {
    return this.#counts.sent === 0 && this.#counts.answered === 0;
  }

  /** The request by which a URL is being fetched, or its page is being imported. */
  of(urlId: number): Request | undefined {
    return this.#open.get(urlId);
  }

  isUnderWay(urlId: number): boolean {
    return this.#open.has(urlId);
  }

  begin(site: Site, { entry, turn }: Taken<QueuedRequest>): Request {
    const request = new Request(site, entry, turn);
    if (entry.row !== undefined) this.#urls += 1;
    // A page of the same URL may be on its way in from another process.
    if (!this.#open.has(request.id)) this.#open.set(request.id, request);
    site.requestBegan();
    this.#move(request, "sent");
    this.#counts.sent += 1;
    return request;
  }

  /** The page of a waiting URL has been fetched by another process. */
  beginImport(site: Site, row: WaitingUrl): Request {
    assert(!this.#open.has(row.id), "a URL is fetched or imported once at a time");
    const request = new Request(site, requestFor(row), undefined);
    this.#open.set(row.id, request);
    site.requestBegan();
    this.#move(request, "sent");
    this.#move(request, "answered");
    return request;
  }

  /** The response is complete: the connection is free. */
  answer(request: Request, bytes: number): void {
    this.#move(request, "answered");
    request.answeredBytes = bytes;
    this.#counts.sent -= 1;
    this.#counts.answered += 1;
    this.#answeredBytes += bytes;
  }

  /** Its results are in the batch, or it is queued again. */
  end(request: Request, phase: "recorded" | "queued"): void {
    this.#move(request, phase);
    request.site.requestEnded();
    if (this.#open.get(request.id) === request) this.#open.delete(request.id);
    if (phase === "recorded") this.#recorded.push(request);
    // A page of another process was never sent.
    if (request.turn === undefined) return;
    this.#counts.answered -= 1;
    this.#answeredBytes -= request.answeredBytes;
    if (request.row !== undefined) this.#urls -= 1;
  }

  /** The batch has been committed. */
  commit(): void {
    for (const request of this.#recorded) this.#move(request, "committed");
    this.#recorded = [];
  }

  #move(request: Request, phase: Phase): void {
    const next: readonly Phase[] = PHASES[request.phase];
    assert(next.includes(phase), "a request goes through its phases in order");
    request.phase = phase;
  }
}
