import assert from "node:assert/strict";
import { test } from "node:test";
import { randomFrom } from "../../base/random.ts";
import { rulesOfThePaper, WORLD } from "../../topics/boundary.ts";
import type { Verdict } from "../../topics/classify.ts";
import {
  contentBuckets,
  Labelling,
  PlacingByContent,
  PlacingByTopic,
  topicsWithWorld,
} from "./assign.ts";

const TOPICS = ["art", "sport"];
const DIGEST = new Uint8Array(32);
const SURE: Verdict = { kind: "topic", name: "sport", confidence: 0.99, terms: 500 } as Verdict;
const FOREIGN: Verdict = { kind: "foreign", terms: 500, language: "de" } as Verdict;

test("labels alone move no page", () => {
  const { topic, confidence, bucket } = new Labelling().place({ digest: DIGEST, verdict: SURE });
  assert.deepEqual([topic, confidence, bucket], ["sport", 0.99, undefined]);
  const none = new Labelling().place({ digest: DIGEST, verdict: undefined });
  assert.deepEqual([none.topic, none.bucket], ["", undefined]);
});

test("by topic, a page goes to the bucket of its topic, a foreign language to that of the world", () => {
  const placing = new PlacingByTopic(TOPICS, rulesOfThePaper(TOPICS));
  assert.equal(placing.place({ digest: DIGEST, verdict: SURE }).bucket, 1);
  const { topic, bucket } = placing.place({ digest: DIGEST, verdict: FOREIGN });
  assert.deepEqual([topic, bucket], [WORLD, 2]);
});

test("by topic, a page without words is placed by the rule for small pages", () => {
  const rules = { ...rulesOfThePaper(TOPICS), smallTopic: "art" };
  const placing = new PlacingByTopic(TOPICS, rules);
  const { topic, bucket } = placing.place({ digest: DIGEST, verdict: undefined });
  assert.ok(bucket === undefined || topic === "art", `${topic} ${bucket}`);
});

test("by content, equal pages share a bucket, and buckets are about equally full", () => {
  const random = randomFrom(1);
  const placing = new PlacingByContent(8);
  const counts = Array.from({ length: 8 }, () => 0);
  for (let page = 0; page < 8000; page++) {
    const digest = Uint8Array.from({ length: 32 }, () => Math.floor(random.next() * 256));
    const bucket = placing.place({ digest, verdict: undefined }).bucket ?? -1;
    assert.equal(placing.place({ digest, verdict: SURE }).bucket, bucket);
    counts[bucket] = (counts[bucket] ?? 0) + 1;
  }
  assert.ok(Math.min(...counts) > 850 && Math.max(...counts) < 1150, counts.join(" "));
});

test("the world has one bucket, and a URL belongs to the process that found it", () => {
  assert.deepEqual(topicsWithWorld(TOPICS), ["art", "sport", WORLD]);
  assert.deepEqual(topicsWithWorld([WORLD]), [WORLD]);
  const { bucketOf, keepsSites } = contentBuckets(TOPICS, 3);
  assert.deepEqual([bucketOf("http://a.example/" as never), keepsSites], [0, false]);
});
