import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../base/random.ts";
import { fingerprintOf } from "../url/fingerprint.ts";
import type { CanonicalUrl } from "../url/url.ts";
import { OutgoingBatch, type OutgoingLink } from "./batch.ts";

function linkTo(name: string, more: Partial<OutgoingLink> = {}): OutgoingLink {
  const url = `http://a.org/${name}` as CanonicalUrl;
  return {
    url,
    written: undefined,
    ...fingerprintOf(url),
    depth: 1,
    redirects: 0,
    score: 0,
    ...more,
  };
}

test("a URL is sent once, with its count, the shortest path and the best score", () => {
  const batch = new OutgoingBatch({ pagesMax: 10, linksMax: 10 });
  batch.add("p1", linkTo("x", { depth: 3, score: 1 }));
  batch.add("p2", linkTo("y"));
  batch.add("p1", linkTo("x", { depth: 2, redirects: 4, score: -1 }));
  batch.add("p1", linkTo("x", { depth: 2, redirects: 1, score: 5 }));
  assert.deepEqual([batch.links, batch.met], [2, 4]);
  const taken = batch.takeAll();
  assert.deepEqual([...taken.keys()], ["p1", "p2"]);
  assert.deepEqual(taken.get("p1"), [
    { ...linkTo("x", { depth: 2, redirects: 1, score: 5 }), count: 3 },
  ]);
  assert.deepEqual(taken.get("p2"), [{ ...linkTo("y"), count: 1 }]);
  assert.deepEqual([batch.links, batch.met, batch.pages, batch.takeAll().size], [0, 0, 0, 0]);
});

test("a batch is due by pages or by links, and when full takes only repeats", () => {
  const batch = new OutgoingBatch({ pagesMax: 2, linksMax: 2 });
  batch.endPage();
  assert.equal(batch.isDue, false);
  batch.endPage();
  assert.equal(batch.isDue, true);
  batch.takeAll();
  assert.ok(batch.add("p", linkTo("x")));
  assert.equal(batch.isDue, false);
  assert.ok(batch.add("q", linkTo("y")));
  assert.equal(batch.isDue, true);
  assert.equal(batch.add("p", linkTo("z")), false);
  assert.ok(batch.add("p", linkTo("x")));
  assert.equal(batch.takeAll().get("p")?.[0]?.count, 2);
});

test("no link is lost or duplicated, in any order", () => {
  for (let seed = 1; seed <= 50; seed++) {
    const random = randomFrom(seed);
    const batch = new OutgoingBatch({ pagesMax: 5, linksMax: 20 });
    const added = new Map<string, number>();
    const taken = new Map<string, number>();
    const takeAll = (): void => {
      for (const [owner, links] of batch.takeAll()) {
        assert.equal(new Set(links.map(({ url }) => url)).size, links.length, `seed ${seed}`);
        for (const { url, count } of links)
          taken.set(`${owner} ${url}`, (taken.get(`${owner} ${url}`) ?? 0) + count);
      }
    };
    for (let n = 0; n < 500; n++) {
      const owner = `p${below(random, 3)}`;
      const link = linkTo(String(below(random, 40)));
      if (!batch.add(owner, link)) {
        takeAll();
        assert.ok(batch.add(owner, link), `seed ${seed}: no room in an empty batch`);
      }
      added.set(`${owner} ${link.url}`, (added.get(`${owner} ${link.url}`) ?? 0) + 1);
      if (below(random, 10) === 0) batch.endPage();
      if (batch.isDue) takeAll();
    }
    takeAll();
    assert.deepEqual(
      new Map([...taken].toSorted()),
      new Map([...added].toSorted()),
      `seed ${seed}`,
    );
  }
});
