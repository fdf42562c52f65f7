/**
 * Counts the topics of pages during the crawl, fetched here or by other processes, and the share of links that stay
 * within a topic. Shown while the crawl runs; the result counts again from the store (`topic-figures.ts`).
 *
 * Only links to recent pages count, a sample that contains more links to home pages than the web has. The table of
 * recent pages has 65,536 places, in which a new page replaces an old one: 400 KB for a crawl of any length.
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

  /** Continues from the stored pages. */
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

/** The views of several processes, as one. */
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
