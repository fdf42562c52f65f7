import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../../base/random.ts";
import type { RequestEntry } from "../request-log.ts";
import { checkPoliteness, type PolitenessRules } from "./politeness.ts";

const RULES: PolitenessRules = {
  delayMs: 1000,
  crawlDelayMsOf: (site) => (site === "http://slow.test" ? 5000 : 0),
  addressDelayMs: 100,
  siteConcurrencyMax: 2,
  addressConcurrencyMax: 3,
  toleranceMs: 0,
  isForbidden: (url) => url.includes("/private/"),
};

test("a polite log has no violations", () => {
  const log = [
    request("http://a.test", 0),
    request("http://a.test", 1000),
    request("http://slow.test", 200),
    request("http://slow.test", 5200),
  ];
  assert.deepEqual(checkPoliteness(log, RULES), []);
});

test("planted: a request that is too early is caught, even when the log is out of order", () => {
  const log = [request("http://a.test", 1999), request("http://a.test", 1000)];
  assert.deepEqual(rules(log), ["site-delay"]);
  assert.deepEqual(rules([request("http://slow.test", 0), request("http://slow.test", 4000)]), [
    "site-delay",
  ]);
});

test("requests for robots.txt need only the crawler's own delay, because Crawl-delay may be unknown", () => {
  const again = { ...request("http://slow.test", 1000), path: "/robots.txt" };
  assert.deepEqual(rules([{ ...again, startMs: 0, endMs: 300 }, again]), []);
  assert.deepEqual(rules([{ ...again, startMs: 100, endMs: 300 }, again]), ["site-delay"]);
});

test("planted: simultaneous requests to two names on one address are caught", () => {
  const log = [request("http://a.test", 0), request("http://b.test", 50)];
  assert.deepEqual(rules(log), ["address-delay"]);
  const apart = [request("http://a.test", 0), { ...request("http://b.test", 50), address: "::1" }];
  assert.deepEqual(rules(apart), []);
});

test("planted: a third concurrent request is caught, a request after an end is not", () => {
  const log = [
    request("http://a.test", 0, 9000),
    request("http://a.test", 1000, 2500),
    request("http://a.test", 2000, 3000),
    request("http://a.test", 3000, 4000),
  ];
  assert.deepEqual(rules(log), ["site-crowd"]);
});

test("planted: a fourth concurrent request to one address is caught", () => {
  const log = [0, 1, 2, 3].map((site) => request(`http://s${site}.test`, site * 200, 9000));
  assert.deepEqual(rules(log), ["address-crowd"]);
});

test("planted: a request that never ended still counts as concurrent", () => {
  const log = [0, 1000, 2000].map((startMs) => request("http://a.test", startMs, Infinity));
  assert.deepEqual(rules(log), ["site-crowd"]);
});

test("planted: a request for a forbidden URL is caught", () => {
  const log = [{ ...request("http://a.test", 0), path: "/private/x" }];
  assert.deepEqual(rules(log), ["forbidden"]);
});

test("requests that are early by more than the tolerance are caught", () => {
  const log = [request("http://a.test", 0), request("http://a.test", 996)];
  const tolerant = { ...RULES, toleranceMs: 5 };
  assert.deepEqual(checkPoliteness(log, tolerant), []);
  const sooner = [request("http://a.test", 0), request("http://a.test", 994)];
  assert.equal(checkPoliteness(sooner, tolerant).length, 1);
});

test("one request moved to an earlier time in a polite log is caught", () => {
  for (let seed = 1; seed <= 50; seed++) {
    const random = randomFrom(seed);
    const log = Array.from({ length: 30 }, (_, at) => request("http://a.test", at * 1000));
    assert.deepEqual(rules(log), [], `seed ${seed}`);
    const place = 1 + below(random, log.length - 1);
    const moved = request("http://a.test", place * 1000 - 1 - below(random, 900));
    const planted = log.with(place, moved);
    assert.deepEqual(rules(planted), ["site-delay"], `seed ${seed}`);
  }
});

function request(site: string, startMs: number, endMs = startMs + 300): RequestEntry {
  return { site, address: "198.18.0.1", path: "/x", startMs, endMs, status: 200, whole: true };
}

function rules(log: readonly RequestEntry[]): string[] {
  return checkPoliteness(log, RULES).map(({ rule }) => rule);
}
