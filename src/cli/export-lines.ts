/** Brings a crawl's rows into the shape that the writers of lines take, one page at a time. */

import { textPlaceOf } from "../crawl/text-place.ts";
import { exportedName } from "../output/archives.ts";
import { archivedText, pageLine } from "../output/jsonl.ts";
import type { LinkingPage, UrlOf } from "../output/links.ts";
import type { PageRecord } from "../page/page.ts";
import type { openReadOnly } from "../store/store-sqlite.ts";

export type ReadableStore = ReturnType<typeof openReadOnly>;

const URLS_KEPT_MAX = 100_000;

/** With text when an archive is named to take it from. */
export function* pageLines(
  store: ReadableStore,
  archiveFolder: string | undefined,
): Generator<string> {
  for (const page of store.pages()) {
    const known = store.url(page.id);
    if (known === undefined) continue;
    const likeUrl = page.likeness === undefined ? undefined : store.url(page.likeness.ofId)?.url;
    const place = archiveFolder === undefined ? undefined : textPlaceOf(store, page);
    const text = place && archivedText(archiveFolder ?? "", place);
    yield pageLine({ url: known.url, depth: known.depth, page: exported(page), likeUrl, text });
  }
}

/** With its archive file under the name that other exports give it. */
function exported(page: PageRecord): PageRecord {
  const { archived } = page;
  return { ...page, archived: archived && { ...archived, file: exportedName(archived.file) } };
}

/**
 * Finds the URLs behind fingerprints: those of a whole page are asked for together, since asking has
 * its price, and URLs met often are kept.
 */
export class UrlBook {
  readonly #store: ReadableStore;
  readonly #urlsById = new Map<number, string | undefined>();
  #idsOfPage = new Map<string, number>();

  constructor(store: ReadableStore) {
    this.#store = store;
  }

  /** Makes the links of this page answerable. */
  turnTo(links: Uint8Array): void {
    const count = Math.floor(links.byteLength / 8);
    const view = new DataView(links.buffer, links.byteOffset, links.byteLength);
    const high = Uint32Array.from({ length: count }, (_, index) => view.getUint32(8 * index));
    const low = Uint32Array.from({ length: count }, (_, index) => view.getUint32(8 * index + 4));
    const ids = this.#store.lookup({ high, low, count });
    this.#idsOfPage = new Map(Array.from(ids, (id, index) => [`${high[index]}:${low[index]}`, id]));
  }

  readonly urlOf: UrlOf = (high, low) => {
    const id = this.#idsOfPage.get(`${high}:${low}`) ?? 0;
    if (id === 0) return undefined;
    if (!this.#urlsById.has(id)) {
      if (this.#urlsById.size >= URLS_KEPT_MAX) this.#urlsById.clear();
      this.#urlsById.set(id, this.#store.url(id)?.url);
    }
    return this.#urlsById.get(id);
  };
}

export function* linkingPages(store: ReadableStore, book: UrlBook): Generator<LinkingPage> {
  for (const page of store.pages()) {
    const known = store.url(page.id);
    if (known === undefined) continue;
    book.turnTo(page.links);
    yield { url: known.url, links: page.links };
  }
}
