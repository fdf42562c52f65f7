/**
 * Estimates a site's remaining bytes and its highest rate: D and c of the plan, from the crawl's
 * facts.
 *
 * A given size, or that of an earlier recrawl, is a start; the URLs found while crawling correct
 * it. Waiting URLs are known; unknown ones are estimated from the number of new URLs on the last
 * pages: with r new ones per settled URL, p waiting ones are expected to add r·p more. Those will
 * add some in turn, but r falls as more of a site is known.
 */

/** The crawl's facts about a site. */
export interface SiteFacts {
  /** URLs that wait, and URLs that have ended. */
  readonly pending: number;
  readonly settled: number;
  /** Recent number of new URLs per ended URL. */
  readonly newPerSettled: number;
  readonly receivedBytes: number;
  /** The given or estimated bytes of the whole site; undefined if unknown. */
  readonly expectedBytes: number | undefined;
  /** The configured number of pages; undefined without one. */
  readonly expectedPages: number | undefined;
  /** Mean bytes of a URL, over all sites. */
  readonly usualBytes: number;
}

/** A site that is done or is already larger than its given size. */
export interface SeenSite {
  readonly saidBytes: number;
  /** Its least size. */
  readonly seenBytes: number;
}

interface SiteMeans {
  /** B(ip, h, w): the rate of one download; undefined for a server that was never measured. */
  readonly downloadBps: number | undefined;
  readonly concurrency: number;
  /** The rate that its server has just reached. */
  readonly gaveBps?: number;
  /** Its given cap or limit. */
  readonly saidBps: number | undefined;
}

/** Bytes of a page where no size is known: the mean compressed size of an HTML page on the web (decision 025). */
export const TYPICAL_PAGE_BYTES = 30_000;
/** Upper bound of the new URLs per settled URL that an estimate uses. */
const NEW_PER_SETTLED_MAX = 2;
/** Settled URLs below which waiting URLs say little about the size. */
const SETTLED_TO_TELL = 10;
/** A measured rate of at least this share of the given one confirms it: measuring is no better. */
const SAID_SHARE = 0.75;
/**
 * Factor up to which more bytes than given are taken for chance: any for one site, then by the
 * number of sites.
 */
const CHANCE_TIMES = [Infinity, Infinity, 1.3, 1.15] as const;
/** Errors of the mean by which a given size must be off to count as wrong. */
const SURE_TIMES = 2;
/** Share of the given size below which a smaller size is no chance. */
const CLEARLY_LESS = 0.75;
/** Weight of the mean size, in URLs, so that a site's first few URLs do not decide alone. */
const USUAL_WEIGHT = 3;

/**
 * The expected ratio of actual to given size of the other sites: an operator who is wrong about one
 * site is usually wrong about the next. It is below 1 only when every finished site has clearly
 * less than given, and then is the least of these ratios: sites that finish first have less than
 * given more often than the others. A size that is too large would otherwise keep a site waiting
 * whose deadline seems impossible.
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
  // The larger the known part of a site and the fewer new URLs in it, the more reliable the
  // estimate.
  const trustShare = settled / (settled + pending) / (1 + newPerSettled);
  const leastBytes = leastWaiting(facts);
  const saidBytes = expectedBytes - receivedBytes;
  if (saidBytes < leastBytes) return leastBytes + trustShare * (foreseenBytes - leastBytes);
  // A plausible given size is kept: following every guess would change plans for nothing. And while
  // each page adds a new URL, the waiting ones say nothing about the size.
  const foundShare = Math.max(0, 1 - newPerSettled) * Math.sqrt(settled / (settled + pending));
  return saidBytes - foundShare * Math.max(0, saidBytes - mostForeseen(facts));
}

/**
 * URLs still to be requested: at least the waiting ones. A configured number of pages is corrected
 * like a size; without one the remaining bytes are divided by the mean size of a page.
 */
export function requestsLeft(facts: SiteFacts): number {
  const { pending, settled, expectedBytes, expectedPages } = facts;
  if (expectedPages === undefined && expectedBytes !== undefined)
    return Math.max(pending, bytesLeft(facts) / meanBytesOf(facts));
  const inPages = { receivedBytes: settled, expectedBytes: expectedPages, usualBytes: 1 };
  return Math.max(pending, bytesLeft({ ...facts, ...inPages }));
}

/**
 * Least bytes of the waiting URLs. The relative error of a mean of n pages is 1/√n where the sizes
 * vary as much as their mean; a mean that is taken too seriously would refute a correct size.
 */
export function leastWaiting(facts: SiteFacts): number {
  const { pending, settled } = facts;
  if (settled < SETTLED_TO_TELL) return 1;
  return pending * meanBytesOf(facts) * Math.max(0, 1 - SURE_TIMES / Math.sqrt(settled));
}

/** Most bytes of the waiting URLs and those that they may add. */
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
