/**
 * The link graph as lines `from<TAB>to`, both URLs, page after page in constant memory; with the rank
 * of each behind them where ranks are known.
 *
 * Pages keep fingerprints of what they link to; the caller knows the URL of each. Links to what was
 * never admitted have none, and are left out.
 */

export interface LinkingPage {
  readonly url: string;
  /** 8 bytes each, big-endian. */
  readonly links: Uint8Array;
  readonly rank?: number | undefined;
}

export interface LinkedUrl {
  readonly url: string;
  readonly rank?: number | undefined;
}

/** The URL with this fingerprint, in two unsigned halves, if it is known. */
export type UrlOf = (high: number, low: number) => LinkedUrl | undefined;

const RANK_DIGITS = 6;

export function* edgeLines(pages: Iterable<LinkingPage>, urlOf: UrlOf): Generator<string> {
  for (const { url, links, rank } of pages) {
    const from = cell(url);
    const view = new DataView(links.buffer, links.byteOffset, links.byteLength);
    for (let at = 0; at + 8 <= links.byteLength; at += 8) {
      const to = urlOf(view.getUint32(at), view.getUint32(at + 4));
      if (to === undefined) continue;
      const ranks = rank === undefined ? "" : `\t${shown(rank)}\t${shown(to.rank ?? 0)}`;
      yield `${from}\t${cell(to.url)}${ranks}`;
    }
  }
}

function shown(rank: number): string {
  return rank.toPrecision(RANK_DIGITS);
}

/** A canonical URL holds no blank; the file stays whole even if one should. */
function cell(url: string): string {
  return url.replace(/[\t\r\n]/g, (blank) => `%0${blank.charCodeAt(0).toString(16)}`);
}
