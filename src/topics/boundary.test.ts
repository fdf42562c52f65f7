import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../base/random.ts";
import { fateOf, rulesOfThePaper } from "./boundary.ts";
import type { Verdict } from "./classify.ts";
import { HostShare } from "./host-share.ts";
import { ownersOf } from "./owners.ts";

const TOPICS = ["adult", "arts", "sports"];
const RULES = rulesOfThePaper(TOPICS);
const MINUTE_MS = 60_000;

function page(name: string, confidence: number): Verdict {
  return {
    kind: "topic",
    terms: 100,
    language: "en",
    topic: TOPICS.indexOf(name),
    name,
    confidence,
  };
}

test("a page of an own topic stays, a page of another process's topic goes to its owner", () => {
  const own = new Set(["arts"]);
  assert.deepEqual(fateOf(page("arts", 0.9), RULES, own), {
    kind: "keep",
    topic: "arts",
    why: "own",
  });
  assert.deepEqual(fateOf(page("sports", 0.2), RULES, own), { kind: "send", topic: "sports" });
});

test("small pages go to the first topic and foreign ones to world, as in the paper", () => {
  const small: Verdict = { kind: "small", terms: 3, language: undefined };
  const foreign: Verdict = { kind: "foreign", terms: 300, language: "de" };
  assert.deepEqual(fateOf(small, RULES, new Set(["arts"])), { kind: "send", topic: "adult" });
  assert.deepEqual(fateOf(foreign, RULES, new Set(["arts"])), { kind: "send", topic: "world" });
  assert.equal(fateOf(foreign, RULES, new Set(["world"])).kind, "keep");
  const staying = { ...RULES, smallTopic: undefined };
  assert.deepEqual(fateOf(small, staying, new Set(["arts"])), {
    kind: "keep",
    topic: undefined,
    why: "small",
  });
});

test("a page below the minimum confidence stays where it is", () => {
  const careful = { ...RULES, confidenceMin: 0.4 };
  assert.equal(fateOf(page("sports", 0.39), careful, new Set(["arts"])).kind, "keep");
  assert.equal(fateOf(page("sports", 0.4), careful, new Set(["arts"])).kind, "send");
});

test("without a minimum confidence the owner depends on the content alone", () => {
  for (let seed = 1; seed <= 100; seed++) {
    const random = randomFrom(seed);
    const shares = [...TOPICS, "world"].map((topic) => ({ topic, share: random.next() }));
    const owned = ownersOf(shares, 1 + below(random, 5));
    const verdicts: Verdict[] = [
      page("arts", random.next()),
      page("sports", random.next()),
      { kind: "small", terms: 1, language: undefined },
    ];
    for (const verdict of verdicts) {
      const ends = new Set(
        owned.map((topics, at) => {
          const fate = fateOf(verdict, RULES, new Set(topics));
          return fate.kind === "keep" ? at : owned.findIndex((other) => other.includes(fate.topic));
        }),
      );
      assert.equal(ends.size, 1, `seed ${seed}`);
    }
  }
});

test("topics are spread so that no process has much more than another", () => {
  assert.deepEqual(
    ownersOf(
      [
        { topic: "a", share: 3 },
        { topic: "b", share: 2 },
        { topic: "c", share: 1 },
      ],
      2,
    ),
    [["a"], ["b", "c"]],
  );
  for (let seed = 1; seed <= 200; seed++) {
    const random = randomFrom(seed);
    const shares = Array.from({ length: 16 }, (_, at) => ({
      topic: `t${at}`,
      share: random.next(),
    }));
    const processes = 1 + below(random, 8);
    const owned = ownersOf(shares, processes);
    assert.equal(new Set(owned.flat()).size, 16, `seed ${seed}`);
    const shareOf = new Map(shares.map(({ topic, share }) => [topic, share]));
    const loads = owned.map((topics) =>
      topics.reduce((sum, topic) => sum + (shareOf.get(topic) ?? 0), 0),
    );
    const all = loads.reduce((sum, load) => sum + load, 0);
    const best = Math.max(all / processes, ...shares.map(({ share }) => share));
    assert.ok(
      Math.max(...loads) <= (4 / 3) * best + 1e-9,
      `seed ${seed}: ${Math.max(...loads)} of ${best}`,
    );
  }
});

test("topics of unknown size are also spread evenly", () => {
  const owned = ownersOf(
    TOPICS.map((topic) => ({ topic, share: 0 })),
    3,
  );
  assert.deepEqual(
    owned.map((topics) => topics.length),
    [1, 1, 1],
  );
});

test("a host with more than its share of the last hour is over it until the hour has passed", () => {
  const shares = new HostShare(0.1);
  for (let index = 0; index < 90; index++) shares.count(`host${index}.test`, 0);
  for (let index = 0; index < 10; index++) shares.count("busy.test", 0);
  assert.ok(!shares.isOver("busy.test", 0), "a tenth is not more than a tenth");
  shares.count("busy.test", MINUTE_MS);
  assert.ok(shares.isOver("busy.test", MINUTE_MS));
  assert.ok(!shares.isOver("host1.test", MINUTE_MS));
  assert.ok(!shares.isOver("busy.test", 65 * MINUTE_MS));
});

test("shares stay accurate with more hosts than the table holds", () => {
  for (let seed = 1; seed <= 3; seed++) {
    const random = randomFrom(seed);
    const shares = new HostShare();
    for (let event = 0; event < 200_000; event++) {
      const nowMs = event * 15;
      const isBusy = random.next() < 0.004;
      shares.count(isBusy ? "busy.test" : `host${below(random, 50_000)}.test`, nowMs);
    }
    const endMs = 200_000 * 15;
    assert.ok(shares.isOver("busy.test", endMs), `seed ${seed}`);
    for (let host = 0; host < 1000; host++)
      assert.ok(!shares.isOver(`host${host}.test`, endMs), `seed ${seed}: host${host}`);
  }
});
