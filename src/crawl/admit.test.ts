import assert from "node:assert/strict";
import { test } from "node:test";
import { randomFrom } from "../base/random.ts";
import { Admission } from "./admit.ts";
import { candidateOf, type Origin } from "./candidate.ts";
import { Queue } from "./queue.ts";
import { pageWith, SmallCrawl, type SmallPlan, type SmallWeb, urlOf } from "./small-crawl.suite.ts";

const HOME = "http://a.example/";
const SEED: Origin = {
  depth: 0,
  from: undefined,
  fromDomain: undefined,
  redirectedFromId: 0,
  redirects: 0,
};
const LINK: Origin = { ...SEED, depth: 1, from: urlOf(HOME), fromDomain: "a.example" };

test("invariant 1: a URL enters once, however often and in whatever order it is found", () => {
  for (let seed = 1; seed <= 50; seed++) {
    const random = randomFrom(seed);
    const { admission, context } = newAdmission();
    const found = new Set<string>();
    for (let step = 0; step < 60; step++) {
      const paths = Array.from({ length: 3 }, () => `/p${Math.floor(random.next() * 25)}`);
      const fresh = new Set(paths.filter((path) => !found.has(path)));
      assert.equal(admit(admission, paths), fresh.size, `seed ${seed}, step ${step}`);
      for (const path of paths) found.add(path);
      if (random.next() < 0.2) assert.ok(context.batch.commit());
    }
    assert.equal(context.counters.known, found.size, `seed ${seed}`);
    assert.equal(context.sites.of("http://a.example").pending, found.size, `seed ${seed}`);
  }
});

test("a URL out of scope is refused with its rule; a seed is never out of scope", () => {
  const { admission, context } = newAdmission();
  assert.equal(admission.admit([candidate("http://b.example/")], LINK), 0);
  assert.deepEqual(context.counters.totals(0).refusedLinks, { "outside site": 1 });
  assert.equal(admission.admit([candidate("http://b.example/")], SEED), 1);
  // The new host is in scope now.
  assert.equal(admission.admit([candidate("http://b.example/next")], LINK), 1);
});

test("a URL that is too deep can still be found by a shorter path", () => {
  const { admission, context } = newAdmission({ settings: { depthMax: 2 } });
  const deep = [candidate("http://a.example/deep")];
  assert.equal(admission.admit(deep, { ...LINK, depth: 3 }), 0);
  assert.deepEqual(context.counters.totals(0).refusedLinks, { depth: 1 });
  assert.equal(admission.admit(deep, { ...LINK, depth: 2 }), 1);
});

test("a hook sees every new link once, and what it refuses is counted", () => {
  const seen: string[] = [];
  const onLink = (url: string): boolean => {
    seen.push(url);
    return !url.endsWith(".pdf");
  };
  const { admission, context } = newAdmission({ hooks: { onLink } });
  assert.equal(admit(admission, ["/a.pdf", "/b"]), 1);
  assert.deepEqual(seen, ["http://a.example/a.pdf", "http://a.example/b"]);
  assert.deepEqual(context.counters.totals(0).refusedLinks, { hook: 1 });
});

test("scores decide which URL of a site is requested first", async () => {
  const links = ["/1", "/2", "/3", "/4"];
  const web: SmallWeb = { [HOME]: pageWith(...links) };
  for (const link of links) web[`http://a.example${link}`] = pageWith();
  const score = ({ url }: { readonly url: string }): number => Number(url.at(-1)) || 0;
  const crawl = new SmallCrawl({ web, hooks: { score }, settings: { delayMs: 1000 } });
  await crawl.run();
  assert.deepEqual(crawl.pathsRequested, ["/", "/4", "/3", "/2", "/1"]);
});

test("the request uses the URL as written, and its canonical form is known", async () => {
  const web: SmallWeb = {
    [HOME]: pageWith("/%7euser/?", "/~user/?"),
    "http://a.example/%7euser/?": pageWith(),
  };
  const crawl = new SmallCrawl({ web });
  const { pages, urls } = await crawl.run();
  assert.deepEqual([pages, urls.known], [2, 2]);
  assert.equal(crawl.requests.at(-1)?.url, "http://a.example/%7euser/?");
});

test("URLs of another process that has fetched them end as they arrive", () => {
  const { admission, context } = newAdmission();
  admission.addEnded(candidate("http://a.example/x"), LINK);
  const site = context.sites.of("http://a.example");
  assert.deepEqual([site.known, site.pending, context.counters.outcome("elsewhere")], [1, 0, 1]);
});

function newAdmission(plan: SmallPlan = {}) {
  const crawl = new SmallCrawl({ seeds: [HOME], ...plan });
  const context = crawl.context();
  return { crawl, context, admission: new Admission(context, new Queue(context), undefined) };
}

function admit(admission: Admission, paths: readonly string[]): number {
  return admission.admit(
    paths.map((path) => candidate(`http://a.example${path}`)),
    LINK,
  );
}

function candidate(url: string) {
  return candidateOf({ url: urlOf(url), written: undefined });
}
