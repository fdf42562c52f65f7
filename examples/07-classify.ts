/**
 * Says what every page is about, with the model that comes with Weir.
 *
 *   node examples/07-classify.ts https://example.org/ --contact you@example.org --pages 100
 *
 * A classifier is asked page by page and answers within a tenth of a millisecond. It may also say that a page
 * is too small to judge, or in another language. A model of your own: `weir topics train`.
 */

import { Classifier, crawl, loadTopicModel, settingsFrom } from "../src/index.ts";

const SURE = 0.5;

const settings = await settingsFrom(process.argv.slice(2), process.env);
const classifier = new Classifier(loadTopicModel());
const counts = new Map<string, number>();

for await (const page of crawl(settings)) {
  const verdict = classifier.ofText(Buffer.from(page.text()));
  const name = verdict.kind === "topic" && verdict.confidence >= SURE ? verdict.name : "?";
  counts.set(name, (counts.get(name) ?? 0) + 1);
  if (verdict.kind === "topic")
    console.log(verdict.name, `${Math.round(100 * verdict.confidence)} %`, page.url);
}

console.log(Object.fromEntries([...counts].sort(([, a], [, b]) => b - a)));
