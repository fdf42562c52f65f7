/** Messages from one crawling process to another: URLs with their history (`url-message.ts`), or a page (`page-message.ts`). */

import { decodePage, encodePage, isPageMessage, type PageMessage } from "./page-message.ts";
import { decodeUrlMessage, encodeUrlMessage, type UrlMessage } from "./url-message.ts";

export type PeerMessage = UrlMessage | PageMessage;

export function encodePeerMessage(message: PeerMessage): Uint8Array {
  return message.kind === "page" ? encodePage(message) : encodeUrlMessage(message);
}

/** undefined for an invalid message. */
export function decodePeerMessage(body: Uint8Array): PeerMessage | undefined {
  return isPageMessage(body) ? decodePage(body) : decodeUrlMessage(body);
}
