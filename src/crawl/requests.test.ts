import assert from "node:assert/strict";
import { test } from "node:test";
import { randomFrom } from "../base/random.ts";
import type { Turn } from "../frontier/politeness.ts";
import type { WaitingUrl } from "../store/store.ts";
import { fileRequest, PHASES, type Request, requestFor, Requests, retryFor } from "./requests.ts";
import type { Site } from "./site.ts";
import { addUrl, SmallCrawl } from "./small-crawl.suite.ts";

const TAKEN = { turn: {} as Turn, overtaken: 0, passedOverMs: 0 };

test("a request goes through its phases in order, and a step out of order stops the program", () => {
  const { requests, site, row } = oneUrl();
  const request = requests.begin(site, { ...TAKEN, entry: requestFor(row) });
  assert.equal(request.phase, "sent");
  assert.throws(() => requests.end(request, "recorded"), /phases in order/);
  requests.answer(request, 10);
  assert.throws(() => requests.answer(request, 10), /phases in order/);
  requests.end(request, "recorded");
  requests.commit();
  assert.equal(request.phase, "committed");
  assert.deepEqual(PHASES[request.phase], []);
});

test("counts are those of the requests in each phase, and end at zero", () => {
  for (let seed = 1; seed <= 100; seed++) {
    const random = randomFrom(seed);
    const { requests, site, row } = oneUrl();
    const open: Request[] = [];
    for (let step = 0; step < 80; step++) {
      const chance = random.next();
      const one = open[Math.floor(random.next() * open.length)];
      if (chance < 0.4 || one === undefined) {
        const isFile = random.next() < 0.3;
        const file = fileRequest(step + 1, { kind: "robots", url: "" });
        const entry = isFile ? file : requestFor({ ...row, id: step + 1 });
        open.push(requests.begin(site, { ...TAKEN, entry }));
      } else if (one.phase === "sent") requests.answer(one, 7);
      else {
        requests.end(one, random.next() < 0.5 ? "recorded" : "queued");
        open.splice(open.indexOf(one), 1);
      }
      const countOf = (phase: string): number => open.filter((each) => each.phase === phase).length;
      assert.deepEqual(
        [requests.sent, requests.answered, requests.answeredBytes, requests.urls, site.uses],
        [
          countOf("sent"),
          countOf("answered"),
          7 * countOf("answered"),
          open.filter(({ file }) => file === undefined).length,
          open.length,
        ],
        `seed ${seed}, step ${step}`,
      );
    }
    for (const one of open) {
      if (one.phase === "sent") requests.answer(one, 7);
      requests.end(one, "recorded");
    }
    assert.equal(requests.isQuiet && site.uses === 0, true, `seed ${seed}`);
  }
});

test("a page from another process is in progress, and was never sent from here", () => {
  const { requests, site, row } = oneUrl();
  const request = requests.beginImport(site, row);
  assert.deepEqual(
    [request.phase, requests.sent, requests.isUnderWay(row.id)],
    ["answered", 0, true],
  );
  assert.throws(() => requests.beginImport(site, row), /once at a time/);
  requests.end(request, "recorded");
  assert.deepEqual([requests.isUnderWay(row.id), requests.answered, site.uses], [false, 0, 0]);
});

test("files of a site go before its pages, and retries behind them", () => {
  const { row } = oneUrl();
  const file = fileRequest(1, { kind: "robots", url: "" });
  assert.ok(file.score > requestFor(row).score && file.id < 0);
  assert.deepEqual([retryFor(row, 9).isRetry, retryFor(row, 9).notBeforeMs], [true, 9]);
});

function oneUrl(): { requests: Requests; site: Site; row: WaitingUrl } {
  const context = new SmallCrawl().context();
  return { requests: context.requests, ...addUrl(context, "http://a.example/") };
}
