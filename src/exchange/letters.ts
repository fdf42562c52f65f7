/** Everything one crawling process sends another: URLs and their history (`wire.ts`), or a whole page (`page-letter.ts`). */

import { decodePage, encodePage, isPageLetter, type PageLetter } from "./page-letter.ts";
import { decodeLetter, encodeLetter, type Letter } from "./wire.ts";

export type AnyLetter = Letter | PageLetter;

export function encodeAny(letter: AnyLetter): Uint8Array {
  return letter.kind === "page" ? encodePage(letter) : encodeLetter(letter);
}

/** undefined for whatever is not a letter that we could have written. */
export function decodeAny(body: Uint8Array): AnyLetter | undefined {
  return isPageLetter(body) ? decodePage(body) : decodeLetter(body);
}
