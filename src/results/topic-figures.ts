/**
 * What came of topics, from the stores of a crawl's processes: how many pages of each were fetched where they
 * belong or came from others, and topic locality, the share of links whose two pages are about the same
 * (Chung and Clarke 2002, Figures 4 and 5).
 *
 * Memory: 12 bytes for each page that was judged.
 */

import type { PageRecord } from "../page/page.ts";
import type { PageTopic, StoredUrl } from "../store/store.ts";
import { fingerprintOf } from "../url/fingerprint.ts";
import type { TopicsResult } from "../control/snapshot.ts";

/** The part of a store that is needed. */
interface TopicBooks {
  pageTopics(): Iterable<PageTopic>;
  url(id: number): Pick<StoredUrl, "url"> | undefined;
  pages(): Iterable<Pick<PageRecord, "id" | "links">>;
  topicOf(id: number): PageTopic | undefined;
}

export function topicFigures(stores: readonly TopicBooks[], model: string): TopicsResult {
  const byTopic: Record<string, { own: number; imported: number }> = {};
  const topicOf = new Map<string, string>();
  for (const store of stores)
    for (const { id, topic, from } of store.pageTopics()) {
      const counts = (byTopic[topic === "" ? "unjudged" : topic] ??= { own: 0, imported: 0 });
      counts[from === "" ? "own" : "imported"] += 1;
      const url = store.url(id)?.url;
      if (url !== undefined) topicOf.set(keyOf(url), topic);
    }
  let links = 0;
  let same = 0;
  for (const store of stores)
    for (const page of store.pages()) {
      const topic = store.topicOf(page.id)?.topic;
      if (topic === undefined) continue;
      const view = Buffer.from(page.links.buffer, page.links.byteOffset, page.links.byteLength);
      for (let at = 0; at < view.length; at += 8) {
        const target = topicOf.get(view.toString("latin1", at, at + 8));
        if (target === undefined) continue;
        links += 1;
        if (target === topic) same += 1;
      }
    }
  return { model, locality: links === 0 ? 0 : same / links, byTopic };
}

/** As a page's links name it. */
function keyOf(url: string): string {
  const { high, low } = fingerprintOf(url as Parameters<typeof fingerprintOf>[0]);
  const key = Buffer.allocUnsafe(8);
  key.writeUInt32BE(high, 0);
  key.writeUInt32BE(low, 4);
  return key.toString("latin1");
}
