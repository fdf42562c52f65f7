/**
 * Writes the link graph as lines `from<TAB>to` of URLs, page by page in constant memory; with both ranks
 * when they are known.
 *
 * Pages store fingerprints of their links; the caller maps them to URLs. Links to URLs that were never
 * admitted are left out.
 */

export interface LinkingPage {
  readonly url: string;
  /** Fingerprints of 8 bytes each, big-endian. */
  readonly links: Uint8Array;
  readonly rank?: number | undefined;
}

interface LinkedUrl {
  readonly url: string;
  readonly rank?: number | undefined;
}

/** Returns the URL with this fingerprint (two unsigned halves), if known. */
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

/** Escapes tabs and line ends; a canonical URL has none, so this only protects the file format. */
function cell(url: string): string {
  return url.replace(/[\t\r\n]/g, (blank) => `%0${blank.charCodeAt(0).toString(16)}`);
}
