import assert from "node:assert/strict";
import { test } from "node:test";
import type { SiteView } from "../control/snapshot.ts";
import { openMemoryStore } from "../store/sqlite/store-sqlite.ts";
import { NO_TOTALS } from "../store/store.ts";
import { emptyBatch, makeSite, makeUrl } from "../store/store.suite.ts";
import { isOpen, standingWords } from "./deadline-standing.ts";
import { hasEnded, rememberPagesUsedUp } from "./last-run.ts";

function site(change: Partial<SiteView>): SiteView {
  const news = { changed: 0, unchanged: 0, fresh: 0, gone: 0, left: 0 };
  return {
    site: "http://site-1.example:80",
    known: 2,
    pending: 1,
    pages: 1,
    bytes: 900,
    inFlight: 0,
    state: "idle",
    nextInMs: 0,
    priority: 1,
    round: { number: 1, news, nextInMs: undefined },
    forecast: undefined,
    deadlineMs: undefined,
    finishedMs: undefined,
    ...change,
  };
}

test("a deadline is open until its site is done or its time is over", () => {
  const now = { elapsedMs: 60_000 };
  assert.equal(isOpen(site({}), now), false);
  assert.equal(isOpen(site({ deadlineMs: 90_000 }), now), true);
  assert.equal(isOpen(site({ deadlineMs: 60_000 }), now), false);
  assert.equal(isOpen(site({ deadlineMs: 90_000, finishedMs: 50_000 }), now), false);
});

test("open deadlines are counted apart from met and missed ones", () => {
  assert.equal(standingWords({ met: 2, missed: 1, open: 0 }), "2 of 3 deadlines met");
  assert.equal(
    standingWords({ met: 1, missed: 0, open: 1 }),
    "1 of 1 deadline met, 1 deadline still open",
  );
  assert.equal(standingWords({ met: 0, missed: 0, open: 2 }), "2 deadlines still open");
});

test("a run has ended when no URL waits, or when all permitted pages are fetched", async () => {
  const store = openMemoryStore();
  assert.equal(hasEnded(store), false, "nothing was crawled");
  const commit = (
    totals: object,
    settled: { id: number; reason: "ok"; attempts: number }[],
  ): void =>
    store.commit({ ...emptyBatch(), settled, totals: { ...NO_TOTALS, known: 2, ...totals } });
  store.commit({
    ...emptyBatch(),
    sites: [makeSite(1)],
    urls: [makeUrl(1, 1, 0), makeUrl(2, 1, 0)],
    totals: { ...NO_TOTALS, known: 2 },
  });
  commit({ done: 1 }, [{ id: 1, reason: "ok", attempts: 1 }]);
  assert.equal(hasEnded(store), false);
  rememberPagesUsedUp(store, true);
  assert.equal(hasEnded(store), true);
  rememberPagesUsedUp(store, false);
  assert.equal(hasEnded(store), false);
  commit({ done: 2 }, [{ id: 2, reason: "ok", attempts: 1 }]);
  assert.equal(hasEnded(store), true);
  await store.close();
});
