/**
 * What a message between a process and its coordinator must look like, field by field: one schema for each kind.
 *
 * A message that fails its check is dropped and counted, whatever is wrong with it: a peer may be broken, and on NATS
 * anybody with the subject's name may write. Bounds are far above what this version sends, and far below what would
 * harm: a licence of a day, an epoch that leaves no higher one.
 *
 * Pure. The compiler holds each schema to the fields of its type. Fields that are only shown may be null, as JSON
 * writes an infinite number.
 */

import type { Slowed } from "../base/units.ts";
import type { ControlMessage } from "../exchange/bus.ts";
import type {
  CrawlResult,
  Forecast,
  ParallelResult,
  ParallelView,
  PlanView,
  PromisedView,
  RefusedSeeds,
  RoundView,
  SiteView,
  Snapshot,
  TopicsResult,
  TopicsView,
  Trouble,
  UnreachableSites,
} from "../control/snapshot.ts";
import type { TurnGiven, TurnWish } from "../frontier/shared-turns.ts";
import type { Cap } from "../control/caps.ts";
import { type BytesByPurpose, type Purpose, PURPOSES } from "../bandwidth/history/ledger.ts";
import type { Segment } from "../plan/plan.ts";
import type { RoundNews, Totals } from "../store/store.ts";
import {
  type Change,
  CHANGES_MAX,
  type ChangeRequest,
  MESSAGE_CHARS_MAX,
  VALUE_CHARS_MAX,
} from "./change-list.ts";
import type {
  Exchange,
  Heard,
  Known,
  Licence,
  Look,
  Message,
  Outcome,
  Refusal,
  Report,
} from "./messages.ts";
import type { WrittenDivision } from "./division-codec.ts";

/** Returns the path of the first field that fails, "" for the value itself, and undefined when all is well. */
type Check = (value: unknown) => string | undefined;

const NAME_CHARS_MAX = 256;
const TEXT_CHARS_MAX = 4_096;
const URL_CHARS_MAX = 8_192;
const BASE64_CHARS_MAX = 256 * 1024;
const LIST_MAX = 4_096;
const LICENCE_MS_MAX = 60_000;
const ALONE_MS_MAX = 86_400_000;
/** Leaves room to count on from, exactly. */
const COUNTER_MAX = 2 ** 48;

/** The message if it is one of ours, whole and within its bounds; else the path of the field that is not. */
export function messageIn(control: ControlMessage): Message | string {
  const kind = String(control["kind"]);
  if (!Object.hasOwn(BY_KIND, kind)) return "kind";
  return BY_KIND[kind as Message["kind"]](control) ?? (control as unknown as Message);
}

/** For the copies of these that are in the registry. */
export function isChanges(value: unknown): boolean {
  return changes(value) === undefined;
}

export function isDivision(value: unknown): boolean {
  return division(value) === undefined;
}

function recordOf<T extends object>(fields: { readonly [Key in keyof Required<T>]: Check }): Check {
  const checks = Object.entries<Check>(fields);
  return (value) => {
    if (!isRecord(value)) return "";
    for (const [key, check] of checks) {
      const at = check(Object.hasOwn(value, key) ? value[key] : undefined);
      if (at !== undefined) return pathOf(key, at);
    }
    return undefined;
  };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function listOf(check: Check, lengthMax = LIST_MAX): Check {
  return (value) => {
    if (!Array.isArray(value) || value.length > lengthMax) return "";
    for (const [index, one] of value.entries()) {
      const at = check(one);
      if (at !== undefined) return pathOf(index, at);
    }
    return undefined;
  };
}

function pairOf(first: Check, second: Check): Check {
  return (value) =>
    Array.isArray(value) && value.length === 2 ? (first(value[0]) ?? second(value[1])) : "";
}

/** Names of any kind with a value of one kind. */
function tableOf(check: Check): Check {
  return (value) => {
    if (!isRecord(value)) return "";
    const entries = Object.entries(value);
    return listOf(pairOf(name, check))(entries);
  };
}

function pathOf(key: string | number, rest: string): string {
  return rest === "" ? `${key}` : `${key}.${rest}`;
}

function is(holds: (value: unknown) => boolean): Check {
  return (value) => (holds(value) ? undefined : "");
}

function textOf(charsMax: number): Check {
  return is((value) => typeof value === "string" && value.length <= charsMax);
}

function oneOf(...values: readonly unknown[]): Check {
  return is((value) => values.includes(value));
}

function orNull(check: Check): Check {
  return (value) => (value === null ? undefined : check(value));
}

function optional(check: Check): Check {
  return (value) => (value === undefined ? undefined : orNull(check)(value));
}

function integer(least: number, most: number): Check {
  return is(
    (value) =>
      Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most,
  );
}

const flag = oneOf(true, false);
const name = textOf(NAME_CHARS_MAX);
const text = textOf(TEXT_CHARS_MAX);
const count = integer(0, COUNTER_MAX);
const word = integer(0, 2 ** 32 - 1);
const number = is((value) => Number.isFinite(value));
const amount = is((value) => Number.isFinite(value) && (value as number) >= 0);
const shown = optional(number);
/** A sum that is only shown: of bytes, which may be estimated, or below zero for a moment. */
const sum = number;

const troubles = listOf(
  recordOf<Trouble>({ url: textOf(URL_CHARS_MAX), reason: text, detail: text }),
);
const news = recordOf<RoundNews>({
  changed: sum,
  unchanged: sum,
  fresh: sum,
  gone: sum,
  left: sum,
});
const segments = listOf(
  recordOf<Segment>({ fromSeconds: shown, toSeconds: shown, rateBps: shown }),
);

const site = recordOf<SiteView>({
  site: text,
  known: sum,
  pages: sum,
  bytes: sum,
  pending: sum,
  inFlight: sum,
  state: text,
  nextInMs: shown,
  slowed: optional(recordOf<Slowed>({ by: sum, perSecond: amount, ofPerSecond: shown })),
  round: recordOf<RoundView>({ number: sum, news, nextInMs: shown }),
  priority: shown,
  forecast: optional(
    recordOf<Forecast>({
      deadlineInMs: shown,
      finishInMs: shown,
      rateBps: shown,
      leftBytes: shown,
      segments,
      isLate: flag,
    }),
  ),
  deadlineMs: shown,
  finishedMs: shown,
  promised: optional(recordOf<PromisedView>({ certainty: text, finishMs: shown })),
});

const totals = recordOf<Totals>({
  known: sum,
  done: sum,
  failed: sum,
  skipped: sum,
  pages: sum,
  pagesRecrawled: optional(sum),
  bytes: sum,
  ledger: tableOf(sum),
  crawledMs: amount,
  usage: text,
  duplicatesExact: sum,
  duplicatesNear: sum,
  outcomes: tableOf(sum),
  refusedLinks: tableOf(sum),
  remarks: tableOf(sum),
});

const parallel = recordOf<ParallelView>({
  procs: listOf(
    recordOf<ParallelView["procs"][number]>({
      name,
      pages: sum,
      pending: sum,
      rateBps: shown,
      limitBps: shown,
      state: text,
    }),
  ),
  flows: listOf(listOf(sum)),
  urlsSent: optional(sum),
  droppedMessages: optional(sum),
  exchangeBytes: optional(sum),
  differentPages: optional(sum),
});

const topicCounts = tableOf(
  recordOf<{ own: number; imported: number }>({ own: sum, imported: count }),
);
const topics = recordOf<TopicsView>({
  model: text,
  locality: shown,
  linksJudged: sum,
  byTopic: topicCounts,
});

const byPurpose = recordOf<BytesByPurpose>(
  Object.fromEntries(PURPOSES.map((purpose) => [purpose, sum])) as Record<Purpose, Check>,
);

const snapshot = recordOf<Snapshot>({
  state: oneOf("starting", "running", "paused", "waiting", "stopping", "done", "stopped"),
  because: text,
  processId: sum,
  elapsedMs: shown,
  resumed: flag,
  totals,
  pending: sum,
  unreachable: sum,
  rateBps: shown,
  limitBps: shown,
  predictedBps: shown,
  waitingReaders: sum,
  ledger: byPurpose,
  pagesPerSecond: shown,
  recentBps: listOf(number),
  remainingMs: shown,
  connectionsOpen: sum,
  connectionsMax: sum,
  plan: optional(recordOf<PlanView>({ number: sum, madeAgoMs: shown })),
  siteCount: sum,
  sites: listOf(site),
  troubles,
  parallel: optional(parallel),
  topics: optional(topics),
});

type SiteResult = CrawlResult["sites"][number];
type Unreachable = CrawlResult["unreachable"]["first"][number];
const result = recordOf<CrawlResult>({
  pages: sum,
  bytes: sum,
  seconds: sum,
  urls: recordOf<CrawlResult["urls"]>({
    known: sum,
    done: sum,
    failed: sum,
    skipped: sum,
    pending: sum,
  }),
  outcomes: tableOf(sum),
  refusedLinks: tableOf(sum),
  remarks: tableOf(sum),
  caps: listOf(recordOf<Cap>({ cap: text, setting: orNull(text), count: sum })),
  refusedSeeds: recordOf<RefusedSeeds>({ count: sum, first: troubles }),
  unreachable: recordOf<UnreachableSites>({
    count: sum,
    first: listOf(
      recordOf<Unreachable>({ site: text, pending: sum, reason: text, detail: text, seconds: sum }),
    ),
  }),
  bandwidth: recordOf<CrawlResult["bandwidth"]>({
    limitBps: shown,
    meanBps: shown,
    utilisation: shown,
    worstSecond: shown,
    secondsOver105: shown,
    secondsCpuBound: shown,
    rankInversion: shown,
    longestWaitMs: shown,
  }),
  ledger: recordOf<CrawlResult["ledger"]>({ byPurpose, byProcess: tableOf(sum) }),
  sites: listOf(
    recordOf<SiteResult>({
      site: text,
      pages: sum,
      bytes: sum,
      ledger: byPurpose,
      deadlineSeconds: shown,
      finishedSeconds: shown,
      met: orNull(flag),
      promised: orNull(
        recordOf<NonNullable<SiteResult["promised"]>>({ finishSeconds: shown, certainty: text }),
      ),
      round: sum,
      nextRoundInSeconds: shown,
      roundPages: tableOf(sum),
    }),
  ),
  parallel: orNull(
    recordOf<ParallelResult>({
      procs: sum,
      downloaded: sum,
      unique: sum,
      overlap: sum,
      urlsExchanged: sum,
      communicationOverhead: sum,
      exchangeBytes: sum,
      coverage: shown,
      quality: shown,
    }),
  ),
  topics: orNull(recordOf<TopicsResult>({ model: text, locality: shown, byTopic: topicCounts })),
  duplicates: recordOf<CrawlResult["duplicates"]>({ exact: sum, near: sum }),
  resumed: flag,
  complete: flag,
  stoppedBy: text,
});

const wishes = listOf(recordOf<TurnWish>({ key: text, wish: count, delayMs: amount }));
const given = listOf(recordOf<TurnGiven>({ key: text, wish: count, afterMs: amount }));
const popular = listOf(pairOf(word, word));

const exchange = recordOf<Exchange>({
  urlsSent: count,
  urlsReceived: count,
  pagesSent: count,
  sentBytes: amount,
  sentTo: tableOf(count),
  messages: count,
});

const requested = { id: name, key: name, value: textOf(VALUE_CHARS_MAX) };
const changes = listOf(
  recordOf<Change>({ ...requested, number: count, message: textOf(MESSAGE_CHARS_MAX) }),
  CHANGES_MAX,
);

const layers = listOf(textOf(BASE64_CHARS_MAX));
const division = recordOf<WrittenDivision>({
  epoch: count,
  bucketCount: integer(1, 2 ** 16),
  names: listOf(name),
  owners: layers,
  handing: listOf(recordOf<WrittenDivision["handing"][number]>({ from: name, epoch: count })),
  handed: layers,
  losses: listOf(count),
  lost: layers,
  formers: listOf(name),
  formerly: layers,
  members: listOf(name),
  left: listOf(recordOf<WrittenDivision["left"][number]>({ name, totals })),
});

const BY_KIND: { readonly [Kind in Message["kind"]]: Check } = {
  report: recordOf<Report>({
    kind: oneOf("report"),
    spec: name,
    isLeaving: flag,
    wantsStop: text,
    hasEnded: flag,
    life: name,
    sentAtMs: amount,
    leader: integer(-1, Number.MAX_SAFE_INTEGER),
    term: count,
    grant: count,
    epoch: count,
    epochKnown: count,
    handedOver: count,
    wave: count,
    activity: count,
    isDone: flag,
    isDry: flag,
    isSated: flag,
    unreachable: count,
    pages: count,
    bytes: amount,
    usedBps: amount,
    neededBps: amount,
    isHungry: flag,
    wishes,
    held: wishes,
    heldBps: orNull(amount),
    given,
    waiting: orNull(listOf(pairOf(integer(0, 2 ** 16), count))),
    popular,
    popularKnown: count,
    exchange,
    leastPages: textOf(BASE64_CHARS_MAX),
    result: orNull(result),
    isWatching: flag,
    change: count,
    requests: listOf(recordOf<ChangeRequest>(requested)),
    droppedMessages: count,
    snapshot: orNull(snapshot),
  }),
  heard: recordOf<Heard>({
    kind: oneOf("heard"),
    leader: integer(-1, Number.MAX_SAFE_INTEGER),
    grant: count,
  }),
  known: recordOf<Known>({ kind: oneOf("known"), division, changes }),
  licence: recordOf<Licence>({
    kind: oneOf("licence"),
    life: name,
    answers: amount,
    forMs: integer(0, LICENCE_MS_MAX),
    aloneMs: integer(0, ALONE_MS_MAX),
    turnsAloneMs: integer(0, ALONE_MS_MAX),
    aloneBps: orNull(amount),
    leader: integer(0, Number.MAX_SAFE_INTEGER),
    term: count,
    grant: count,
    limitBps: orNull(amount),
    wholeBps: orNull(amount),
    pagesMax: orNull(count),
    division: orNull(division),
    wave: count,
    granted: given,
    recalled: wishes,
    popular,
    held: text,
    changes,
    outcomes: listOf(
      recordOf<Outcome>({
        id: name,
        isRefused: flag,
        message: textOf(MESSAGE_CHARS_MAX),
        processes: count,
        missing: count,
        missingNames: listOf(name),
      }),
    ),
    end: oneOf("no", "finish", "stop"),
    why: text,
  }),
  refusal: recordOf<Refusal>({ kind: oneOf("refusal"), life: name, why: text }),
  look: recordOf<Look>({ kind: oneOf("look"), snapshot, result: orNull(result) }),
};
