/** The four figures by which Cho and Garcia-Molina (2002) judge a parallel crawler. */

/** (N − I) / I: pages downloaded in vain, per different page. */
export function overlap(pagesDownloaded: number, pagesDifferent: number): number {
  return pagesDifferent === 0 ? 0 : (pagesDownloaded - pagesDifferent) / pagesDifferent;
}

/** I / U: the share of what a crawl should have got that it has got. */
export function coverage(pagesDifferent: number, pagesToGet: number): number {
  return pagesToGet === 0 ? 0 : pagesDifferent / pagesToGet;
}

/** |P ∩ A| / |P|: the share of the best N pages that is among the N actually downloaded. */
export function quality<T>(best: ReadonlySet<T>, actual: ReadonlySet<T>): number {
  return best.size === 0 ? 0 : best.intersection(actual).size / best.size;
}

/** URLs sent to other processes, per page downloaded. */
export function communicationOverhead(urlsSent: number, pagesDownloaded: number): number {
  return pagesDownloaded === 0 ? 0 : urlsSent / pagesDownloaded;
}

/**
 * The quality where pages are numbers: of the `count` with the highest worth, the share that was got. Of
 * pages with the worth of the last place as many are taken for best as there is room for, whichever they
 * are: the share got of all of them counts.
 */
export function qualityOfBest(
  worth: Float64Array,
  count: number,
  isGot: (page: number) => boolean,
): number {
  const places = Math.min(count, worth.length);
  if (places === 0) return 0;
  const least = worth.toSorted()[worth.length - places] as number;
  let [above, aboveGot, equal, equalGot] = [0, 0, 0, 0];
  for (const [page, value] of worth.entries()) {
    const got = value >= least && isGot(page) ? 1 : 0;
    if (value > least) [above, aboveGot] = [above + 1, aboveGot + got];
    else if (value === least) [equal, equalGot] = [equal + 1, equalGot + got];
  }
  return (aboveGot + ((places - above) * equalGot) / equal) / places;
}
