import assert from "node:assert/strict";
import { test } from "node:test";
import { below, type Random, randomFrom } from "../base/random.ts";
import { drawnPages, examplesOf } from "./example-pages.suite.ts";
import { allPages } from "./examples.ts";
import { Focus, type LinkFeatures } from "./focus.ts";
import { linear } from "./linear.ts";

function link(more: Partial<LinkFeatures>): LinkFeatures {
  return { fromProbability: 0.5, anchorWords: [], urlWords: [], siteKey: "s.test", ...more };
}

test("before any learning a link scores as its linking page", () => {
  const focus = new Focus(0);
  assert.ok(Math.abs(focus.score(link({ fromProbability: 0.3 })) - 0.3) < 1e-9);
  assert.ok(
    focus.score(link({ fromProbability: 0.9 })) > focus.score(link({ fromProbability: 0.2 })),
  );
});

test("with a model the words of the topic count from the start", () => {
  const examples = examplesOf(drawnPages(randomFrom(1), 30));
  const trained = linear.train(examples, allPages(examples));
  const focus = new Focus(0, trained);
  const own = focus.score(link({ anchorWords: ["qaaa", "qaba"] }));
  const other = focus.score(link({ anchorWords: ["qbaa", "qbba"] }));
  assert.ok(own > other + 0.05, `${own} and ${other}`);
});

/** Links whose anchors, URLs and sites point to the right outcome more often than not. */
function drawn(random: Random, isOn: boolean): LinkFeatures {
  const isTrue = (share: number): boolean => (random.next() < share ? isOn : random.next() < 0.5);
  return {
    fromProbability: isTrue(0.3) ? 0.7 : 0.2,
    anchorWords: [isTrue(0.5) ? `on${below(random, 30)}` : `off${below(random, 30)}`, "read"],
    urlWords: ["www", isTrue(0.5) ? "match" : "misc"],
    siteKey: isTrue(0.4) ? `good${below(random, 20)}` : `bad${below(random, 20)}`,
  };
}

test("after learning, on-topic links score highest", () => {
  for (let seed = 1; seed <= 3; seed++) {
    const random = randomFrom(seed);
    const focus = new Focus(0);
    for (let step = 0; step < 3000; step++) {
      const isOn = random.next() < 0.2;
      focus.learn(drawn(random, isOn), isOn);
    }
    const trials = Array.from({ length: 1000 }, () => {
      const isOn = random.next() < 0.2;
      return { isOn, score: focus.score(drawn(random, isOn)) };
    }).toSorted((a, b) => b.score - a.score);
    const found = trials.slice(0, 200).filter(({ isOn }) => isOn).length;
    // 40 would be on topic in a random order.
    assert.ok(found > 100, `seed ${seed}: ${found} of 200`);
  }
});

test("an off-topic page that leads to the topic raises the score of its link", () => {
  const hub = link({ anchorWords: ["index"], siteKey: "hub.test" });
  const lead = new Focus(0);
  const dead = new Focus(0);
  for (let step = 0; step < 200; step++) {
    lead.learn(hub, false, 0.8);
    dead.learn(hub, false, 0);
  }
  assert.ok(lead.score(hub) > dead.score(hub) + 0.1, `${lead.score(hub)} and ${dead.score(hub)}`);
});
