import assert from "node:assert/strict";
import { test } from "node:test";
import { worldModel } from "../../lab/world-model.ts";
import { Focus } from "../../topics/focus.ts";
import type { Reading } from "../parse-page.ts";
import { FocusOrder } from "./focus-order.ts";

const FROM = "http://a.example/";

test("a seed has the score of the order, a link the score of its words", () => {
  const order = newOrder();
  assert.equal(order.scoreOf({ url: FROM, depth: 0, from: undefined } as never), undefined);
  order.linking(FROM, reading(0.9, [["http://a.example/x", "words"]]));
  const score = order.scoreOf(found("http://a.example/x"));
  assert.ok(score !== undefined && score >= 0 && score <= 1, `${score}`);
});

test("links from a page on the topic score higher than the same links from another page", () => {
  const score = (onTopic: number): number => {
    const order = newOrder();
    order.linking(FROM, reading(onTopic, [["http://a.example/x", "words"]]));
    return order.scoreOf(found("http://a.example/x")) ?? 0;
  };
  assert.ok(score(0.99) > score(0.01));
});

test("words whose pages were on the topic raise the score of later links", () => {
  const order = newOrder();
  const scoreOf = (url: string, text: string): number => {
    order.linking(FROM, reading(0.5, [[url, text]]));
    const score = order.scoreOf(found(url)) ?? 0;
    order.linked();
    return score;
  };
  const before = scoreOf("http://b.example/0", "orchid") - scoreOf("http://b.example/1", "gravel");
  for (let page = 0; page < 30; page++) {
    for (const [word, onTopic] of [
      ["orchid", 0.99],
      ["gravel", 0.01],
    ] as const) {
      const url = `http://a.example/${word}${page}`;
      scoreOf(url, word);
      order.linking(url, reading(onTopic, []));
      order.linked();
    }
  }
  const after = scoreOf("http://b.example/2", "orchid") - scoreOf("http://b.example/3", "gravel");
  assert.ok(after > before + 0.05, `${before} before, ${after} after`);
});

test("a URL without a link text, from a sitemap, still has a score", () => {
  const order = newOrder();
  order.linking(FROM, reading(0.5, []));
  const score = order.scoreOf(found("http://a.example/listed"));
  assert.ok(score !== undefined && Number.isFinite(score));
});

function newOrder(): FocusOrder {
  return new FocusOrder(new Focus(0, worldModel().trained));
}

function found(url: string) {
  return { url, depth: 1, from: FROM } as never;
}

function reading(
  onTopic: number,
  links: readonly (readonly [url: string, text: string])[],
): Reading {
  const anchors = links.map(([url, text]) => ({ url, text, nofollow: false, written: undefined }));
  return { onTopic, anchors } as unknown as Reading;
}
