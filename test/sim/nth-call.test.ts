/**
 * The n-th call of one interface fails, for many n: the crawl pauses or retries, and nothing is lost. In virtual time,
 * so that many places of a crawl are reached; the checkers of the lab judge each crawl.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CrawlError, type ErrorCode } from "../../src/base/errors.ts";
import type { CrawlParts } from "../../src/crawl/context.ts";
import type { Fetcher, FetchRequest, FetchResult } from "../../src/fetch/fetcher.ts";
import { NO_TRAFFIC } from "../../src/fetch/transport.ts";
import { runSim } from "../../src/lab/run-sim.ts";
import type { Reason } from "../../src/page/outcome.ts";

/** The first call that fails, and how many in a row: one, or a trouble that lasts. */
const PLACES = [
  [1, 1],
  [1, 12],
  [2, 1],
  [3, 12],
  [5, 1],
  [8, 12],
  [13, 1],
  [21, 12],
  [34, 1],
] as const;
const WORLD = { siteCount: 4, pagesMin: 10, pagesMax: 20 };
const SETTINGS = { delayMs: 500 };

/** Wraps one interface of the crawl; `isHit` counts a call and tells whether it must fail. */
type Break = (parts: CrawlParts, isHit: () => boolean) => CrawlParts;

const BREAKS: readonly (readonly [what: string, break_: Break])[] = [
  ["a commit finds the disk full", (parts, isHit) => withCommit(parts, isHit, "DISK_FULL")],
  [
    "a commit finds no descriptor",
    (parts, isHit) => withCommit(parts, isHit, "DESCRIPTORS_USED_UP"),
  ],
  ["the archive finds the disk full", (parts, isHit) => withOutput(parts, isHit, "DISK_FULL")],
  [
    "the archive finds no descriptor",
    (parts, isHit) => withOutput(parts, isHit, "DESCRIPTORS_USED_UP"),
  ],
  ["a request finds no descriptor", (parts, isHit) => withFetch(parts, isHit, "local_resource")],
  ["a connection is refused", (parts, isHit) => withFetch(parts, isHit, "connect_refused")],
  ["there is no route", (parts, isHit) => withFetch(parts, isHit, "connect_error")],
  ["a connection is reset", (parts, isHit) => withFetch(parts, isHit, "conn_reset")],
  ["a look-up finds no descriptor", (parts, isHit) => withLookUp(parts, isHit, "local_resource")],
  ["a look-up is not answered", (parts, isHit) => withLookUp(parts, isHit, "dns_timeout")],
];

for (const [what, break_] of BREAKS)
  test(`${what}, at the n-th call: nothing is lost`, async () => {
    let hits = 0;
    for (const [first, length] of PLACES) {
      let calls = 0;
      const isHit = (): boolean => {
        calls += 1;
        const isOne = calls >= first && calls < first + length;
        if (isOne) hits += 1;
        return isOne;
      };
      const plant = (parts: CrawlParts): CrawlParts => break_(parts, isHit);
      const report = await runSim({ seed: first, world: WORLD, settings: SETTINGS, plant });
      const where = `${length} from call ${first}`;
      // A page that finds no room in the archive is fetched again.
      const isForgiven = what.startsWith("the archive");
      const broken = report.violations.filter(
        ({ rule }) => !(isForgiven && rule === "fetched-twice"),
      );
      assert.deepEqual(broken, [], where);
      assert.equal(report.result?.complete, true, where);
    }
    assert.ok(hits > 20, `only ${hits} calls failed`);
  });

function withCommit(parts: CrawlParts, isHit: () => boolean, code: ErrorCode): CrawlParts {
  const { store } = parts;
  const commit = store.commit.bind(store);
  store.commit = (batch) => {
    if (isHit()) throw new CrawlError(code, "injected");
    commit(batch);
  };
  return parts;
}

function withOutput(parts: CrawlParts, isHit: () => boolean, code: ErrorCode): CrawlParts {
  const { output } = parts;
  assert.ok(output !== undefined);
  const write: typeof output.write = (capture) =>
    isHit() ? Promise.reject(new CrawlError(code, "injected")) : output.write(capture);
  return { ...parts, output: { ...output, write } };
}

function withFetch(parts: CrawlParts, isHit: () => boolean, reason: Reason): CrawlParts {
  const { fetcher, clock } = parts;
  const fetch = fetcher.fetch.bind(fetcher);
  const failed = (): FetchResult => ({
    kind: "failed",
    reason,
    detail: "injected",
    reply: undefined,
    atMs: clock.wallMs(),
    durationMs: 0,
    address: "",
    traffic: NO_TRAFFIC,
  });
  fetcher.fetch = (request: FetchRequest) => (isHit() ? Promise.resolve(failed()) : fetch(request));
  return { ...parts, fetcher: fetcher as Fetcher };
}

function withLookUp(
  parts: CrawlParts,
  isHit: () => boolean,
  reason: "local_resource" | "dns_timeout",
): CrawlParts {
  const { resolver } = parts;
  assert.ok(resolver !== undefined);
  const resolve: typeof resolver.resolve = (host, port) =>
    isHit()
      ? Promise.resolve({ kind: "failed", reason, detail: "injected" })
      : resolver.resolve(host, port);
  return { ...parts, resolver: { resolve } };
}
