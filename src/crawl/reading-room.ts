/** Furnishes the reading room: the desk where pages are read, the customs for those of others, and who brings them. */

import { Customs, type CustomsParts } from "./peers/import-page.ts";
import type { CrawlParts } from "./crawl.ts";
import { PageDesk, type PageDeskParts } from "./page.ts";
import { PageReader } from "./parse-page.ts";
import { TopicWatch } from "./topics/counts.ts";
import { Recorder, type RecorderParts } from "./fetch-url.ts";

/** The fact, kept in the store, that pages have been asked for again. */
export const ROUNDS = "rounds";

export interface ReadingRoom {
  readonly recorder: Recorder;
  readonly customs: Customs;
  /** undefined where nobody asks what pages are about. */
  readonly topicWatch: TopicWatch | undefined;
}

export type ReadingRoomParts = CrawlParts &
  Omit<PageDeskParts, "reader" | "hasEarlierRounds" | "placing" | "boundary" | "topicWatch"> &
  Omit<CustomsParts, "desk" | "decodedBytesMax"> &
  Omit<RecorderParts, "desk" | "isSuperseded">;

export function readingRoomOf(parts: ReadingRoomParts): ReadingRoom {
  const { settings, store, topics, batch, team } = parts;
  const topicWatch =
    topics?.classifier === undefined
      ? undefined
      : new TopicWatch(topics.modelDigest, store.pageTopics());
  const desk = new PageDesk({
    ...parts,
    reader: new PageReader(settings, topics?.classifier),
    hasEarlierRounds: store.recall(ROUNDS) !== undefined,
    placing: topics?.placing,
    boundary: settings.boundary,
    topicWatch,
  });
  const { decodedBytesMax } = settings;
  const customs = new Customs({ ...parts, desk, decodedBytesMax });
  const isByContent = team?.border?.ownsContents === true;
  const hasEnded = (id: number): boolean => batch.url(id)?.reason !== undefined;
  const recorder = new Recorder({
    ...parts,
    desk,
    isSuperseded: (id) => isByContent && (customs.isImporting(id) || hasEnded(id)),
  });
  return { recorder, customs, topicWatch };
}
