/**
 * What pages are about, while they come: how many of each topic, fetched here or by others, and how many of their
 * links keep to it. For whoever looks on; the figures at the end are counted anew from the store (`topic-figures.ts`).
 *
 * Of links only those count that lead to one of the pages read lately, which is a sample that has more links to home
 * pages than there are. The table of those pages has 65,536 places, where a new one takes the place of an old
 * one: 400 KB, however long the crawl.
 */

import type { TopicsView } from "../../control/snapshot.ts";
import type { PageTopic } from "../../store/store.ts";

const PLACES = 65_536;

export interface SeenPage {
  readonly high: number;
  readonly low: number;
  readonly topic: string;
  readonly isImported: boolean;
  /** Fingerprints of its targets. */
  readonly links: Uint8Array;
}

export class TopicCounts {
  readonly #model: string;
  readonly #counts = new Map<string, { own: number; imported: number }>();
  /** Topics by number, from 1; 0 is a free place. */
  readonly #numbers = new Map<string, number>();
  readonly #highs = new Uint32Array(PLACES);
  readonly #topics = new Uint16Array(PLACES);
  #links = 0;
  #same = 0;

  /** Goes on from what the store has. */
  constructor(model: string, stored: Iterable<Pick<PageTopic, "topic" | "from">>) {
    this.#model = model;
    for (const { topic, from } of stored) this.#count(topic, from !== "");
  }

  read({ high, low, topic, isImported, links }: SeenPage): void {
    this.#count(topic, isImported);
    const number = this.#numberOf(topic);
    const view = new DataView(links.buffer, links.byteOffset, links.byteLength);
    for (let at = 0; at < links.byteLength; at += 8) {
      const place = view.getUint32(at + 4) & (PLACES - 1);
      if (this.#topics[place] === 0 || this.#highs[place] !== view.getUint32(at)) continue;
      this.#links += 1;
      if (this.#topics[place] === number) this.#same += 1;
    }
    const place = low & (PLACES - 1);
    this.#highs[place] = high;
    this.#topics[place] = number;
  }

  view(): TopicsView {
    return {
      model: this.#model,
      locality: this.#links === 0 ? 0 : this.#same / this.#links,
      linksJudged: this.#links,
      byTopic: Object.fromEntries(
        Array.from(this.#counts, ([topic, { own, imported }]) => [topic, { own, imported }]),
      ),
    };
  }

  #count(topic: string, isImported: boolean): void {
    const name = topic === "" ? "unjudged" : topic;
    const counts = this.#counts.get(name) ?? { own: 0, imported: 0 };
    counts[isImported ? "imported" : "own"] += 1;
    this.#counts.set(name, counts);
  }

  #numberOf(topic: string): number {
    const number = this.#numbers.get(topic) ?? this.#numbers.size + 1;
    this.#numbers.set(topic, number);
    return number;
  }
}

/** What several processes have seen, as one. */
export function joinedTopics(views: readonly TopicsView[]): TopicsView | undefined {
  const [first] = views;
  if (first === undefined) return undefined;
  const byTopic: Record<string, { own: number; imported: number }> = {};
  let links = 0;
  let same = 0;
  for (const view of views) {
    links += view.linksJudged;
    same += view.linksJudged * view.locality;
    for (const [topic, { own, imported }] of Object.entries(view.byTopic)) {
      const counts = (byTopic[topic] ??= { own: 0, imported: 0 });
      counts.own += own;
      counts.imported += imported;
    }
  }
  const locality = links === 0 ? 0 : same / links;
  return { model: first.model, locality, linksJudged: links, byTopic };
}
