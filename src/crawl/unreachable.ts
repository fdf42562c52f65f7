/**
 * The sites that cannot be reached: their URLs stay pending, and each site is probed after pauses that grow with
 * its outage (`restMs` in `frontier/politeness.ts`).
 *
 * Such a site is off the workbench between its probes, so that it takes no place from sites that respond.
 * When a site responds after ten seconds without any response, the fault was not that of the sites: all are probed
 * at once. Each takes about 200 bytes of memory.
 */

import { Heap } from "../base/heap.ts";
import { showDuration } from "../base/units.ts";
import type { UnreachableSites } from "../control/snapshot.ts";
import { restMs } from "../frontier/politeness.ts";
import { whatItSays } from "../frontier/site-mood.ts";
import type { Reason } from "../page/outcome.ts";
import type { CrawlContext } from "./context.ts";
import type { Queue } from "./queue.ts";
import type { Site } from "./site.ts";
import type { Outage } from "./sites.ts";

/** A site that rests for longer leaves the workbench. */
const REST_ASIDE_MS = 10_000;
/** After this time without any response, the next one shows that the sites were not at fault. */
const SILENCE_MS = 10_000;
/** Sites probed in one tick, at most. */
const PROBED_AT_ONCE = 256;
const SITES_NAMED = 10;

export class Unreachable {
  readonly #context: CrawlContext;
  readonly #queue: Queue;
  readonly #due = new Heap<{ readonly key: string; readonly atMs: number }>(
    (a, b) => a.atMs - b.atMs,
  );
  #respondedAtMs: number;
  #cancelTimer: (() => void) | undefined;
  #timerAtMs = Infinity;

  constructor(context: CrawlContext, queue: Queue) {
    this.#context = context;
    this.#queue = queue;
    this.#respondedAtMs = context.clock.nowMs();
  }

  /** The sites with pending URLs; the first are named. */
  sites(): UnreachableSites {
    let count = 0;
    const first: UnreachableSites["first"][number][] = [];
    for (const [key, { reason, detail, sinceMs }] of this.#context.sites.outages) {
      const { pending } = this.#context.sites.of(key);
      if (pending === 0) continue;
      count += 1;
      const seconds = (this.#context.clock.nowMs() - sinceMs) / 1000;
      if (first.length < SITES_NAMED) first.push({ site: key, pending, reason, detail, seconds });
    }
    return { count, first };
  }

  /** A request of the site has ended. */
  ended(site: Site, reason: Reason): void {
    const mood = whatItSays(reason);
    if (mood === "well") return this.#responded(site);
    if (mood === "nothing") return;
    const { clock, politeness } = this.#context;
    const nowMs = clock.nowMs();
    if (politeness.isResting(nowMs, site.id)) site.rested();
    const sinceMs = politeness.unreachableSinceMs(site.id);
    if (sinceMs === undefined) return;
    const outage = this.#note(site, { sinceMs, reason, detail: "" });
    const untilMs = politeness.restUntilMs(site.id);
    // A site that has left the workbench meanwhile comes back only by a probe.
    if (untilMs - nowMs >= REST_ASIDE_MS || !site.awake) this.#layAside(site, outage, untilMs);
    else outage.untilMs = Math.max(outage.untilMs, untilMs);
  }

  /** The name of the site could not be resolved, or its robots.txt not fetched. */
  startFailed(site: Site, reason: Reason, detail: string): void {
    const { clock, politeness, random } = this.#context;
    const nowMs = clock.nowMs();
    const outage = this.#note(site, { sinceMs: nowMs, reason, detail });
    const pauseMs = restMs(nowMs - outage.sinceMs, random.next());
    this.#layAside(site, outage, Math.max(nowMs + pauseMs, politeness.restUntilMs(site.id)));
  }

  stop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#timerAtMs = Infinity;
  }

  #note(
    { id, key }: Site,
    { sinceMs, reason, detail }: Pick<Outage, "sinceMs" | "reason" | "detail">,
  ): Outage {
    const known = this.#context.sites.outages.get(key);
    if (known !== undefined) return Object.assign(known, { reason, detail });
    const outage: Outage = { siteId: id, sinceMs, untilMs: -Infinity, reason, detail };
    this.#context.sites.outages.set(key, outage);
    const message = `${key} cannot be reached (${reason}); its URLs stay pending`;
    this.#context.log.write({ level: "info", message, values: { site: key, reason, detail } });
    return outage;
  }

  #layAside(site: Site, outage: Outage, untilMs: number): void {
    if (site.awake) this.#queue.layAside(site);
    else site.lost();
    outage.untilMs = untilMs;
    this.#due.push({ key: site.key, atMs: untilMs });
    this.#arm();
  }

  #responded(site: Site): void {
    const { clock, log } = this.#context;
    const { key } = site;
    const nowMs = clock.nowMs();
    const silentForMs = nowMs - this.#respondedAtMs;
    this.#respondedAtMs = nowMs;
    site.responded();
    if (this.#context.sites.outages.size === 0) return;
    const outage = this.#context.sites.outages.get(key);
    if (outage !== undefined) {
      this.#context.sites.outages.delete(key);
      const message = `${key} responds again after ${showDuration(nowMs - outage.sinceMs)}`;
      log.write({ level: "info", message, values: { site: key } });
    }
    // A response to a request from before its outage: it needs no probe any more.
    if (outage !== undefined && !site.awake) this.#queue.wake(site);
    if (silentForMs >= SILENCE_MS) this.#probeAll(nowMs);
  }

  #probeAll(nowMs: number): void {
    const { politeness, workbench } = this.#context;
    for (const [key, outage] of this.#context.sites.outages) {
      // A Retry-After is a decision of the site.
      if (whatItSays(outage.reason) === "busy") continue;
      politeness.endRest(outage.siteId);
      workbench.offerAgain(outage.siteId);
      outage.untilMs = nowMs;
      this.#due.push({ key, atMs: nowMs });
    }
    this.#arm();
  }

  #arm(): void {
    const { clock } = this.#context;
    const atMs = this.#due.peek()?.atMs ?? Infinity;
    if (atMs === this.#timerAtMs) return;
    this.stop();
    if (atMs === Infinity) return;
    this.#timerAtMs = atMs;
    this.#cancelTimer = clock.after(Math.max(0, Math.ceil(atMs - clock.nowMs())), () => {
      this.#timerAtMs = Infinity;
      this.#probeDue();
    });
  }

  #probeDue(): void {
    const { clock, sites } = this.#context;
    const nowMs = clock.nowMs();
    for (let probed = 0; probed < PROBED_AT_ONCE; probed++) {
      const due = this.#due.peek();
      if (due === undefined || due.atMs > nowMs) break;
      this.#due.pop();
      if (this.#context.sites.outages.get(due.key)?.untilMs !== due.atMs) continue;
      const site = sites.of(due.key);
      if (site.pending > 0) this.#queue.wake(site);
      else {
        sites.outages.delete(due.key);
        site.responded();
      }
    }
    this.#arm();
  }
}

/** The reason shown when a crawl ends because its patience is over. */
export function couldNotBeReached(sites: number): string {
  return sites === 1 ? "1 site could not be reached" : `${sites} sites could not be reached`;
}
