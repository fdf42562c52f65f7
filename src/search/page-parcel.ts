/** Packs pages into few objects for the indexing thread, since the cost of a message grows with its objects. */

import type { IndexedPage } from "./index-writer.ts";

export interface PageParcel {
  /** All fields of the pages except their texts and digests, as JSON. */
  readonly facts: string;
  /** All texts and then all digests, one after the other. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The end of each text. */
  readonly ends: Uint32Array<ArrayBuffer>;
}

const DIGEST_BYTES = 32;

export function packPages(pages: readonly IndexedPage[]): PageParcel {
  const texts = pages.map(({ text }) => (typeof text === "string" ? Buffer.from(text) : text));
  const textBytes = texts.reduce((sum, { length }) => sum + length, 0);
  const bytes = new Uint8Array(textBytes + DIGEST_BYTES * pages.length);
  const ends = new Uint32Array(pages.length);
  let end = 0;
  for (const [index, { digest }] of pages.entries()) {
    const text = texts[index] ?? new Uint8Array(0);
    bytes.set(text, end);
    ends[index] = end += text.length;
    bytes.set(digest, textBytes + DIGEST_BYTES * index);
  }
  const facts = JSON.stringify(
    pages.map((page) => ({ ...page, text: undefined, digest: undefined })),
  );
  return { facts, bytes, ends };
}

export function* unpackPages({ facts, bytes, ends }: PageParcel): Generator<IndexedPage> {
  const pages = JSON.parse(facts) as Omit<IndexedPage, "text" | "digest">[];
  const textBytes = bytes.length - DIGEST_BYTES * ends.length;
  let start = 0;
  for (const [index, page] of pages.entries()) {
    const end = ends[index] as number;
    const digestAt = textBytes + DIGEST_BYTES * index;
    const digest = bytes.subarray(digestAt, digestAt + DIGEST_BYTES);
    yield { ...page, digest, text: bytes.subarray(start, end) };
    start = end;
  }
}
