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

test("before it has learned anything a link is worth what its page is", () => {
  const focus = new Focus(0);
  assert.ok(Math.abs(focus.score(link({ fromProbability: 0.3 })) - 0.3) < 1e-9);
  assert.ok(
    focus.score(link({ fromProbability: 0.9 })) > focus.score(link({ fromProbability: 0.2 })),
  );
});

test("with a model the words of the topic count from the beginning", () => {
  const examples = examplesOf(drawnPages(randomFrom(1), 30));
  const trained = linear.train(examples, allPages(examples));
  const focus = new Focus(0, trained);
  const own = focus.score(link({ anchorWords: ["qaaa", "qaba"] }));
  const other = focus.score(link({ anchorWords: ["qbaa", "qbba"] }));
  assert.ok(own > other + 0.05, `${own} and ${other}`);
});

/** Links whose anchors, URLs and sites tell the truth more often than not. */
function drawn(random: Random, isOn: boolean): LinkFeatures {
  const tells = (share: number): boolean => (random.next() < share ? isOn : random.next() < 0.5);
  return {
    fromProbability: tells(0.3) ? 0.7 : 0.2,
    anchorWords: [tells(0.5) ? `on${below(random, 30)}` : `off${below(random, 30)}`, "read"],
    urlWords: ["www", tells(0.5) ? "match" : "misc"],
    siteKey: tells(0.4) ? `good${below(random, 20)}` : `bad${below(random, 20)}`,
  };
}

test("it learns while it goes: on-topic links come to the front", () => {
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
    // In any order there would be 40.
    assert.ok(found > 100, `seed ${seed}: ${found} of 200`);
  }
});

test("a page that leads to the topic is worth something although it is not on it", () => {
  const hub = link({ anchorWords: ["index"], siteKey: "hub.test" });
  const leading = new Focus(0);
  const dead = new Focus(0);
  for (let step = 0; step < 200; step++) {
    leading.learn(hub, false, 0.8);
    dead.learn(hub, false, 0);
  }
  assert.ok(
    leading.score(hub) > dead.score(hub) + 0.1,
    `${leading.score(hub)} and ${dead.score(hub)}`,
  );
});
