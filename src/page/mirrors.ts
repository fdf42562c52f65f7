/**
 * Sites that are mostly copies of each other: the same pages under another name.
 *
 * Of two sites with the same content, whichever was asked first has the originals, page by page; so
 * copies count in both directions, against the pages of the smaller one. Pure; one number for each
 * pair of sites that share anything.
 */

export interface Copy {
  readonly siteId: number;
  /** The site of the page that had the same content first. */
  readonly ofSiteId: number;
}

export interface Mirror {
  readonly siteId: number;
  /** The larger of the two. */
  readonly ofSiteId: number;
  readonly pagesShared: number;
  /** Of the pages of the smaller one. */
  readonly share: number;
}

/** Below these, likeness is chance: every site has an empty page. */
const PAGES_SHARED_MIN = 10;
const SHARE_MIN = 0.5;
const PAIRS_MAX = 1_000_000;

/** The likest first. */
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
