/**
 * Outages of a simulated web from a seed: of single sites, of the own link and of the name server, each of
 * 1 s to 2 h, and URLs that always answer 503, 429 or 500 while their site is up. Half of the sites allow only so
 * many requests in a window of 1 to 60 s, and answer 429 beyond, some with Retry-After.
 *
 * Such a URL is one of the world's pages that are gone: it has no answer but an error in any case. Every
 * outage ends, so a patient crawler stores every page.
 */

import { below, pick, type Random } from "../base/random.ts";
import { type Conduct, errorAnswer } from "./faults.ts";
import { groundTruth } from "./ground-truth.ts";
import type { World } from "./world/plan.ts";

/** What fails: a site by its origin, all sites, or all lookups. */
type Part = string | typeof LINK | typeof NAMES;

interface Outage {
  readonly part: Part;
  readonly fromMs: number;
  readonly toMs: number;
  readonly kind: "refuse" | "silence" | "mute" | "overload";
}

/** Requests that a site accepts in a window. */
interface RateLimit {
  readonly count: number;
  readonly windowMs: number;
  readonly saysWhen: boolean;
  window: number;
  used: number;
}

const LINK = "own link";
const NAMES = "name server";
const LASTS_MS_MIN = 1_000;
const LASTS_MS_MAX = 2 * 3_600_000;
/** Early ones begin with the crawl or in its first seconds, late ones while it waits for others. */
const EARLY_MS = 30_000;
const LATE_MS = 3_600_000;
const PER_SITE_MAX = 2;
/** Of an accepted rate, in requests per second. */
const PER_SECOND_MIN = 0.3;
const PER_SECOND_MAX = 5;
const WINDOW_MS_MAX = 60_000;

export class Outages {
  readonly #outages: readonly Outage[];
  readonly #failing = new Map<string, number>();
  readonly #limits = new Map<string, RateLimit>();

  /** Times count from the start of the crawl. */
  constructor(random: Random, world: World, lastsMsMax = LASTS_MS_MAX) {
    const sites = new Set<string>();
    for (const { url, fate, site } of groundTruth(world)) {
      sites.add(site.origin);
      if (fate === "error") this.#failing.set(url, pick(random, [503, 503, 429, 500]));
    }
    const outages: Outage[] = [];
    for (const site of sites)
      for (let count = below(random, PER_SITE_MAX + 1); count > 0; count--)
        outages.push(drawn(random, site, lastsMsMax));
    for (const site of sites) if (random.next() < 0.5) this.#limits.set(site, limitDrawn(random));
    for (const part of [LINK, NAMES])
      if (random.next() < 0.5) outages.push(drawn(random, part, lastsMsMax));
    this.#outages = outages;
  }

  /** URLs that always fail. */
  get failingUrls(): ReadonlyMap<string, number> {
    return this.#failing;
  }

  areNamesDown(atMs: number): boolean {
    return this.#at(atMs).some(({ part }) => part === NAMES || part === LINK);
  }

  /** How the site treats a request now, from how it does without outages. */
  conductOf(good: Conduct, site: string, path: string, atMs: number): Conduct {
    const outage = this.#at(atMs).find(({ part }) => part === site || part === LINK);
    const status = this.#failing.get(site + path);
    const { answer } = good;
    switch (outage?.kind) {
      case "refuse":
      case "silence":
        return { ...good, connect: outage.kind };
      case "mute":
        return { ...good, answer: undefined };
      case "overload":
        return { ...good, answer: errorAnswer(503, "Service Unavailable", undefined) };
      default:
        if (answer !== undefined && this.#isRefused(site, atMs)) {
          const limit = this.#limits.get(site);
          const retryAfterS = limit?.saysWhen === true ? leftSeconds(limit, atMs) : undefined;
          return { ...good, answer: errorAnswer(429, "Too Many Requests", retryAfterS) };
        }
        return status === undefined || answer === undefined
          ? good
          : { ...good, answer: errorAnswer(status, "Error", undefined) };
    }
  }

  /** Counts a request against the limit of its site; refused ones count too. */
  #isRefused(site: string, atMs: number): boolean {
    const limit = this.#limits.get(site);
    if (limit === undefined) return false;
    const window = Math.floor(atMs / limit.windowMs);
    if (window !== limit.window) limit.used = 0;
    limit.window = window;
    limit.used += 1;
    return limit.used > limit.count;
  }

  #at(atMs: number): readonly Outage[] {
    return this.#outages.filter(({ fromMs, toMs }) => fromMs <= atMs && atMs < toMs);
  }
}

function limitDrawn(random: Random): RateLimit {
  const windowMs = 1_000 * (WINDOW_MS_MAX / 1_000) ** random.next();
  const perSecond = PER_SECOND_MIN * (PER_SECOND_MAX / PER_SECOND_MIN) ** random.next();
  const count = Math.max(1, Math.round((perSecond * windowMs) / 1000));
  return { count, windowMs, saysWhen: random.next() < 0.3, window: -1, used: 0 };
}

function leftSeconds({ window, windowMs }: RateLimit, atMs: number): number {
  return Math.ceil(((window + 1) * windowMs - atMs) / 1000);
}

/** All lengths between the bounds have the same share on a logarithmic scale. */
function drawn(random: Random, part: Part, lastsMsMax: number): Outage {
  const fromMs = Math.max(0, (random.next() - 0.2) * (random.next() < 0.7 ? EARLY_MS : LATE_MS));
  const lastsMs = LASTS_MS_MIN * (lastsMsMax / LASTS_MS_MIN) ** random.next();
  const kind =
    part === LINK
      ? pick(random, ["refuse", "silence"] as const)
      : pick(random, ["refuse", "silence", "mute", "overload"] as const);
  return { part, fromMs, toMs: fromMs + lastsMs, kind };
}
