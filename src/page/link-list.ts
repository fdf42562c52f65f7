/** Lists the links of a page one by one with their words, for programs that want them all. */

import { isRefused, type ResolvedUrl, resolveUrl, writtenOf } from "../url/url.ts";
import { ATTRIBUTE, TAG } from "./html-names.ts";
import { END_OF_ANCHOR, END_OF_PAGE, HtmlScanner } from "./html-scanner.ts";
import { isNofollow, linkAttribute, NO_ATTRIBUTE } from "./link-elements.ts";
import { textOfRuns } from "./text.ts";

export interface ListedLink extends ResolvedUrl {
  /** What stands between `<a>` and `</a>`; empty for other elements. */
  readonly text: string;
  readonly nofollow: boolean;
}

const TEXT_CHARACTERS_MAX = 512;

/**
 * The page must be in UTF-8, its URL as written. Repeated links are listed as often as they stand there, at
 * most `listedMax` in all.
 */
export function listLinks(html: Uint8Array, page: string, listedMax = Infinity): ListedLink[] {
  const scanner = new HtmlScanner({ tellImages: false, tellAnchorEnds: true });
  const found: { target: string; text: string; nofollow: boolean }[] = [];
  let base: string | undefined;
  let open: { readonly place: number; readonly firstRun: number } | undefined;
  const close = (): void => {
    const anchor = open === undefined ? undefined : found[open.place];
    if (anchor !== undefined && open !== undefined) anchor.text = textSince(open.firstRun);
    open = undefined;
  };
  const textSince = (first: number): string =>
    textOfRuns(html, scanner.runs, {
      first,
      behind: scanner.runs.count,
      charactersMax: TEXT_CHARACTERS_MAX,
    });

  scanner.start(html);
  for (let tag = scanner.next(); tag !== END_OF_PAGE; tag = scanner.next()) {
    if (tag === END_OF_ANCHOR || tag === TAG.a) close();
    if (tag === TAG.base) base ??= baseOf(scanner, page);
    if (tag <= TAG.other || found.length >= listedMax) continue;
    const attribute = linkAttribute(scanner, html, tag);
    if (attribute === NO_ATTRIBUTE) continue;
    const target = scanner.value(attribute);
    found.push({ target, text: "", nofollow: isNofollow(scanner, html) });
    if (tag === TAG.a) open = { place: found.length - 1, firstRun: scanner.runs.count };
  }
  close();
  return found.flatMap(({ target, text, nofollow }) => {
    const resolved = resolveUrl(target, base ?? page);
    return isRefused(resolved) ? [] : [{ ...resolved, text, nofollow }];
  });
}

function baseOf(scanner: HtmlScanner, page: string): string | undefined {
  if (!scanner.has(ATTRIBUTE.href)) return undefined;
  const base = resolveUrl(scanner.value(ATTRIBUTE.href), page);
  return isRefused(base) ? undefined : writtenOf(base);
}
