/**
 * Detects the encoding of a page and converts its bytes to UTF-8, the only encoding that the rest of the crawler
 * reads.
 *
 * The order is that of the HTML standard (13.2.3.2): byte order mark, Content-Type, a meta tag
 * within the first 1,024 bytes. Without a declaration, valid UTF-8 is UTF-8 (text with a few accents in another
 * encoding is practically never valid UTF-8), and all other bytes are windows-1252.
 * Labels are those of the Encoding standard; unknown labels and those it only refuses are ignored.
 * Nothing throws: undecodable bytes become U+FFFD. Pages in UTF-8 or ASCII are not copied.
 */

import { isAscii, isUtf8 } from "node:buffer";
import { prescan, PRESCAN_BYTES } from "./charset-prescan.ts";

type CharsetSource = "bom" | "header" | "meta" | "bytes" | "default";

interface Charset {
  /** The encoding's name in the Encoding standard, in lower case. */
  readonly name: string;
  readonly source: CharsetSource;
}

const LABEL_LENGTH_MAX = 64;
const LABELS_CACHED_MAX = 256;
const encodingByLabel = new Map<string, string | undefined>();

export function detectCharset(body: Uint8Array, contentType: string | undefined): Charset {
  const marked = byteOrderMark(body);
  if (marked !== undefined) return { name: marked, source: "bom" };
  const declared = encodingNamed(charsetParameter(contentType ?? ""));
  if (declared !== undefined) return { name: declared, source: "header" };
  const meta = prescan(body.subarray(0, PRESCAN_BYTES), encodingNamed);
  if (meta !== undefined) return { name: meta, source: "meta" };
  if (isUtf8(body)) return { name: "utf-8", source: "bytes" };
  return { name: "windows-1252", source: "default" };
}

/** The text in UTF-8; the same array if it is UTF-8 already. */
export function toUtf8(body: Uint8Array, charset: string): Uint8Array {
  if (charset === "utf-8") return body;
  const isStateful = charset.startsWith("utf-16") || charset === "iso-2022-jp";
  if (!isStateful && isAscii(body)) return body;
  return Buffer.from(new TextDecoder(charset).decode(body));
}

/** The encoding with this label, if it can be decoded. */
export function encodingNamed(label: string): string | undefined {
  if (label === "" || label.length > LABEL_LENGTH_MAX) return undefined;
  if (encodingByLabel.has(label)) return encodingByLabel.get(label);
  const encoding = lookUp(label);
  if (encodingByLabel.size >= LABELS_CACHED_MAX) encodingByLabel.clear();
  encodingByLabel.set(label, encoding);
  return encoding;
}

function lookUp(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}

function byteOrderMark(body: Uint8Array): string | undefined {
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return "utf-8";
  if (body[0] === 0xfe && body[1] === 0xff) return "utf-16be";
  return body[0] === 0xff && body[1] === 0xfe ? "utf-16le" : undefined;
}

/** The charset parameter of a media type, quoted or not; the first one counts. */
function charsetParameter(contentType: string): string {
  const match = /;[\t\n\r ]*charset=(?:"([^"]*)"|([^;]*))/i.exec(contentType);
  return (match?.[1] ?? match?.[2] ?? "").trim();
}
