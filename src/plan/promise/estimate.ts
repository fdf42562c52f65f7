/**
 * What a site still has to give, and how fast it can: D and c of the plan, from what a crawl sees.
 *
 * A size that somebody said, or that an earlier round had, is a start; what is found while crawling
 * corrects it. What waits is known to the URL; what has not been found yet is foreseen from how many
 * new URLs the last pages brought: with r new ones for each that is settled, p waiting ones are taken
 * to bring r·p more. Those will bring some in turn, but r falls the more of a site is known.
 */

/** A site as the crawl sees it now. */
export interface SiteFacts {
  /** URLs that wait, and that have ended. */
  readonly pending: number;
  readonly settled: number;
  /** New URLs for each that ended, lately. */
  readonly newPerSettled: number;
  readonly receivedBytes: number;
  /** What it was said, or is foreseen, to bring in all; undefined when nobody knows. */
  readonly expectedBytes: number | undefined;
  /** The configured number of pages; undefined without one. */
  readonly expectedPages: number | undefined;
  /** What a URL of any site brings, on average. */
  readonly usualBytes: number;
}

/** A site that is done or has already shown more than was said of it. */
export interface SeenSite {
  readonly saidBytes: number;
  /** What it has, at least. */
  readonly seenBytes: number;
}

export interface SiteMeans {
  /** B(ip, h, w): what one download gets; undefined for a server never measured. */
  readonly downloadBps: number | undefined;
  readonly concurrency: number;
  /** What its server has just given: it can give at least that. */
  readonly gaveBps?: number;
  /** What somebody said, or limited it to. */
  readonly saidBps: number | undefined;
}

/** Bytes of a page where no size is known: the mean compressed size of an HTML page on the web (decision 025). */
export const TYPICAL_PAGE_BYTES = 30_000;
/** However fast a site grows, this is the most that is foreseen from what waits. */
const NEW_PER_SETTLED_MAX = 2;
/** Before so many have come, what waits tells little of how much that will be. */
const SETTLED_TO_TELL = 10;
/** A server that was measured to give so much of what was said gives what was said: measuring is no better. */
const SAID_SHARE = 0.75;
/** So much more than was said is taken for chance: of one site anything, of two and of more so many times as much. */
const CHANCE_TIMES = [Infinity, Infinity, 1.3, 1.15] as const;
/** How many times what a mean is usually off by it must be off for a size that was said to be wrong. */
const SURE_TIMES = 2;
/** So much less than was said is no chance. */
const CLEARLY_LESS = 0.75;
/** Of the usual size: one imagined URL keeps the first few from telling too much. */
const USUAL_WEIGHT = 3;

/**
 * How many times what was said the other sites are likely to have. Who is wrong of one site is so of the next. Downwards
 * only when every site that is done has clearly less than was said, and then by the least of that: sites that are done
 * first have less than was said more often than the others. A size that is too large would otherwise keep a site waiting
 * whose deadline seems out of reach.
 */
export function timesSaid(seen: readonly SeenSite[]): number {
  const saidBytes = seen.reduce((sum, site) => sum + site.saidBytes, 0);
  const seenBytes = seen.reduce((sum, site) => sum + site.seenBytes, 0);
  const times = seenBytes / Math.max(1, saidBytes);
  const chanceTimes = CHANCE_TIMES[Math.min(seen.length, CHANCE_TIMES.length - 1)] ?? Infinity;
  if (times > chanceTimes) return times;
  const mostTimes = Math.max(...seen.map((site) => site.seenBytes / site.saidBytes));
  return seen.length > 0 && mostTimes < CLEARLY_LESS ? mostTimes : 1;
}

export function bytesLeft(facts: SiteFacts): number {
  const { pending, settled, newPerSettled, receivedBytes, expectedPages } = facts;
  if (pending === 0) return 0;
  const pagesBytes = expectedPages === undefined ? undefined : expectedPages * meanBytesOf(facts);
  const expectedBytes = facts.expectedBytes ?? pagesBytes;
  const waitingBytes = pending * meanBytesOf(facts);
  const foreseenBytes = waitingBytes * (1 + Math.min(NEW_PER_SETTLED_MAX, newPerSettled));
  if (expectedBytes === undefined) return foreseenBytes;
  // The more of what is known has come, and the less is new in it, the more it tells of the rest.
  const trustShare = settled / (settled + pending) / (1 + newPerSettled);
  const leastBytes = leastWaiting(facts);
  const saidBytes = expectedBytes - receivedBytes;
  if (saidBytes < leastBytes) return leastBytes + trustShare * (foreseenBytes - leastBytes);
  // What may well be right stays as it was said: to follow every guess would change plans for nothing. And while each
  // page brings a new one, what waits tells nothing of how much there is.
  const foundShare = Math.max(0, 1 - newPerSettled) * Math.sqrt(settled / (settled + pending));
  return saidBytes - foundShare * Math.max(0, saidBytes - mostForeseen(facts));
}

/**
 * URLs that are still to be requested: at least those that wait. A configured number of pages is corrected like a
 * size; without one the bytes that are left are taken to come in pages of the mean size.
 */
export function requestsLeft(facts: SiteFacts): number {
  const { pending, settled, expectedBytes, expectedPages } = facts;
  if (expectedPages === undefined && expectedBytes !== undefined)
    return Math.max(pending, bytesLeft(facts) / meanBytesOf(facts));
  const inPages = { receivedBytes: settled, expectedBytes: expectedPages, usualBytes: 1 };
  return Math.max(pending, bytesLeft({ ...facts, ...inPages }));
}

/**
 * What waits brings at least so much. A mean of n pages is off by a part of 1/√n where pages differ as much
 * as they are large, and one that is taken too seriously would refute a size that was said rightly.
 */
export function leastWaiting(facts: SiteFacts): number {
  const { pending, settled } = facts;
  if (settled < SETTLED_TO_TELL) return 1;
  return pending * meanBytesOf(facts) * Math.max(0, 1 - SURE_TIMES / Math.sqrt(settled));
}

/** What waits, and what that may bring with it, come to no more than this. */
function mostForeseen(facts: SiteFacts): number {
  const { pending, settled, newPerSettled } = facts;
  const newMost = Math.min(NEW_PER_SETTLED_MAX, 2 * newPerSettled);
  const meanMost = meanBytesOf(facts) * (1 + 1 / Math.sqrt(Math.max(1, settled)));
  return pending * meanMost * (1 + newMost);
}

export function meanBytesOf({ settled, receivedBytes, usualBytes }: SiteFacts): number {
  return (receivedBytes + USUAL_WEIGHT * usualBytes) / (settled + USUAL_WEIGHT);
}

/** c = B(ip, h, w) × polite parallelism; delays between requests are counted in `slots.ts`. */
export function capBps(means: SiteMeans): number {
  const { downloadBps, concurrency, saidBps, gaveBps = 0 } = means;
  const measuredBps =
    downloadBps === undefined ? Infinity : Math.max(gaveBps, downloadBps * concurrency);
  return saidBps !== undefined && measuredBps >= SAID_SHARE * saidBps ? saidBps : measuredBps;
}
