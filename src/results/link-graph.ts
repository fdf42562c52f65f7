/**
 * The link graph of a crawl in memory: every known URL is a node, numbered by its id less 1.
 *
 * It contains only links between known URLs, because of other links the store has only a
 * fingerprint. URLs that were not fetched have no links. It takes 8 bytes per link while it is
 * built and 4 afterwards, and 12 per URL.
 */

import type { LinkGraph } from "../frontier/pagerank.ts";
import type { Store } from "../store/store.ts";
import { fingerprintsIn } from "./fingerprints.ts";

interface CrawledGraph extends LinkGraph {
  readonly offsets: Float64Array;
  readonly targets: Uint32Array;
}

const LINKS_AT_FIRST = 65_536;

export function linkGraphOf(store: Pick<Store, "totals" | "pages" | "lookup">): CrawledGraph {
  const nodes = store.totals.known;
  const counts = new Uint32Array(nodes);
  const found = new LinkList();
  for (const page of store.pages()) {
    const from = page.id - 1;
    // Rows that a running crawl added after the count are left out.
    if (from >= nodes) continue;
    for (const id of store.lookup(fingerprintsIn(page.links))) {
      if (id === 0 || id > nodes) continue;
      found.add(from, id - 1);
      counts[from] = (counts[from] ?? 0) + 1;
    }
  }
  return sortedBySource(counts, found);
}

/** Number of pages that link to each URL. */
export function linksTo({ offsets, targets }: CrawledGraph): Uint32Array {
  const counts = new Uint32Array(offsets.length - 1);
  for (const target of targets) counts[target] = (counts[target] ?? 0) + 1;
  return counts;
}

class LinkList {
  count = 0;
  froms = new Uint32Array(LINKS_AT_FIRST);
  tos = new Uint32Array(LINKS_AT_FIRST);

  add(from: number, to: number): void {
    if (this.count === this.froms.length) {
      this.froms = roomier(this.froms);
      this.tos = roomier(this.tos);
    }
    this.froms[this.count] = from;
    this.tos[this.count++] = to;
  }
}

function roomier(full: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(2 * full.length);
  larger.set(full);
  return larger;
}

function sortedBySource(counts: Uint32Array, found: LinkList): CrawledGraph {
  const offsets = new Float64Array(counts.length + 1);
  for (let node = 0; node < counts.length; node++)
    offsets[node + 1] = (offsets[node] as number) + (counts[node] as number);
  const next = offsets.slice();
  const targets = new Uint32Array(found.count);
  for (let index = 0; index < found.count; index++) {
    const from = found.froms[index] as number;
    const place = next[from] as number;
    targets[place] = found.tos[index] as number;
    next[from] = place + 1;
  }
  return { offsets, targets };
}
