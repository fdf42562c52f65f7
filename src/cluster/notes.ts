/**
 * What processes and their coordinator say to each other, again and again: any of it may be lost.
 *
 * A process reports what it does and could use. The coordinator answers with a licence: for a while the
 * process may act, at this rate, with these turns, on this part of the web. Times are durations, and the end of a
 * licence is counted from when the report was sent that it answers, so that its holder always sees it end
 * before the coordinator does.
 */

import type { BorderTraffic, Division, Handing } from "../crawl/border.ts";
import type { Snapshot } from "../crawl/snapshot.ts";
import type { Note } from "../exchange/bus.ts";
import type { Totals } from "../store/store.ts";
import type { TurnGiven, TurnWish } from "../frontier/shared-turns.ts";
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
  /** Buckets that nobody has and for which something waits here. */
  readonly wanted: readonly number[];
  /** Popular URLs found here, and how many of those found by all it knows. */
  readonly popular: readonly Halves[];
  readonly popularKnown: number;
  readonly exchange: Exchange;
  /** The last change of the crawl that it made. */
  readonly change: number;
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

export interface Exchange extends BorderTraffic {
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
  readonly changes: readonly Change[];
  /** All are done, or the operator wants it: end. */
  readonly end: "no" | "finish" | "stop";
  readonly why: string;
}

/** What an operator changed while the crawl runs. */
export interface Change {
  readonly number: number;
  readonly key: string;
  readonly value: string;
}

/** A division in little room. */
export interface WrittenDivision {
  readonly epoch: number;
  readonly names: readonly string[];
  /** For each bucket the place of its owner in `names` from 1, or 0: two bytes each, in base64. */
  readonly owners: string;
  readonly handing: readonly (Handing & WrittenBuckets)[];
  readonly losses: readonly ({ readonly epoch: number } & WrittenBuckets)[];
  readonly formerly: readonly ({ readonly name: string } & WrittenBuckets)[];
  readonly members: readonly string[];
  readonly left: readonly { readonly name: string; readonly totals: Totals }[];
}

interface WrittenBuckets {
  /** A bit each, in base64. */
  readonly buckets: string;
}

export function writeDivision(division: Division): WrittenDivision {
  const { epoch, owners, inTransit, losses, formerly, members, left } = division;
  const names = [...new Set(owners)].filter((name) => name !== "");
  const places = new Map(names.map((name, index) => [name, index + 1]));
  const bytes = Buffer.alloc(2 * owners.length);
  for (const [bucket, owner] of owners.entries())
    bytes.writeUInt16LE(places.get(owner) ?? 0, 2 * bucket);
  const text = bytes.toString("base64");
  const written = (buckets: ReadonlySet<number>): string => writeBuckets(buckets, owners.length);
  return {
    epoch,
    names,
    owners: text,
    handing: groupedByHanding(inTransit).map((one) => ({ ...one, buckets: written(one.buckets) })),
    losses: losses.map((loss) => ({ epoch: loss.epoch, buckets: written(loss.buckets) })),
    formerly: [...formerly].map(([name, buckets]) => ({ name, buckets: written(buckets) })),
    members: [...members],
    left: [...left].map(([name, totals]) => ({ name, totals })),
  };
}

export function readDivision(written: WrittenDivision): Division {
  const bytes = Buffer.from(written.owners, "base64");
  const owners = Array.from({ length: bytes.length / 2 }, (_, bucket) => {
    const place = bytes.readUInt16LE(2 * bucket);
    return place === 0 ? "" : (written.names[place - 1] ?? "");
  });
  return {
    epoch: written.epoch,
    owners,
    inTransit: byBucket(written.handing),
    losses: written.losses.map(({ epoch, buckets }) => ({ epoch, buckets: readBuckets(buckets) })),
    formerly: new Map(written.formerly.map(({ name, buckets }) => [name, readBuckets(buckets)])),
    members: new Set(written.members),
    left: new Map(written.left.map(({ name, totals }) => [name, totals])),
  };
}

function groupedByHanding(
  inTransit: Division["inTransit"],
): readonly (Handing & { readonly buckets: ReadonlySet<number> })[] {
  const groups = new Map<string, Handing & { readonly buckets: Set<number> }>();
  for (const [bucket, all] of inTransit)
    for (const { from, epoch } of all) {
      const key = `${epoch} ${from}`;
      const group = groups.get(key) ?? { from, epoch, buckets: new Set() };
      groups.set(key, group);
      group.buckets.add(bucket);
    }
  return [...groups.values()];
}

function byBucket(handing: WrittenDivision["handing"]): Division["inTransit"] {
  const inTransit = new Map<number, Handing[]>();
  for (const { from, epoch, buckets } of handing)
    for (const bucket of readBuckets(buckets))
      inTransit.set(bucket, [...(inTransit.get(bucket) ?? []), { from, epoch }]);
  return inTransit;
}

function writeBuckets(buckets: ReadonlySet<number>, bucketCount: number): string {
  const bits = Buffer.alloc(Math.ceil(bucketCount / 8));
  for (const bucket of buckets) bits[bucket >> 3] = (bits[bucket >> 3] ?? 0) | (1 << (bucket & 7));
  return bits.toString("base64");
}

function readBuckets(text: string): ReadonlySet<number> {
  const buckets = new Set<number>();
  for (const [place, byte] of Buffer.from(text, "base64").entries())
    for (let bit = 0; bit < 8; bit++) if ((byte & (1 << bit)) !== 0) buckets.add(8 * place + bit);
  return buckets;
}

/** Notes come from our own kind, of the same version: joining saw to that. */
export function reportIn(note: Note): Report | undefined {
  return note["kind"] === "report" ? (note as unknown as Report) : undefined;
}

export function heardIn(note: Note): Heard | undefined {
  return note["kind"] === "heard" ? (note as unknown as Heard) : undefined;
}

export function licenceIn(note: Note): Licence | undefined {
  return note["kind"] === "licence" ? (note as unknown as Licence) : undefined;
}

export function refusalIn(note: Note): Refusal | undefined {
  return note["kind"] === "refusal" ? (note as unknown as Refusal) : undefined;
}

export function lookIn(note: Note): Look | undefined {
  return note["kind"] === "look" ? (note as unknown as Look) : undefined;
}

export function knownIn(note: Note): Known | undefined {
  return note["kind"] === "known" ? (note as unknown as Known) : undefined;
}

export function asNote(message: Report | Heard | Licence | Refusal | Look | Known): Note {
  return message as unknown as Note;
}
