/**
 * Turns the request and the known facts into a task for a planner: U, and for each site D and c.
 *
 * D is the `size` of a site's entry; else the rest of the crawl in the folder; else the size of the
 * last complete crawl there; else its `pages` at the typical size. c is its `cap`; else the current
 * rate of its server, times the requests allowed at a time; in both cases at most its `limit`, the
 * rate of its requests at the agreed delay, and that of the requests to its IP address at that
 * address's delay. U is the limit, or the calendar's at present; without one, the sum of all c.
 *
 * A site of unknown size, or one that could never start, is left out of the plan and reported.
 */

import { limitAt, minutesToChange } from "../bandwidth/clock/calendar.ts";
import type { DayMoment } from "../bandwidth/clock/day-kind.ts";
import { windowFor } from "../bandwidth/window.ts";
import { CrawlError } from "../base/errors.ts";
import { showBytes } from "../base/units.ts";
import { visible } from "../base/visible.ts";
import type { Settings } from "../config/schema.ts";
import type { SiteWish } from "../config/site-wishes.ts";
import { delaysInAdvance, errandsBefore } from "../crawl/agreed-delay.ts";
import { bytesLeft, capBps } from "../plan/promise/estimate.ts";
import type { PlanTask } from "../plan/plan.ts";
import { type SiteEvidence, serverLeastBps } from "../plan/promise/certainty.ts";
import type { Server } from "../plan/promise/confidence.ts";
import { type Slots, slotsCapBps, slotsOf } from "../plan/promise/slots.ts";
import { hostOfSite } from "../url/site.ts";
import type { Earlier, Knowledge } from "./plan-knowledge.ts";

/** `pages`: the configured number of pages, at the typical size. */
type SizeSource = "size" | "left" | "earlier" | "pages";
/** `typical`: the size, in pages of the typical size. */
type PagesSource = "pages" | "left" | "earlier" | "typical";
type CapSource = "cap" | "limit" | "speeds" | "delay" | "address";

interface Cap {
  readonly from: CapSource;
  readonly bps: number;
}

export interface PlannedSite {
  readonly wish: SiteWish;
  /** undefined when unknown. */
  readonly bytes: number | undefined;
  readonly sizeFrom: SizeSource | undefined;
  readonly pages: number | undefined;
  readonly pagesFrom: PagesSource | undefined;
  /** The size of a page where it is unknown; undefined if not needed. */
  readonly typicalBytes: number | undefined;
  /** The time of its requests at the agreed delays. */
  readonly slots: Slots;
  /** Infinity: no known cap. */
  readonly capBps: number;
  readonly capFrom: CapSource | undefined;
  readonly server: Server;
  readonly evidence: SiteEvidence;
  /** The reason why it is not planned, and a remedy. */
  readonly leftOut: string | undefined;
}

export interface PlanInput {
  readonly sites: readonly PlannedSite[];
  /** For the sites that are planned, in their order. */
  readonly task: PlanTask;
  readonly rateFrom: "limit" | "calendar" | "caps";
  /** Whether the total rate is a fact: the servers' rates, and not a limit that the line may not reach. */
  readonly isLineMeasured: boolean;
  /** The next change of the calendar; undefined without one. */
  readonly rateUntilSeconds: number | undefined;
  /** The time limit of the crawl; undefined for none. */
  readonly timeMaxSeconds: number | undefined;
}

export function planInput(
  settings: Settings,
  wishes: readonly SiteWish[],
  knowledge: Knowledge,
  moment: DayMoment,
): PlanInput {
  const sizes = wishes.map((wish) => sizeOf(wish, settings, knowledge));
  const slots = slotsOf(
    wishes.map((wish, index) => politenessOf(wish, sizes[index]?.pages ?? 0, settings, knowledge)),
  );
  const sites = wishes.map((wish, index) =>
    plannedSite(wish, { size: sizes[index], slots: slots[index] as Slots }, settings, knowledge),
  );
  const planned = sites.filter(({ leftOut }) => leftOut === undefined);
  const { timeMaxMs } = settings;
  return {
    sites,
    timeMaxSeconds: timeMaxMs === undefined ? undefined : timeMaxMs / 1000,
    ...rateOf(settings, planned, moment, (rateBps) => ({
      sites: planned.map(({ wish, bytes = 0, capBps: cap }) => ({
        key: wish.site,
        bytes: bytes * wish.efficiency,
        deadlineSeconds: wish.deadlineSeconds,
        capBps: cap,
        weight: wish.weight,
      })),
      rateBps,
      sitesMax: settings.sitesAtOnceMax ?? Infinity,
      rateMinBps: settings.rateMinBps ?? 0,
      startupSeconds: settings.startupMs / 1000,
    })),
  };
}

function rateOf(
  settings: Settings,
  planned: readonly PlannedSite[],
  moment: DayMoment,
  taskAt: (rateBps: number) => PlanTask,
): Omit<PlanInput, "sites" | "timeMaxSeconds"> {
  const { limitAt: calendar, limitBps } = settings;
  const nowBps = calendar === undefined ? limitBps : limitAt(calendar, moment, limitBps);
  const rateUntilSeconds =
    calendar === undefined ? undefined : 60 * minutesToChange(calendar, moment);
  if (nowBps === 0)
    throw new CrawlError(
      "SETTINGS_INVALID",
      "limit: the calendar pauses the crawl now; to plan for another time, give --limit-at none --limit RATE",
    );
  if (nowBps !== undefined) {
    const rateFrom = calendar === undefined ? "limit" : "calendar";
    return { task: taskAt(nowBps), rateFrom, rateUntilSeconds, isLineMeasured: false };
  }
  const sumBps = planned.reduce((sum, site) => sum + site.capBps, 0);
  if (sumBps === Infinity) {
    const unknown = planned.find(({ capBps: cap }) => cap === Infinity)?.wish.site ?? "";
    throw new CrawlError(
      "SETTINGS_INVALID",
      `limit: no total rate; set --limit, or a cap for ${visible(unknown, 120)} and every other site`,
    );
  }
  return { task: taskAt(sumBps), rateFrom: "caps", rateUntilSeconds, isLineMeasured: true };
}

function plannedSite(
  wish: SiteWish,
  { size, slots }: { readonly size: Size | undefined; readonly slots: Slots },
  settings: Settings,
  knowledge: Knowledge,
): PlannedSite {
  const [given, ...permitted] = capsOf(wish, { size, slots }, knowledge);
  const cap = permitted.reduce((least, one) => (one.bps < least.bps ? one : least), given);
  return {
    wish,
    bytes: size?.bytes,
    sizeFrom: size?.from,
    pages: size?.pages,
    pagesFrom: size?.pagesFrom,
    typicalBytes:
      size?.from === "pages" || size?.pagesFrom === "typical" ? knowledge.usualBytes : undefined,
    slots,
    server: {
      bps: given.bps,
      strayed: knowledge.speeds.get(wish.site)?.scatter,
      permittedBps: Math.min(...permitted.map(({ bps }) => bps)),
    },
    evidence: evidenceOf(wish, { size, slots, serverBps: given.bps }, settings),
    capBps: cap.bps,
    capFrom: cap.bps === Infinity ? undefined : cap.from,
    leftOut: reasonAgainst(size?.bytes, cap.bps, settings.rateMinBps ?? 0),
  };
}

/** What is known of a site, and how slow a server may be that was never measured. */
function evidenceOf(
  { deadlineSeconds = Infinity, concurrency }: SiteWish,
  {
    size,
    slots,
    serverBps,
  }: { readonly size: Size | undefined; readonly slots: Slots; readonly serverBps: number },
  { limitBps, control }: Settings,
): SiteEvidence {
  const windowBytes = limitBps && control === "paced" ? windowFor(limitBps) : undefined;
  const { bytes = 0, pages = 1 } = size ?? {};
  return {
    hasSize: size !== undefined && size.from !== "pages",
    hasServer: serverBps < Infinity,
    serverLeastBps: serverLeastBps({ pageBytes: bytes / pages, windowBytes, concurrency }),
    isTooMany:
      size?.pagesFrom !== "typical" && slots.by === "delay" && slots.seconds > deadlineSeconds,
  };
}

function reasonAgainst(
  bytes: number | undefined,
  mostBps: number,
  leastBps: number,
): string | undefined {
  if (bytes === undefined)
    return "its size is unknown; set its `size` or `pages`, or crawl it once into the same folder";
  if (mostBps < leastBps)
    return `it can use ${showBytes(mostBps)}/s at most, less than minRate of ${showBytes(leastBps)}/s; lower minRate`;
  return undefined;
}

interface Size {
  readonly bytes: number;
  readonly from: SizeSource;
  readonly pages: number;
  readonly pagesFrom: PagesSource;
}

function sizeOf(
  { site, sizeBytes, pagesExpected }: SiteWish,
  { fresh, refresh }: Settings,
  { earlier, usualBytes }: Knowledge,
): Size | undefined {
  const before = sizeBefore(earlier.get(site), usualBytes, { fresh, goesOn: !fresh && !refresh });
  const bytes = sizeBytes ?? before?.bytes ?? (pagesExpected ?? 0) * usualBytes;
  if (bytes === 0) return undefined;
  const from = sizeBytes === undefined ? (before?.from ?? "pages") : "size";
  if (pagesExpected !== undefined) return { bytes, from, pages: pagesExpected, pagesFrom: "pages" };
  if (before !== undefined) return { bytes, from, pages: before.pages, pagesFrom: before.from };
  return { bytes, from, pages: Math.ceil(bytes / usualBytes), pagesFrom: "typical" };
}

/** The rest of the crawl in the folder, or the size of a complete crawl there. */
function sizeBefore(
  before: Earlier | undefined,
  usualBytes: number,
  { fresh, goesOn }: { readonly fresh: boolean; readonly goesOn: boolean },
):
  | { readonly bytes: number; readonly pages: number; readonly from: "left" | "earlier" }
  | undefined {
  if (before === undefined || before.settled + before.pending === 0) return undefined;
  const { pending, settled, bytes: lastBytes, bytesPerCrawlBefore } = before;
  // A recrawl may receive little, because pages are unchanged; a crawl from the start receives all
  // again.
  const receivedBytes = fresh ? Math.max(lastBytes, bytesPerCrawlBefore) : lastBytes;
  const facts = { pending, settled, receivedBytes, usualBytes, newPerSettled: 0 };
  const bytes = bytesLeft({ ...facts, expectedBytes: undefined, expectedPages: undefined });
  if (pending > 0 && goesOn) return { bytes, pages: pending, from: "left" };
  return { bytes: Math.max(1, receivedBytes + bytes), pages: settled + pending, from: "earlier" };
}

function politenessOf(
  { site, delayMs: configuredMs, deadlineSeconds }: SiteWish,
  pages: number,
  settings: Settings,
  { earlier, speeds }: Knowledge,
): Parameters<typeof slotsOf>[0][number] {
  const { robots } = earlier.get(site) ?? {};
  // One name usually has one IP address; names are not resolved for a plan.
  const address = speeds.get(site)?.address ?? hostOfSite(site).replace(/^\[|\]$/g, "");
  const { delayMs, addressDelayMs } = delaysInAdvance(address, configuredMs, robots, settings);
  return {
    requests: pages === 0 ? 0 : pages + errandsBefore(settings),
    delaySeconds: delayMs / 1000,
    address,
    addressDelaySeconds: addressDelayMs / 1000,
    deadlineSeconds,
  };
}

/** The rate of the server, and those of the site's limit and delays. */
function capsOf(
  { site, capBps: givenBps, limitBps, concurrency, efficiency }: SiteWish,
  { size, slots }: { readonly size: Size | undefined; readonly slots: Slots },
  { speeds }: Knowledge,
): readonly [Cap, ...Cap[]] {
  const downloadBps = speeds.get(site)?.downloadBps;
  return [
    givenBps === undefined
      ? { from: "speeds", bps: capBps({ concurrency, downloadBps, saidBps: undefined }) }
      : { from: "cap", bps: givenBps },
    { from: "limit", bps: limitBps ?? Infinity },
    {
      from: slots.by,
      bps: size === undefined ? Infinity : slotsCapBps(size.bytes * efficiency, slots),
    },
  ];
}
