/**
 * A focused crawl: goes where pages of one topic are likely to be, and stops when it has enough of them.
 *
 *   TOPIC=science node examples/08-focused.ts https://example.org/ --contact you@example.org --scope any
 *
 * `order: "topic"` scores a link by its words, by the page it stands on, and by what such links led to
 * before. How many pages of the topic are among the first few hundred is what it is judged by.
 */

import { Classifier, crawl, loadTopicModel, settingsFrom } from "../src/index.ts";

const TOPIC = process.env["TOPIC"] ?? "science";
const ENOUGH = Number(process.env["ENOUGH"] ?? 100);

const settings = await settingsFrom(process.argv.slice(2), process.env);
const classifier = new Classifier(loadTopicModel());
const crawling = crawl({ ...settings, order: "topic", topic: TOPIC, topicsModel: "ready" });
let met = 0;
let found = 0;

for await (const page of crawling) {
  const verdict = classifier.ofText(Buffer.from(page.text()));
  met += 1;
  if (verdict.kind !== "topic" || verdict.name !== TOPIC) continue;
  found += 1;
  console.log(page.url, page.title);
  // Leaving the loop ends the crawl.
  if (found === ENOUGH) break;
}
console.log(`${found} of ${met} pages are about ${TOPIC}`);
