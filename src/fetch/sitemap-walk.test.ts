import assert from "node:assert/strict";
import { test } from "node:test";
import { SITEMAP_WALK_DEFAULTS, SitemapWalk } from "./sitemap-walk.ts";

test("an index that names itself is read once", () => {
  const walk = new SitemapWalk(SITEMAP_WALK_DEFAULTS);
  assert.equal(walk.add("http://x.test/s.xml", undefined), undefined);
  const step = walk.next();
  assert.deepEqual(step, { url: "http://x.test/s.xml", steps: 0 });
  assert.equal(walk.add("http://x.test/s.xml", step), "sitemap_loop");
  assert.equal(walk.next(), undefined);
});

test("indexes ten deep are followed two steps down", () => {
  const walk = new SitemapWalk(SITEMAP_WALK_DEFAULTS);
  walk.add("0", undefined);
  const read: string[] = [];
  for (let step = walk.next(); step !== undefined; step = walk.next()) {
    read.push(step.url);
    const refusal = walk.add(String(Number(step.url) + 1), step);
    assert.equal(refusal, step.steps === 2 ? "sitemap_depth" : undefined);
  }
  assert.deepEqual(read, ["0", "1", "2"]);
});

test("a million names are five hundred files", () => {
  const walk = new SitemapWalk(SITEMAP_WALK_DEFAULTS);
  walk.add("index", undefined);
  const index = walk.next();
  for (let file = 0; file < 1_000_000; file++) walk.add(`${file}`, index);
  assert.equal(walk.add("one more", index), "sitemap_capped");
  let files = 1;
  while (walk.next() !== undefined) files += 1;
  assert.equal(files, 500);
});
