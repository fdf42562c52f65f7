/**
 * Defines which attributes of which elements are links to pages.
 *
 *   a, area       href
 *   frame, iframe src
 *   link          href, if rel has next, prev or alternate: pages that belong to this one. Style
 *                 sheets, icons and feeds are not pages; rel=canonical is reported separately, as a hint.
 *   img, image    src and srcset, if images are requested; source srcset.
 */

import { ATTRIBUTE, IS_SPACE, TAG } from "./html-names.ts";
import type { HtmlScanner } from "./html-scanner.ts";
import { isName } from "./name-table.ts";

export const NO_ATTRIBUTE = -1;

const NOFOLLOW = Buffer.from("nofollow");
const RELATED = ["next", "prev", "alternate"].map((word) => Buffer.from(word));
const CANONICAL = Buffer.from("canonical");
const STYLESHEET = Buffer.from("stylesheet");
const PAGE_TYPES = new Set(["", "text/html", "application/xhtml+xml"]);
const AMPERSAND = 0x26;

/** The attribute of the scanner's last tag that has a link, or `NO_ATTRIBUTE`. */
export function linkAttribute(scanner: HtmlScanner, html: Uint8Array, tag: number): number {
  switch (tag) {
    case TAG.a:
    case TAG.area:
      return ifPresent(scanner, ATTRIBUTE.href);
    case TAG.frame:
    case TAG.iframe:
    case TAG.img:
    case TAG.image:
      return ifPresent(scanner, ATTRIBUTE.src);
    case TAG.link:
      return isRelatedPage(scanner, html) ? ifPresent(scanner, ATTRIBUTE.href) : NO_ATTRIBUTE;
    default:
      return NO_ATTRIBUTE;
  }
}

export function isNofollow(scanner: HtmlScanner, html: Uint8Array): boolean {
  return scanner.has(ATTRIBUTE.rel) && relHas(scanner, html, NOFOLLOW);
}

export function isCanonicalHint(scanner: HtmlScanner, html: Uint8Array): boolean {
  return relHas(scanner, html, CANONICAL);
}

function ifPresent(scanner: HtmlScanner, attribute: number): number {
  return scanner.has(attribute) ? attribute : NO_ATTRIBUTE;
}

function isRelatedPage(scanner: HtmlScanner, html: Uint8Array): boolean {
  if (!scanner.has(ATTRIBUTE.rel) || !namesRelatedPage(scanner, html)) return false;
  if (relHas(scanner, html, STYLESHEET)) return false;
  return PAGE_TYPES.has(scanner.value(ATTRIBUTE.type).trim().toLowerCase());
}

function namesRelatedPage(scanner: HtmlScanner, html: Uint8Array): boolean {
  for (const word of RELATED) if (relHas(scanner, html, word)) return true;
  return false;
}

/** True if rel has this word, in any case. */
function relHas(scanner: HtmlScanner, html: Uint8Array, word: Buffer): boolean {
  if (!scanner.has(ATTRIBUTE.rel)) return false;
  const end = scanner.valueEnd(ATTRIBUTE.rel);
  let at = scanner.valueStart(ATTRIBUTE.rel);
  while (at < end) {
    while (at < end && IS_SPACE[html[at] as number] === 1) at += 1;
    const start = at;
    while (at < end && IS_SPACE[html[at] as number] === 0) {
      if (html[at] === AMPERSAND) return decodedRelHas(scanner, word);
      at += 1;
    }
    if (isName(html, start, at, word)) return true;
  }
  return false;
}

function decodedRelHas(scanner: HtmlScanner, word: Buffer): boolean {
  const words = scanner
    .value(ATTRIBUTE.rel)
    .toLowerCase()
    .split(/[\t\n\f\r ]+/);
  return words.includes(word.toString());
}
