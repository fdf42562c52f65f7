/**
 * Messages between processes and their coordinator. They are repeated, since any of them may be lost.
 *
 * A process reports its work and its needs. The coordinator answers with a licence: for a limited time the process may
 * act, at this rate, with these turns, on this part of the web. It continues alone for a while when it hears of no
 * coordinator: see docs/decisions/033-one-leader.md. Times are durations, and a licence ends relative to the
 * time of the report that it answers, so its holder always sees it end before the coordinator does.
 */

import type { RouterTraffic } from "../crawl/peers/route-links.ts";
import type { Waiting } from "../crawl/peers/peer.ts";
import type { CrawlResult, Snapshot } from "../control/snapshot.ts";
import type { ControlMessage } from "../exchange/bus.ts";
import type { TurnGiven, TurnWish } from "../frontier/shared-turns.ts";
import type { Change, ChangeRequest } from "./change-list.ts";
import type { WrittenDivision } from "./division-codec.ts";
import type { Halves } from "../partition/popular-found.ts";

/** The coordinator's name on the bus. */
export const COORDINATOR = "coordinator";

/** In this time the rate of a process that continues alone falls to its part of the limit. */
export const ALONE_FALL_MS = 60_000;

export interface Report {
  readonly kind: "report";
  /** Digest of what is crawled: a node with another one may not take part. */
  readonly spec: string;
  /** It wants to hand over its part of the web and leave. */
  readonly isLeaving: boolean;
  /** Why its operator wants all processes to stop; empty otherwise. */
  readonly wantsStop: string;
  /** It has ended, and this is its last report. */
  readonly hasEnded: boolean;
  /** Distinguishes a process from its successor of the same name. */
  readonly life: string;
  /** On its own clock; the answer repeats it. */
  readonly sentAtMs: number;
  /** Coordinator, term and number of the licence in force; 0 without one. */
  readonly leader: number;
  readonly term: number;
  readonly grant: number;
  readonly epoch: number;
  /** The highest epoch that its store knows, from any life. */
  readonly epochKnown: number;
  /** Up to this epoch, all parts that it lost have arrived at their new owners. */
  readonly handedOver: number;
  /** The last wave it knows of: see `coordinator.ts`. */
  readonly wave: number;
  /** Changes whenever anything happens. */
  readonly activity: number;
  /** No request is running, and nothing waits here or is in transit to other processes. */
  readonly isDone: boolean;
  /** Sites that it no longer waits for; 0 while it waits. */
  readonly unreachable: number;
  /** It has no work of its own left, whatever is in transit. */
  readonly isDry: boolean;
  /** It has work left, and has used up its pages. */
  readonly isSated: boolean;
  readonly pages: number;
  /** The rate that it goes by; 0 without a licence, null without a limit. */
  readonly heldBps: number | null;
  /** On the wire, in this life. */
  readonly bytes: number;
  readonly usedBps: number;
  /** The rate that its deadlines need, which has priority. */
  readonly neededBps: number;
  /** It could use a higher rate. */
  readonly isHungry: boolean;
  readonly wishes: readonly TurnWish[];
  /** Turns that it holds from an earlier coordinator; empty once the present one has confirmed all. */
  readonly held: readonly TurnWish[];
  readonly given: readonly TurnGiven[];
  /** The fullest parts known here, own or without an owner, with their waiting URLs; null between two counts. */
  readonly waiting: readonly Waiting[] | null;
  /** Popular URLs found here, and the number of all popular URLs that it knows. */
  readonly popular: readonly Halves[];
  readonly popularKnown: number;
  readonly exchange: Exchange;
  /** In its last report: `CrawlHandle.leastPages`, packed by `writeFingerprints`, and its result. */
  readonly leastPages: string;
  readonly result: CrawlResult | null;
  /** It shows the whole crawl. */
  readonly isWatching: boolean;
  /** Number of the last change that it made. */
  readonly change: number;
  /** Changes that its operator asked for and that no leader has answered. */
  readonly requests: readonly ChangeRequest[];
  /** Invalid messages that it has received. */
  readonly droppedMessages: number;
  /** Once a second; null otherwise. */
  readonly snapshot: Snapshot | null;
}

/** The process may not take part. */
export interface Refusal {
  readonly kind: "refusal";
  /** Of the process that it is meant for. */
  readonly life: string;
  readonly why: string;
}

/** The last division that the process knows: for a leader that may know none. */
export interface Known {
  readonly kind: "known";
  readonly division: WrittenDivision;
  /** Made by an operator so far. */
  readonly changes: readonly Change[];
}

/** The whole crawl, for those that show it. */
export interface Look {
  readonly kind: "look";
  readonly snapshot: Snapshot;
  /** Once all processes have ended. */
  readonly result: CrawlResult | null;
}

/** This licence is in force now: grants of earlier ones are free. */
export interface Heard {
  readonly kind: "heard";
  readonly leader: number;
  readonly grant: number;
}

export interface Exchange extends RouterTraffic {
  /** Messages to other processes in transit. */
  readonly messages: number;
}

export interface Licence {
  readonly kind: "licence";
  /** Of the process that it is meant for. */
  readonly life: string;
  /** `sentAtMs` of the report it answers. */
  readonly answers: number;
  readonly forMs: number;
  /** How long its holder continues alone after that, on what it holds, while it hears of no coordinator. */
  readonly aloneMs: number;
  /** The same for its turns at shared sites and IP addresses, which others wait for. */
  readonly turnsAloneMs: number;
  /** Its rate then falls to this one within `ALONE_FALL_MS`; null for no limit. */
  readonly aloneBps: number | null;
  /** The coordinator's term: the higher one prevails. */
  readonly leader: number;
  readonly term: number;
  readonly grant: number;
  /** null for no limit. */
  readonly limitBps: number | null;
  /** The limit of all processes together, which determines the size of bursts. */
  readonly wholeBps: number | null;
  /** Pages that it may fetch in all; null for no limit. */
  readonly pagesMax: number | null;
  /** null if the process knows it already. */
  readonly division: WrittenDivision | null;
  readonly wave: number;
  readonly granted: readonly TurnGiven[];
  readonly recalled: readonly TurnWish[];
  /** Popular URLs that it does not know yet, in the coordinator's order. */
  readonly popular: readonly Halves[];
  /** Why all processes are paused; empty when they are not. */
  readonly held: string;
  /** Changes that it has not made yet, oldest first. */
  readonly changes: readonly Change[];
  /** Of the requests in its report. */
  readonly outcomes: readonly Outcome[];
  /** Whether the process must end: all are done, or an operator stopped the crawl. */
  readonly end: "no" | "finish" | "stop";
  readonly why: string;
}

/** What became of a change that this process's operator asked for. */
export interface Outcome {
  readonly id: string;
  readonly isRefused: boolean;
  readonly message: string;
  /** How many processes take part, and how many have not confirmed the change. */
  readonly processes: number;
  readonly missing: number;
  /** The first of those. */
  readonly missingNames: readonly string[];
}

export type Message = Report | Heard | Licence | Refusal | Look | Known;

export function asControlMessage(message: Message): ControlMessage {
  return message as unknown as ControlMessage;
}
