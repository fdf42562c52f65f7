/** Everything one crawling process sends another: URLs and their history (`wire.ts`), or a whole page (`page-letter.ts`). */

import { decodePage, encodePage, isPageMessage, type PageMessage } from "./page-message.ts";
import { decodeUrlMessage, encodeUrlMessage, type UrlMessage } from "./url-message.ts";

export type PeerMessage = UrlMessage | PageMessage;

export function encodePeerMessage(letter: PeerMessage): Uint8Array {
  return letter.kind === "page" ? encodePage(letter) : encodeUrlMessage(letter);
}

/** undefined for whatever is not a letter that we could have written. */
export function decodePeerMessage(body: Uint8Array): PeerMessage | undefined {
  return isPageMessage(body) ? decodePage(body) : decodeUrlMessage(body);
}
