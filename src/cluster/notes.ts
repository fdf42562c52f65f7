/**
 * What processes and their coordinator say to each other, again and again: any of it may be lost.
 *
 * A process reports what it does and could use. The coordinator answers with a licence: for a while the
 * process may act, at this rate, with these turns, on this part of the web. Times are durations, and the end of a
 * licence is counted from when the report was sent that it answers, so that its holder always sees it end
 * before the coordinator does.
 */

import type { RouterTraffic } from "../crawl/peers/route-links.ts";
import type { Waiting } from "../crawl/peers/peer.ts";
import type { Snapshot } from "../control/snapshot.ts";
import type { Note } from "../exchange/bus.ts";
import type { TurnGiven, TurnWish } from "../frontier/shared-turns.ts";
import type { Change, ChangeRequest } from "./change-list.ts";
import type { WrittenDivision } from "./written-division.ts";
import type { Halves } from "../partition/popular-found.ts";

/** The name that a coordinator has on the bus. */
export const COORDINATOR = "coordinator";

export interface Report {
  readonly kind: "report";
  /** Names what is crawled: whoever crawls something else may not take part. */
  readonly spec: string;
  /** It wants to hand over its part of the web and go. */
  readonly isLeaving: boolean;
  /** Why its operator wants the crawl of all to stop; empty when nobody does. */
  readonly wantsStop: string;
  /** It has ended, and this is its last word. */
  readonly hasEnded: boolean;
  /** Tells apart a process and its successor of the same name. */
  readonly life: string;
  /** On its own clock: comes back with the answer. */
  readonly sentAtMs: number;
  /** Of the licence it goes by, who gave it, and the number of the last answer; 0 when it has none. */
  readonly leader: number;
  readonly term: number;
  readonly grant: number;
  readonly epoch: number;
  /** The highest that its store has heard of, in whatever life. */
  readonly epochKnown: number;
  /** Up to this epoch everything it lost has arrived at its new owners. */
  readonly handedOver: number;
  /** Of the last question whether all are done, the number. */
  readonly wave: number;
  /** Changes whenever anything happens. */
  readonly activity: number;
  /** Nothing is under way, waiting, or on its way to others. */
  readonly isDone: boolean;
  /** Sites that it no longer waits for; 0 while it waits. */
  readonly unreachable: number;
  /** Nothing of its own is left to do, whatever is on its way. */
  readonly isDry: boolean;
  /** It has work left, and as many pages as it may have. */
  readonly isSated: boolean;
  readonly pages: number;
  /** On the wire, in this life. */
  readonly bytes: number;
  readonly usedBps: number;
  /** What it takes to keep its deadlines: this comes before all else. */
  readonly neededBps: number;
  /** It could use more than its licence gives. */
  readonly isHungry: boolean;
  readonly wishes: readonly TurnWish[];
  readonly given: readonly TurnGiven[];
  /** The fullest parts known here, own or without an owner, with their waiting URLs; null between two looks. */
  readonly waiting: readonly Waiting[] | null;
  /** Popular URLs found here, and how many of those found by all it knows. */
  readonly popular: readonly Halves[];
  readonly popularKnown: number;
  readonly exchange: Exchange;
  /** With its last word: `CrawlHandle.leastPages` as `writeFingerprints` packs them. */
  readonly leastPages: string;
  /** The last change of the crawl that it made. */
  readonly change: number;
  /** Changes that its operator asked for and that no leader has answered. */
  readonly requests: readonly ChangeRequest[];
  /** Invalid messages that it has received. */
  readonly droppedMessages: number;
  /** Once a second. */
  readonly snapshot: Snapshot | null;
}

/** It may not take part. */
export interface Refusal {
  readonly kind: "refusal";
  /** Of whom it is meant for. */
  readonly life: string;
  readonly why: string;
}

/** How the web was divided when it last heard of it: for a leader that may not know. */
export interface Known {
  readonly kind: "known";
  readonly division: WrittenDivision;
  /** Made by an operator so far. */
  readonly changes: readonly Change[];
}

/** What the whole looks like: for whoever is not the coordinator, once a second. */
export interface Look {
  readonly kind: "look";
  readonly snapshot: Snapshot;
}

/** It goes by this answer now: what it had before is free. */
export interface Heard {
  readonly kind: "heard";
  readonly leader: number;
  readonly grant: number;
}

export interface Exchange extends RouterTraffic {
  /** Letters on their way. */
  readonly letters: number;
}

export interface Licence {
  readonly kind: "licence";
  /** `sentAtMs` of the report it answers. */
  readonly answers: number;
  readonly forMs: number;
  /** The term of the coordinator: of two, the later is heard. */
  readonly leader: number;
  readonly term: number;
  readonly grant: number;
  /** null for as much as it wants. */
  readonly limitBps: number | null;
  /** What all share of which this is a part: bursts are small or large by that. */
  readonly wholeBps: number | null;
  /** It may have so many pages in all; null for as many as there are. */
  readonly pagesMax: number | null;
  /** Only when it does not know it yet. */
  readonly division: WrittenDivision | null;
  readonly wave: number;
  readonly granted: readonly TurnGiven[];
  readonly recalled: readonly TurnWish[];
  /** Popular URLs that it does not know yet, in the order in which all know them. */
  readonly popular: readonly Halves[];
  /** Why nobody may start anything at present; empty when all may. */
  readonly held: string;
  /** Changes that it has not made yet, oldest first. */
  readonly changes: readonly Change[];
  /** Of the requests in its report. */
  readonly outcomes: readonly Outcome[];
  /** All are done, or the operator wants it: end. */
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

export function asNote(message: Message): Note {
  return message as unknown as Note;
}
