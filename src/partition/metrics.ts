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
