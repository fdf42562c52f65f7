/** Converts a crawl's rows for the writers of lines, one page at a time. */

import { fingerprintsIn } from "../results/fingerprints.ts";
import { linkGraphOf, linksTo } from "../results/link-graph.ts";
import { textPlaceOf } from "../results/text-place.ts";
import { exportedName } from "../output/warc/archives.ts";
import { archivedText, pageLine, type PageLine } from "../output/lines/jsonl.ts";
import type { LinkingPage, UrlOf } from "../output/lines/links.ts";
import { DamagedRecord } from "../output/warc/warc-read.ts";
import type { ArchivePlace, PageRecord } from "../page/page.ts";
import { highest } from "../report/gather.ts";
import type { openReadOnly } from "../store/joined/open-read-only.ts";
import { writtenOf } from "../url/url.ts";

export type ReadableStore = ReturnType<typeof openReadOnly>;

const URLS_KEPT_MAX = 100_000;

interface Extras {
  /** The archive with the text of pages; undefined if it is not wanted. */
  readonly archiveFolder: string | undefined;
  /** By the id of a URL less 1; undefined when they are not wanted. */
  readonly ranks: Float64Array | undefined;
  /** Pages whose record is damaged have no text; without it, damage is thrown. */
  readonly onDamage: ((damage: DamagedRecord) => void) | undefined;
}

/** Every page with its facts from other tables. */
export function* pageRows(
  store: ReadableStore,
  { archiveFolder, ranks, onDamage }: Extras,
): Generator<PageLine> {
  for (const page of store.pages()) {
    const known = store.url(page.id);
    if (known === undefined) continue;
    const like = page.likeness === undefined ? undefined : store.url(page.likeness.ofId);
    const likeUrl = like && writtenOf(like);
    const place = archiveFolder === undefined ? undefined : textPlaceOf(store, page);
    const text = place && textAt(archiveFolder ?? "", place, onDamage);
    const rank = ranks?.[page.id - 1];
    yield { url: writtenOf(known), depth: known.depth, page: exported(page), likeUrl, text, rank };
  }
}

function textAt(
  folder: string,
  place: ArchivePlace,
  onDamage: Extras["onDamage"],
): string | undefined {
  try {
    return archivedText(folder, place);
  } catch (error) {
    if (!(error instanceof DamagedRecord) || onDamage === undefined) throw error;
    onDamage(error);
    return undefined;
  }
}

export function* pageLines(store: ReadableStore, extras: Extras): Generator<string> {
  for (const row of pageRows(store, extras)) yield pageLine(row);
}

/** The most-linked URLs, the most links first. */
export function popularUrls(store: ReadableStore, countMax: number): string[] {
  const counts = linksTo(linkGraphOf(store));
  const { kept } = highest(counts.keys(), countMax, (node) => counts[node] ?? 0);
  const linked = kept.filter((node) => (counts[node] ?? 0) > 0);
  return linked.map((node) => store.url(node + 1)?.url ?? "").filter((url) => url !== "");
}

/** The page with the name of its archive file in other exports. */
function exported(page: PageRecord): PageRecord {
  const { archived } = page;
  return { ...page, archived: archived && { ...archived, file: exportedName(archived.file) } };
}

/**
 * Finds the URLs of fingerprints: those of a whole page are looked up together, since each lookup
 * has its cost, and frequent URLs are cached.
 */
export class UrlBook {
  readonly #store: ReadableStore;
  readonly #ranks: Float64Array | undefined;
  readonly #urlsById = new Map<number, string | undefined>();
  #idsOfPage = new Map<string, number>();

  constructor(store: ReadableStore, ranks: Float64Array | undefined) {
    this.#store = store;
    this.#ranks = ranks;
  }

  rankOf(id: number): number | undefined {
    return this.#ranks?.[id - 1];
  }

  /** Looks up the links of this page. */
  turnTo(links: Uint8Array): void {
    const asked = fingerprintsIn(links);
    const { high, low } = asked;
    const ids = this.#store.lookup(asked);
    this.#idsOfPage = new Map(Array.from(ids, (id, index) => [`${high[index]}:${low[index]}`, id]));
  }

  readonly urlOf: UrlOf = (high, low) => {
    const id = this.#idsOfPage.get(`${high}:${low}`) ?? 0;
    if (id === 0) return undefined;
    if (!this.#urlsById.has(id)) {
      if (this.#urlsById.size >= URLS_KEPT_MAX) this.#urlsById.clear();
      const known = this.#store.url(id);
      this.#urlsById.set(id, known && writtenOf(known));
    }
    const url = this.#urlsById.get(id);
    return url === undefined ? undefined : { url, rank: this.#ranks?.[id - 1] };
  };
}

export function* linkingPages(store: ReadableStore, book: UrlBook): Generator<LinkingPage> {
  for (const page of store.pages()) {
    const known = store.url(page.id);
    if (known === undefined) continue;
    book.turnTo(page.links);
    yield { url: writtenOf(known), links: page.links, rank: book.rankOf(page.id) };
  }
}
