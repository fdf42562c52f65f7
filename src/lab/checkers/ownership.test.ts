import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultSettings } from "../../config/sources.ts";
import { topicsWithWorld } from "../../crawl/topics/assign.ts";
import type { Reason } from "../../page/outcome.ts";
import type { PageRecord } from "../../page/page.ts";
import type { PageTopic, StoredUrl } from "../../store/store.ts";
import { makePage } from "../../store/store.suite.ts";
import { Classifier } from "../../topics/classify.ts";
import { digestOf, groundTruth } from "../ground-truth.ts";
import { worldModel } from "../world-model.ts";
import { bodyOf } from "../world.ts";
import { makeWorld } from "../world/plan.ts";
import { checkOwnership, type Collections } from "./ownership.ts";

const WORLD = makeWorld({ seed: 3, siteCount: 6, pagesMax: 30, bytesMedianMax: 3_000 });
const TOPIC_NAMES = topicsWithWorld(worldModel().trained.topics);
const NAMES = ["proc-1", "proc-2"];

/** The data of one URL in one process. */
interface Held {
  readonly row: StoredUrl;
  readonly page: PageRecord | undefined;
  readonly topic: PageTopic | undefined;
}

test("contents stored by the owners of their topics have no violations", () => {
  assert.deepEqual(rulesOf(perfect()), []);
});

test("planted: a page stored by a process other than its owner is caught", () => {
  const [first = [], second = []] = perfect();
  const stray = first.find(({ page }) => page !== undefined) as Held;
  assert.deepEqual(rulesOf([first.filter((held) => held !== stray), [...second, stray]]), [
    "wrong-owner",
  ]);
});

test("planted: a content stored by two processes under different URLs is caught", () => {
  const [first = [], second = []] = perfect();
  const stored = first.find(({ page }) => page !== undefined) as Held;
  const other = second.find(({ page }) => page !== undefined) as Held;
  const copy = { ...other, page: { ...(other.page as PageRecord), digest: stored.page?.digest } };
  const rules = rulesOf([first, second.map((held) => (held === other ? (copy as Held) : held))]);
  assert.ok(rules.includes("content-twice"), rules.join(" "));
});

test("planted: a page that was handed over and lost, or has a wrong topic, is caught", () => {
  const [first = [], second = []] = perfect();
  const lost = second.find(({ page }) => page !== undefined) as Held;
  const sent = { ...lost, row: { ...lost.row, reason: "exported" as const }, page: undefined };
  assert.deepEqual(rulesOf([[...first, sent], second.filter((held) => held !== lost)]), [
    "lost-page",
  ]);
  const misclassified = { ...lost, topic: { ...(lost.topic as PageTopic), topic: "elsewhere" } };
  assert.deepEqual(rulesOf([first, second.map((held) => (held === lost ? misclassified : held))]), [
    "topic",
  ]);
});

/** The data of two processes without faults; they own the topics in alternation. */
function perfect(): Held[][] {
  const classifier = new Classifier(worldModel());
  const books: Held[][] = NAMES.map(() => []);
  let id = 0;
  for (const truth of groundTruth(WORLD)) {
    if (truth.fate !== "stored") continue;
    id += 1;
    const verdict = classifier.ofHtml(bodyOf(WORLD, truth.site, truth.page));
    const small = TOPIC_NAMES[0] as string;
    const topic =
      verdict.kind === "topic" ? verdict.name : verdict.kind === "small" ? small : "world";
    books[TOPIC_NAMES.indexOf(topic) % NAMES.length]?.push({
      row: rowOf(id, truth.url, "ok"),
      page: { ...makePage(id, id), digest: digestOf(WORLD, truth) },
      topic: { id, topic, confidence: 0.5, from: "" },
    });
  }
  return books;
}

function rowOf(id: number, url: string, reason: Reason): StoredUrl {
  const blank = { depth: 0, score: 0, attempts: 1, redirectedFromId: 0, redirects: 0, siteId: 1 };
  return { ...blank, id, url, written: undefined, reason };
}

function rulesOf(books: readonly (readonly Held[])[]): string[] {
  const collections: Collections = {
    world: WORLD,
    settings: { ...defaultSettings(), partition: "topic" },
    model: worldModel(),
    names: NAMES,
    owners: TOPIC_NAMES.map((_, place) => NAMES[place % NAMES.length] as string),
    books: books.map((held) => {
      const byId = new Map(held.map((one) => [one.row.id, one]));
      return {
        urls: () => held.map(({ row }) => row),
        page: (id) => byId.get(id)?.page,
        topicOf: (id) => byId.get(id)?.topic,
      };
    }),
  };
  return [...new Set(checkOwnership(collections).map(({ rule }) => rule))].sort();
}
