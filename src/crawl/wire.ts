/**
 * Creates the parts of one crawl, each after the parts that it uses, and dispatches their events.
 *
 * `scripts/object-graph.ts` draws the graph of these objects, and fails if it has a cycle: no part is given a
 * function that leads back to a later one. Every way from an earlier part to a later one is a line of `dispatch`.
 */

import type { Controller } from "../bandwidth/controller.ts";
import { Meter } from "../bandwidth/history/meter.ts";
import { assert, unreachable } from "../base/assert.ts";
import { Politeness } from "../frontier/politeness.ts";
import { Sieve } from "../frontier/sieve.ts";
import { Traps } from "../frontier/traps.ts";
import { Workbench } from "../frontier/workbench.ts";
import { Shares } from "../plan/promise/fair-queue.ts";
import { Scope } from "../url/scope.ts";
import { fingerprintOf } from "../url/fingerprint.ts";
import { domainOf } from "../url/site.ts";
import type { CanonicalUrl } from "../url/url.ts";
import { Admission } from "./admit.ts";
import { entriesIn, politenessLimits, SIEVE, SITES, trapLimits } from "./allotments.ts";
import { Batch } from "./batch.ts";
import type { CrawlContext, CrawlEvent, CrawlParts, Emit } from "./context.ts";
import { Counters } from "./counters.ts";
import { checkPromises } from "./deadlines/check-promises.ts";
import { Deadlines } from "./deadlines/deadlines.ts";
import { Estimates } from "./deadlines/estimate-sites.ts";
import { Patience } from "./deadlines/patience.ts";
import { Replanner } from "./deadlines/replan.ts";
import { FetchLoop } from "./fetch-loop.ts";
import { UrlFetch } from "./fetch-url.ts";
import { controllerFor, Limiter } from "./limit/limiter.ts";
import { LinkBudget } from "./limit/link-budget.ts";
import { BacklinkOrder, type Ordering, RankOrder } from "./ordering.ts";
import { Ownership } from "./ownership.ts";
import { PageStorage } from "./page.ts";
import { HandOver } from "./peers/hand-over.ts";
import { PageImport, sentPageOf } from "./peers/import-page.ts";
import { Inbox } from "./peers/inbox.ts";
import { UrlMerge } from "./peers/merge-url.ts";
import { type Exchange, Peer } from "./peers/peer.ts";
import { LinkRouter } from "./peers/route-links.ts";
import { Queue } from "./queue.ts";
import { Recrawls } from "./recrawl/recrawls.ts";
import { type QueuedRequest, Requests } from "./requests.ts";
import { Retries } from "./retries.ts";
import { SiteSetup } from "./site-setup.ts";
import { Sites } from "./sites.ts";
import { TopicCounts } from "./topics/counts.ts";
import { FocusOrder } from "./topics/focus-order.ts";
import { focusFor } from "./topics/setup.ts";
import { Unreachable } from "./unreachable.ts";

/** The parts of a crawl that its life cycle and its snapshots use. */
export interface Wired {
  readonly context: CrawlContext;
  readonly queue: Queue;
  readonly unreachable: Unreachable;
  readonly ordering: Ordering | undefined;
  readonly admission: Admission;
  readonly siteSetup: SiteSetup;
  readonly controller: Controller;
  readonly link: LinkBudget;
  readonly limiter: Limiter;
  readonly deadlines: Deadlines;
  readonly patience: Patience;
  readonly replanner: Replanner;
  readonly fetchLoop: FetchLoop;
  readonly recrawls: Recrawls;
  /** undefined for processes that are independent of each other, or alone. */
  readonly exchange: Exchange | undefined;
  /** undefined for a process that crawls alone. */
  readonly peer: Peer | undefined;
  /** undefined when pages are not classified. */
  readonly topicCounts: TopicCounts | undefined;
}

/** Events that change the state of the whole crawl: `crawl.ts` acts on them. */
export type LifeEvent = Extract<
  CrawlEvent,
  { readonly kind: "pause" | "quotaUsedUp" | "storage" | "idle" | "fault" }
>;

export function wire(
  parts: CrawlParts,
  signal: AbortSignal,
  onLifeEvent: (event: LifeEvent) => void,
): Wired {
  const late: { wired?: Wired } = {};
  const emit: Emit = dispatch.bind(undefined, late, onLifeEvent);
  late.wired = wireParts(contextOf(parts, signal, emit));
  return late.wired;
}

/** Plans a recrawl of all sites before it begins; throws when a deadline cannot be kept and the settings are strict. */
export function checkRecrawl({ context, link }: Wired): void {
  checkPromises({ ...context, speeds: context.line.speeds, limitBps: link.limitBps });
}

/** The data that all parts share. */
export function contextOf(parts: CrawlParts, signal: AbortSignal, emit: Emit): CrawlContext {
  const { settings, store, clock, output, team, seeds } = parts;
  const resumed = store.totals.known > 0;
  const counters = new Counters(store.totals);
  const politeness = new Politeness(politenessLimits(settings), team?.turns);
  const workbench = new Workbench<QueuedRequest>(politeness);
  const requests = new Requests(settings.pagesMax ?? Infinity);
  const traps = new Traps(trapLimits(settings));
  const sieve = new Sieve(entriesIn(settings, SIEVE));
  const sitesMax = entriesIn(settings, SITES);
  const sites = new Sites({ store, traps, politeness, clock, sitesMax, emit });
  const batch = new Batch({ clock, store, output, sites, counters, emit });
  const ownership = team === undefined ? undefined : new Ownership(team);
  const meter = new Meter(clock.nowMs());
  for (const seed of seeds) traps.trust(domainOf(seed));
  const scope = scopeOf(parts);
  return {
    ...parts,
    signal,
    resumed,
    meter,
    counters,
    sites,
    politeness,
    workbench,
    requests,
    batch,
    scope,
    sieve,
    traps,
    ownership,
    emit,
  };
}

function wireParts(context: CrawlContext): Wired {
  const { settings, clock } = context;
  const queue = new Queue(context);
  const unreachable = new Unreachable(context, queue);
  const retries = new Retries(context);
  const ordering = orderingOf(context);
  const admission = new Admission(context, queue, ordering);
  const siteSetup = new SiteSetup(context, { queue, unreachable, retries, admission });
  const pages = new PageStorage(context, admission, ordering);
  const urlFetch = new UrlFetch(context, { admission, pages, retries });
  const controller = controllerFor(settings, clock.nowMs());
  const link = new LinkBudget(context, controller);
  const shares = new Shares();
  const limiter = new Limiter(context, { controller, link, shares });
  const deadlines = new Deadlines(context);
  const patience = new Patience(context, deadlines);
  const estimates = new Estimates(context, deadlines, link);
  const replanner = new Replanner(context, { deadlines, estimates, shares, limiter });
  const fetchLoop = new FetchLoop(context, { queue, limiter, urlFetch, siteSetup });
  const recrawls = new Recrawls(context, queue);
  const exchange = exchangeOf(context, { queue, admission, pages });
  const peer = peerOf(context, { queue, admission, exchange });
  const topicCounts = topicCountsOf(context);
  return {
    context,
    queue,
    unreachable,
    ordering,
    admission,
    siteSetup,
    controller,
    link,
    limiter,
    deadlines,
    patience,
    replanner,
    fetchLoop,
    recrawls,
    exchange,
    peer,
    topicCounts,
  };
}

/** Which part acts on which event, in the tick of the event. */
function dispatch(
  { wired }: { readonly wired?: Wired },
  onLifeEvent: (event: LifeEvent) => void,
  event: CrawlEvent,
): void {
  assert(wired !== undefined, "no part emits an event while it is created");
  const { context, siteSetup, limiter, link, replanner, patience, fetchLoop } = wired;
  switch (event.kind) {
    case "committing":
      return wired.exchange?.router.beforeCommit();
    case "committed":
      afterCommit(wired);
      wired.queue.afterCommit();
      return fetchLoop.pump();
    case "siteFound":
      return wired.recrawls.siteFound(event.site);
    case "siteWoken":
      return siteSetup.prepare(event.site);
    case "shapeWorthless":
      return wired.queue.putLast(event.site);
    case "siteDoubted":
      return siteSetup.check(event.site);
    case "siteGrown":
      return wired.peer?.siteGrown(event.site.key);
    case "siteAsleep":
      return wired.recrawls.siteAsleep(event.site);
    case "urlEnded":
      return onUrlEnded(event, wired);
    case "urlCharged":
      return patience.renew();
    case "mayStart":
      return fetchLoop.pump();
    case "requestEnded":
      return wired.unreachable.ended(event.site, event.reason);
    case "siteDone":
    case "serverTried":
      return replanner.soon();
    case "limitApplied":
      return limiter.apply(event.isHolding, event.hasChanged);
    case "linkRead":
      return limiter.goOn();
    case "exchanged":
      // Processes of one machine do not use the link.
      return context.settings.natsServers.length > 0 ? link.exchanged(event.bytes) : undefined;
    case "foreignUrl":
      return wired.exchange?.router.send(event.candidate, event, event.score);
    case "foreignLink":
      return wired.exchange?.router.countLink(event.url);
    case "foreignPage":
      return wired.exchange?.router.sendPage(
        event.owner,
        event.placement.bucket ?? 0,
        sentPageOf(event),
      );
    case "foreignLinks":
      return wired.exchange?.router.sendLinks(event);
    case "ownMessage":
      return wired.exchange?.merge.takeIn(event.message);
    case "pageClassified":
      return onPageClassified(event, wired);
    case "pause":
    case "quotaUsedUp":
    case "storage":
    case "idle":
    case "fault":
      return onLifeEvent(event);
    default:
      return unreachable(event);
  }
}

/** After a commit: lets parts send or index what is committed now. */
function afterCommit({ context, exchange }: Wired): void {
  const { requests, index, store } = context;
  requests.commit();
  exchange?.router.committed();
  exchange?.inbox.committed();
  index?.committed(store.lastPageSeq);
}

function onUrlEnded(
  { url, reason, detail }: Extract<CrawlEvent, { readonly kind: "urlEnded" }>,
  { context, patience, exchange }: Wired,
): void {
  patience.renew();
  if (reason === "ok") exchange?.router.countPage();
  context.log.write({ level: "debug", message: "settled", values: { url, reason, detail } });
}

function onPageClassified(
  { url, reading, placement, isImported }: Extract<CrawlEvent, { readonly kind: "pageClassified" }>,
  { topicCounts }: Wired,
): void {
  const { high, low } = fingerprintOf(url as CanonicalUrl);
  const { topic } = placement;
  topicCounts?.read({ high, low, topic, isImported, links: reading.links });
}

/** The scope of the seeds, and of the hosts that they redirected to in earlier runs. */
function scopeOf({ settings, seeds, store, team }: CrawlParts): Scope {
  const { scope: kind, include, exclude } = settings;
  const scope = new Scope({ kind, seeds, include, exclude });
  for (const url of store.seedTargets()) scope.extend(url as CanonicalUrl);
  // One process of several may know a host only from links that others found.
  if (team?.border !== undefined)
    for (const { key, known } of store.sites())
      if (known > 0) scope.extend(`${key}/` as CanonicalUrl);
  return scope;
}

/** undefined where scores never change. */
function orderingOf(context: CrawlContext): Ordering | undefined {
  const { settings, hooks, topics } = context;
  if (hooks.score !== undefined) return undefined;
  switch (settings.order) {
    case "breadth":
      return undefined;
    case "backlinks":
      return new BacklinkOrder(context);
    case "pagerank":
      return new RankOrder(context);
    case "topic": {
      const focus = focusFor(settings, topics?.classifier);
      return focus === undefined ? undefined : new FocusOrder(focus);
    }
    default:
      return unreachable(settings.order);
  }
}

function exchangeOf(
  context: CrawlContext,
  { queue, admission, pages }: Pick<Wired, "queue" | "admission"> & { readonly pages: PageStorage },
): Exchange | undefined {
  const { ownership, team } = context;
  const setup = team?.border;
  if (ownership === undefined || setup === undefined) return undefined;
  const router = new LinkRouter(context, ownership, setup);
  const merge = new UrlMerge(context, { ownership, queue, admission, router });
  const pageImport = new PageImport(context, { admission, merge, pages });
  const inbox = new Inbox(context, setup.bus, { merge, pageImport });
  const handOver = new HandOver(context, { ownership, queue, router, merge });
  return { router, inbox, merge, handOver };
}

function peerOf(
  context: CrawlContext,
  { queue, admission, exchange }: Pick<Wired, "queue" | "admission" | "exchange">,
): Peer | undefined {
  const { ownership, team } = context;
  if (ownership === undefined || team === undefined) return undefined;
  const { turns, rules } = team;
  return new Peer(context, { ownership, turns, rules, queue, admission, exchange });
}

function topicCountsOf({ topics, store }: CrawlContext): TopicCounts | undefined {
  if (topics?.classifier === undefined) return undefined;
  return new TopicCounts(topics.modelDigest, store.pageTopics());
}
