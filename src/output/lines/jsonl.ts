/**
 * Writes a page as one line of JSON, for users of the collection without the archive.
 *
 * Foreign text may contain terminal control characters, of which JSON escapes only some, so the rest is
 * escaped here. Any JSON reader restores the exact text.
 */

import {
  brotliDecompressSync,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  zstdDecompressSync,
} from "node:zlib";
import { detectCharset, toUtf8 } from "../../page/charset.ts";
import type { ArchivePlace, PageRecord } from "../../page/page.ts";
import { visibleText } from "../../page/text.ts";
import { httpMessage, readRecord } from "../warc/warc-read.ts";

export interface PageLine {
  readonly url: string;
  readonly depth: number;
  readonly page: PageRecord;
  /** The URL of the page that it duplicates or resembles. */
  readonly likeUrl: string | undefined;
  /** Its visible text, when requested. */
  readonly text: string | undefined;
  /** Its PageRank in this collection, when requested. */
  readonly rank?: number | undefined;
}

const CODINGS_MAX = 3;
const DECODED_BYTES_MAX = 2 ** 26;
const TEXT_CHARACTERS_MAX = 2 ** 22;
const INVISIBLE =
  /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

export function pageLine({ url, depth, page, likeUrl, text, rank }: PageLine): string {
  const { likeness } = page;
  const line = JSON.stringify({
    url,
    status: page.status,
    fetchedAt: new Date(page.fetchedAtMs).toISOString(),
    contentType: page.contentType,
    charset: page.charset,
    title: page.title,
    language: page.language,
    bytes: page.bodyBytes,
    digest: `sha256:${Buffer.from(page.digest).toString("hex")}`,
    depth,
    links: page.links.length / 8,
    remarks: page.remarks,
    likeness: likeness === undefined ? null : { kind: likeness.kind, url: likeUrl ?? null },
    archived: page.archived ?? null,
    rank,
    text,
  });
  return seenJson(line);
}

/** The same JSON, with all terminal control characters and invisible characters escaped. */
export function seenJson(json: string): string {
  return json.replace(INVISIBLE, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/**
 * The visible text of an archived page; undefined when the page is not text, or when its record has no
 * body, like that of a duplicate. Throws `DamagedRecord` when the record is damaged.
 */
export function archivedText(folder: string, place: ArchivePlace): string | undefined {
  const record = readRecord(folder, place);
  if (record.fields.get("warc-type") !== "response") return undefined;
  const { headers, body } = httpMessage(record);
  const header = (wanted: string): string => headers.find(([name]) => name === wanted)?.[1] ?? "";
  const type = header("content-type").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const isHtml = type === "" || type === "text/html" || type === "application/xhtml+xml";
  if (!isHtml && !type.startsWith("text/")) return undefined;
  const decoded = decode(body, header("content-encoding"));
  if (decoded === undefined) return undefined;
  const utf8 = toUtf8(decoded, detectCharset(decoded, header("content-type")).name);
  return isHtml
    ? visibleText(utf8, TEXT_CHARACTERS_MAX)
    : Buffer.from(utf8).toString().slice(0, TEXT_CHARACTERS_MAX);
}

/** Decodes the content codings of a body, the last one first; undefined when that fails. */
function decode(body: Uint8Array, codings: string): Uint8Array | undefined {
  const names = codings.split(",").map((name) => name.trim().toLowerCase());
  const applied = names.filter((name) => name !== "" && name !== "identity").toReversed();
  if (applied.length > CODINGS_MAX) return undefined;
  try {
    return applied.reduce(decodeOnce, body);
  } catch {
    // The crawl tolerates wrongly declared codings; an export does not.
    return undefined;
  }
}

function decodeOnce(body: Uint8Array, coding: string): Uint8Array {
  const options = { maxOutputLength: DECODED_BYTES_MAX };
  if (coding === "gzip" || coding === "x-gzip") return gunzipSync(body, options);
  if (coding === "br") return brotliDecompressSync(body, options);
  if (coding === "zstd") return zstdDecompressSync(body, options);
  if (coding !== "deflate") throw new Error(`no decoder for ${coding}`);
  // Some servers send a raw stream under this name; the first byte identifies a zlib stream.
  return ((body[0] ?? 0) & 15) === 8 ? inflateSync(body, options) : inflateRawSync(body, options);
}
