import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../../base/random.ts";
import { joinedTopics, type SeenPage, TopicCounts } from "./counts.ts";

function page(number: number, topic: string, targets: readonly number[] = []): SeenPage {
  const links = Buffer.alloc(8 * targets.length);
  for (const [place, target] of targets.entries()) {
    links.writeUInt32BE(target * 7, 8 * place);
    links.writeUInt32BE(target, 8 * place + 4);
  }
  return { high: number * 7, low: number, topic, isImported: false, links };
}

test("links to pages that were read count, and are the same where both are about the same", () => {
  const watch = new TopicCounts("model", [{ topic: "arts", from: "proc-2" }]);
  watch.read(page(1, "arts"));
  watch.read(page(2, "sports", [1, 9]));
  watch.read({ ...page(3, "sports", [1, 2]), isImported: true });
  assert.deepEqual(watch.view(), {
    model: "model",
    locality: 1 / 3,
    linksJudged: 3,
    byTopic: { arts: { own: 1, imported: 1 }, sports: { own: 1, imported: 1 } },
  });
});

test("several together count what one would have counted of pages that link among themselves", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = randomFrom(seed);
    const parts = [new TopicCounts("m", []), new TopicCounts("m", [])];
    const all = new TopicCounts("m", []);
    for (let count = 0; count < 200; count++) {
      const part = below(random, 2);
      const number = 2 * below(random, 300) + part;
      const targets = Array.from({ length: 3 }, () => 2 * below(random, 300) + part);
      const seen = page(number, `topic ${below(random, 3)}`, targets);
      parts[part]?.read(seen);
      all.read(seen);
    }
    const joined = joinedTopics(parts.map((one) => one.view()));
    const { locality, ...rest } = all.view();
    const { locality: other = -1, ...others } = joined ?? {};
    assert.deepEqual(others, rest, `seed ${seed}`);
    assert.ok(Math.abs(locality - other) < 1e-12, `seed ${seed}`);
  }
  assert.equal(joinedTopics([]), undefined);
});
