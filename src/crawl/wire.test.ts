import assert from "node:assert/strict";
import { test } from "node:test";
import { pageWith, type Served, SmallCrawl, type SmallWeb, urlOf } from "./small-crawl.suite.ts";
import { type LifeEvent, wire } from "./wire.ts";

test("events that change the whole crawl reach its life cycle, others their parts", () => {
  const crawl = new SmallCrawl({ web: { "http://a.example/": pageWith() } });
  const life: LifeEvent[] = [];
  const { context, admission } = wire(crawl.parts, new AbortController().signal, (event) => {
    life.push(event);
  });
  admission.admitSeeds();
  const [site] = context.sites.inMemory();
  assert.equal(site?.state, "locating", "a woken site is being located");
  context.emit({ kind: "quotaUsedUp", what: "quota" });
  context.emit({ kind: "idle" });
  assert.deepEqual(
    life.map(({ kind }) => kind),
    ["quotaUsedUp", "idle"],
  );
});

test("the hosts to which seeds redirected are in scope for a resumed crawl", async () => {
  const moved: Served = { status: 301, headers: [["location", "http://www.a.example/"]] };
  const web: SmallWeb = { "http://a.example/": moved, "http://www.a.example/": pageWith() };
  const first = new SmallCrawl({ web });
  await first.run();
  const { disk, clock } = first;
  const { scope, resumed } = new SmallCrawl({ web, disk, clock }).context();
  assert.equal(resumed, true);
  assert.equal(scope.decide(urlOf("http://www.a.example/new")).accepted, true);
  assert.equal(scope.decide(urlOf("http://b.example/")).accepted, false);
});

test("a fault in a part ends the crawl with its error, and what was committed stays", async () => {
  const web: SmallWeb = {};
  for (let at = 0; at < 9; at++) web[`http://a.example/${at}`] = pageWith(`/${at + 1}`) + at;
  const crawl = new SmallCrawl({ web, seeds: ["http://a.example/0"], settings: { delayMs: 1000 } });
  const { output } = crawl.parts;
  assert.ok(output !== undefined);
  const write = output.write.bind(output);
  output.write = (capture) => {
    if (capture.url.endsWith("/4")) throw new TypeError("a bug");
    return write(capture);
  };
  await assert.rejects(crawl.run(), /a bug/);
  await crawl.store.close();
  const { disk, clock } = crawl;
  const resumed = new SmallCrawl({ web, seeds: ["http://a.example/0"], disk, clock });
  assert.equal(resumed.store.totals.pages, 4);
  assert.equal((await resumed.run()).pages, 9);
});
