/**
 * A page as one line of JSON, for whoever wants the collection and not the archive.
 *
 * Foreign text may hold what a terminal obeys; JSON leaves much of that as it is, so it is escaped
 * here too. Any JSON reader gives the very same text back.
 */

import {
  brotliDecompressSync,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  zstdDecompressSync,
} from "node:zlib";
import { detectCharset, toUtf8 } from "../page/charset.ts";
import type { ArchivePlace, PageRecord } from "../page/page.ts";
import { visibleText } from "../page/text.ts";
import { httpMessage, readRecord } from "./warc-read.ts";

export interface PageLine {
  readonly url: string;
  readonly depth: number;
  readonly page: PageRecord;
  /** The URL of the page it repeats or resembles. */
  readonly likeUrl: string | undefined;
  /** Its visible text, when that was asked for. */
  readonly text: string | undefined;
  /** Its PageRank in this collection, when that was asked for. */
  readonly rank?: number | undefined;
}

const CODINGS_MAX = 3;
const DECODED_BYTES_MAX = 2 ** 26;
const TEXT_CHARACTERS_MAX = 2 ** 22;
const UNSEEN =
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

/** The same JSON, with everything escaped that a terminal might obey. */
export function seenJson(json: string): string {
  return json.replace(UNSEEN, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/**
 * The visible text of an archived page; undefined when its record holds none, as the record of a
 * duplicate does, or when it is no text. Throws `DamagedRecord` when the archive is damaged there.
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

/** Undoes the codings of a body, the last one first; undefined when that cannot be done. */
function decode(body: Uint8Array, codings: string): Uint8Array | undefined {
  const names = codings.split(",").map((name) => name.trim().toLowerCase());
  const applied = names.filter((name) => name !== "" && name !== "identity").toReversed();
  if (applied.length > CODINGS_MAX) return undefined;
  try {
    return applied.reduce(decodeOnce, body);
  } catch {
    // The crawl was lenient with a coding that is not what it says; an export need not be.
    return undefined;
  }
}

function decodeOnce(body: Uint8Array, coding: string): Uint8Array {
  const options = { maxOutputLength: DECODED_BYTES_MAX };
  if (coding === "gzip" || coding === "x-gzip") return gunzipSync(body, options);
  if (coding === "br") return brotliDecompressSync(body, options);
  if (coding === "zstd") return zstdDecompressSync(body, options);
  if (coding !== "deflate") throw new Error(`no decoder for ${coding}`);
  // Some servers send the bare stream under this name; the first byte of a zlib stream tells.
  return ((body[0] ?? 0) & 15) === 8 ? inflateSync(body, options) : inflateRawSync(body, options);
}
