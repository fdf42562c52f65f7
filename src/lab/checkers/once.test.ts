import assert from "node:assert/strict";
import { test } from "node:test";
import type { RequestEntry } from "../request-log.ts";
import { checkOnce, type OnceEvidence } from "./once.ts";

const CLEAN: OnceEvidence = {
  log: [
    fetched("/a", 0),
    fetched("/b", 1000),
    fetched("/robots.txt", 0),
    fetched("/robots.txt", 9),
  ],
  stored: ["http://a.test/a", "http://a.test/b"],
  crashedAtMs: [],
  uncommittedMax: 2,
  mayRepeat: (path) => path === "/robots.txt",
};

test("pages fetched once have no violations", () => {
  assert.deepEqual(checkOnce(CLEAN), []);
});

test("a request that failed, was deferred or was incomplete may be repeated", () => {
  const log = [
    fetched("/a", 0, 503),
    fetched("/a", 1000, 429),
    { ...fetched("/a", 2000), whole: false },
    fetched("/a", 3000),
  ];
  assert.deepEqual(checkOnce({ ...CLEAN, log }), []);
});

test("planted: a page fetched twice is caught", () => {
  assert.deepEqual(rules({ log: [...CLEAN.log, fetched("/a", 5000)] }), ["fetched-twice"]);
});

test("planted: a repeated request after a final error is caught", () => {
  const log = [fetched("/a", 0, 404), fetched("/a", 1000, 404)];
  assert.deepEqual(rules({ log }), ["fetched-twice"]);
});

test("a crash between two fetches permits one repeat", () => {
  const log = [fetched("/a", 0), fetched("/a", 1000)];
  assert.deepEqual(rules({ log, crashedAtMs: [500] }), []);
  assert.deepEqual(rules({ log, crashedAtMs: [1500] }), ["fetched-twice"]);
  const thrice = [...log, fetched("/a", 2000)];
  assert.deepEqual(rules({ log: thrice, crashedAtMs: [500] }), ["fetched-twice"]);
});

test("planted: more repeats after a crash than can have been uncommitted are caught", () => {
  const paths = ["/a", "/b", "/c"];
  const log = [
    ...paths.map((path) => fetched(path, 0)),
    ...paths.map((path) => fetched(path, 900)),
  ];
  assert.deepEqual(rules({ log, crashedAtMs: [500] }), ["too-many-repeats"]);
});

test("planted: a page stored twice is caught", () => {
  const stored = [...CLEAN.stored, "http://a.test/a"];
  assert.deepEqual(rules({ stored }), ["stored-twice"]);
});

function fetched(path: string, startMs: number, status = 200): RequestEntry {
  const endMs = startMs + 100;
  return { site: "http://a.test", address: "::1", path, startMs, endMs, status, whole: true };
}

function rules(planted: Partial<OnceEvidence>): string[] {
  return checkOnce({ ...CLEAN, ...planted }).map(({ rule }) => rule);
}
