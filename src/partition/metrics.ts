/** The four measures of a parallel crawler by Cho and Garcia-Molina (2002). */

/** (N − I) / I: duplicate downloads per distinct page. */
export function overlap(pagesDownloaded: number, pagesDifferent: number): number {
  return pagesDifferent === 0 ? 0 : (pagesDownloaded - pagesDifferent) / pagesDifferent;
}

/** I / U: the share of the pages to download that was downloaded. */
export function coverage(pagesDifferent: number, pagesToGet: number): number {
  return pagesToGet === 0 ? 0 : pagesDifferent / pagesToGet;
}

/** |P ∩ A| / |P|: the share of the best N pages that is among the N downloaded ones. */
export function quality<T>(best: ReadonlySet<T>, actual: ReadonlySet<T>): number {
  return best.size === 0 ? 0 : best.intersection(actual).size / best.size;
}

/** URLs sent to other processes, per page downloaded. */
export function communicationOverhead(urlsSent: number, pagesDownloaded: number): number {
  return pagesDownloaded === 0 ? 0 : urlsSent / pagesDownloaded;
}

/**
 * The quality where pages are numbers: the downloaded share of the `count` pages with the highest worth. If several
 * pages share the worth of the last place, the downloaded share of all of them counts for the places left.
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
