/** Packs pages into few objects for the indexing thread, since the cost of a message grows with its objects. */

import type { IndexedPage } from "./index-writer.ts";

export interface PageParcel {
  /** All fields of a page except its text and digest: `FIELDS` values for each page. */
  readonly values: readonly (string | number)[];
  /** All texts and then all digests, one after the other. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The end of each text. */
  readonly ends: Uint32Array<ArrayBuffer>;
}

const FIELDS = 9;
const DIGEST_BYTES = 32;

export function packPages(pages: readonly IndexedPage[]): PageParcel {
  const texts = pages.map(({ text }) => (typeof text === "string" ? Buffer.from(text) : text));
  const textBytes = texts.reduce((sum, { length }) => sum + length, 0);
  const bytes = new Uint8Array(textBytes + DIGEST_BYTES * pages.length);
  const ends = new Uint32Array(pages.length);
  const values: (string | number)[] = [];
  let end = 0;
  for (const [index, { archived, digest, ...page }] of pages.entries()) {
    const text = texts[index] ?? new Uint8Array(0);
    bytes.set(text, end);
    ends[index] = end += text.length;
    bytes.set(digest, textBytes + DIGEST_BYTES * index);
    const { id, url, title, language, topic, fetchedAtMs } = page;
    values.push(id, url, title, language, topic, fetchedAtMs);
    values.push(archived?.file ?? "", archived?.offset ?? 0, archived?.length ?? 0);
  }
  return { values, bytes, ends };
}

export function* unpackPages({ values, bytes, ends }: PageParcel): Generator<IndexedPage> {
  const textBytes = bytes.length - DIGEST_BYTES * ends.length;
  let start = 0;
  for (const [index, end] of ends.entries()) {
    const at = FIELDS * index;
    const file = String(values[at + 6]);
    const digestAt = textBytes + DIGEST_BYTES * index;
    yield {
      id: Number(values[at]),
      url: String(values[at + 1]),
      title: String(values[at + 2]),
      language: String(values[at + 3]),
      topic: String(values[at + 4]),
      fetchedAtMs: Number(values[at + 5]),
      digest: bytes.subarray(digestAt, digestAt + DIGEST_BYTES),
      archived:
        file === ""
          ? undefined
          : { file, offset: Number(values[at + 7]), length: Number(values[at + 8]) },
      text: bytes.subarray(start, end),
    };
    start = end;
  }
}
