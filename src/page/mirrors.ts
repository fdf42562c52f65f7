/**
 * Finds sites that are mostly copies of each other: the same pages under another name.
 *
 * The site fetched first has the originals of two sites with the same content, page by page; so
 * copies count in both directions, relative to the pages of the smaller site. Pure; one number for each
 * pair of sites with common pages.
 */

export interface Copy {
  readonly siteId: number;
  /** The site of the page that had the same content first. */
  readonly ofSiteId: number;
}

interface Mirror {
  readonly siteId: number;
  /** The larger of the two sites. */
  readonly ofSiteId: number;
  readonly pagesShared: number;
  /** Share of the pages of the smaller site. */
  readonly share: number;
}

/** With fewer common pages a likeness is chance: every site has an empty page. */
const PAGES_SHARED_MIN = 10;
const SHARE_MIN = 0.5;
const PAIRS_MAX = 1_000_000;

/** Mirrors, the largest share first. */
export function mirrorsAmong(
  copies: Iterable<Copy>,
  pagesOf: (siteId: number) => number,
): Mirror[] {
  const pairs = new Map<string, number>();
  for (const { siteId, ofSiteId } of copies) {
    if (siteId === ofSiteId) continue;
    const key = `${Math.min(siteId, ofSiteId)} ${Math.max(siteId, ofSiteId)}`;
    if (pairs.size < PAIRS_MAX || pairs.has(key)) pairs.set(key, (pairs.get(key) ?? 0) + 1);
  }
  const mirrors: Mirror[] = [];
  for (const [key, pagesShared] of pairs) {
    if (pagesShared < PAGES_SHARED_MIN) continue;
    const [first = 0, second = 0] = key.split(" ").map(Number);
    const isFirstSmaller = pagesOf(first) < pagesOf(second);
    const [siteId, ofSiteId] = isFirstSmaller ? [first, second] : [second, first];
    const share = Math.min(1, pagesShared / Math.max(1, pagesOf(siteId)));
    if (share >= SHARE_MIN) mirrors.push({ siteId, ofSiteId, pagesShared, share });
  }
  return mirrors.sort((a, b) => b.share - a.share || b.pagesShared - a.pagesShared);
}
