/** Loads the three labelled collections as examples for the experiments on topics. */

import { Bag } from "../topics/bag.ts";
import { Examples } from "../topics/examples.ts";
import { Tokens } from "../topics/tokens.ts";
import { newsgroupPosts, policyPages, wikipediaPages } from "./topics-data.ts";

export const COLLECTIONS = {
  wikipedia: "Wikipedia for Schools",
  policies: "Open Directory policy pages",
  newsgroups: "20 Newsgroups",
} as const;

export type CollectionName = keyof typeof COLLECTIONS;

/** Every labelled page of any size; topics are sorted by name. */
export async function collectionOf(name: CollectionName): Promise<Examples> {
  const examples = new Examples();
  const tokens = new Tokens();
  const bag = new Bag();
  const add = (topic: string): void => {
    bag.take(tokens);
    examples.add(examples.topicNamed(topic), bag);
  };
  if (name === "wikipedia") {
    for await (const { subjects, html } of wikipediaPages()) {
      tokens.takeHtml(html);
      add(topSubject(subjects));
    }
  } else {
    for await (const { topic, text } of name === "policies" ? policyPages() : newsgroupPosts()) {
      tokens.takeText(text);
      add(topic);
    }
  }
  examples.sortTopics();
  return examples;
}

/** The main topic of a page: "Science" of "Science.Biology.Mammals". */
export function topSubject(subjects: readonly string[]): string {
  return subjects[0]?.split(".")[0] ?? "";
}
