/** What several processes left, read as one crawl: the same as one process leaves. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { checkAccounts } from "../../src/lab/checkers/accounts.ts";
import { runTeam, type TeamPlan, type TeamReport } from "../../src/lab/run-team.ts";
import { joinStores } from "../../src/store/joined/joined-view.ts";
import type { ReadableStore } from "../../src/store/store.ts";

const WORLD = { siteCount: 6, pagesMax: 20 };
/** Some sites of these worlds are so slow that a page takes minutes. */
const PATIENT = { totalTimeoutMs: 3_600_000, idleTimeoutMs: 600_000, firstByteTimeoutMs: 600_000 };

test("however the web was divided, the joined books are those of a single crawl", async () => {
  for (let seed = 200; seed < 206; seed++) {
    const alone = joined(await crawled({ seed, procs: 1 }));
    const team = joined(
      await crawled({
        seed,
        procs: 2 + (seed % 3),
        partition: seed % 3 === 0 ? "url-hash" : "site-hash",
        coordination: seed % 3 === 1 ? "dynamic" : "static",
      }),
    );
    assert.deepEqual(checkAccounts(team), [], `seed ${seed}`);
    assert.deepEqual(endsOf(team), endsOf(alone), `seed ${seed}`);
    const ids = Array.from(team.urls(), ({ id }) => id);
    assert.deepEqual(
      ids,
      [...ids.keys()].map((at) => at + 1),
      `seed ${seed}`,
    );
    assert.deepEqual(pagesOf(team), pagesOf(alone), `seed ${seed}`);
    assert.deepEqual(sitesOf(team), sitesOf(alone), `seed ${seed}`);
    assert.deepEqual(sums(team), sums(alone), `seed ${seed}`);
  }
});

test("pages that several fetched are listed once, and the accounts add up", async () => {
  let repeated = 0;
  for (let seed = 210; seed < 214; seed++) {
    const report = await crawled({ seed, procs: 3, mode: "cross-over" });
    const team = joined(report);
    assert.deepEqual(checkAccounts(team), [], `seed ${seed}`);
    const urls = Array.from(team.pages(), ({ id }) => team.url(id)?.url);
    assert.equal(new Set(urls).size, urls.length, `seed ${seed}`);
    const got = new Set(report.books.flatMap((one) => [...pagesOf(one).keys()]));
    assert.deepEqual(new Set(urls), got, `seed ${seed}`);
    const downloaded = report.books.reduce((sum, { totals }) => sum + totals.pages, 0);
    repeated += downloaded - team.totals.pages;
  }
  assert.ok(repeated > 0, "some pages were fetched by several");
});

function crawled(plan: Partial<TeamPlan> & { readonly seed: number }): Promise<TeamReport> {
  return runTeam({ settings: PATIENT, world: WORLD, ...plan });
}

function joined({ books }: TeamReport): ReadableStore {
  return joinStores(books.map((store, index) => ({ name: `proc-${index + 1}`, store })));
}

function endsOf(store: ReadableStore): Map<string, string | undefined> {
  return new Map(Array.from(store.urls(), ({ url, reason }) => [url, reason]));
}

/** By URL: its content, and the site it is counted with. */
function pagesOf(store: ReadableStore): Map<string, string> {
  return new Map(
    Array.from(store.pages(), ({ id, digest }) => {
      return [store.url(id)?.url ?? "", Buffer.from(digest).toString("hex")];
    }),
  );
}

function sitesOf(store: ReadableStore): Map<string, readonly number[]> {
  return new Map(
    Array.from(store.sites(), ({ key, known, pending, pages }) => [key, [known, pending, pages]]),
  );
}

function sums({ totals }: ReadableStore): object {
  const { known, done, failed, skipped, pages, outcomes, remarks } = totals;
  return { known, done, failed, skipped, pages, outcomes, remarks };
}
