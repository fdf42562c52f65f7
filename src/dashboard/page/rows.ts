/** The visible rows of a long list, and the pages with them; needs no document. */

interface Pane {
  readonly scrollTop: number;
  readonly heightPixels: number;
  readonly rowPixels: number;
  readonly rowCount: number;
}

/** Rows beyond each edge, so that they are drawn before they scroll into view. */
const BEYOND = 8;

/** From the first visible row up to, and without, the one after the last. */
export function rowsInSight(pane: Pane): { readonly from: number; readonly until: number } {
  const { scrollTop, heightPixels, rowPixels, rowCount } = pane;
  const first = Math.floor(Math.max(0, scrollTop) / rowPixels);
  const behind = Math.ceil((Math.max(0, scrollTop) + heightPixels) / rowPixels);
  const until = Math.min(rowCount, behind + BEYOND);
  return { from: Math.max(0, Math.min(first - BEYOND, until)), until };
}

/** The numbers of the pages that these rows are on. */
export function pagesOf(from: number, until: number, rowsPerPage: number): number[] {
  if (until <= from) return [];
  const first = Math.floor(from / rowsPerPage);
  const last = Math.floor((until - 1) / rowsPerPage);
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
