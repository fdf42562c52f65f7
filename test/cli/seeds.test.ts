/** Seeds that a rule refuses are named with the rule; a crawl without any seed is wrong usage. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { CrawlResult } from "../../src/control/snapshot.ts";
import { type Ended, run, temporaryFolder } from "./program.ts";
import { startSite } from "./small-site.ts";

const LOCAL = ["--allow-private", "127.0.0.0/8"];

async function crawl(...words: readonly string[]): Promise<Ended> {
  using folder = temporaryFolder();
  return await run(["crawl", ...words, "--out", join(folder.path, "out"), ...LOCAL]);
}

test("trap defences refuse no seed: a path that repeats, one of 30 segments, one over the budget", async () => {
  const paths = ["/qux/qux/qux/", `/${"a/b/c/".repeat(10)}`, "/n/1", "/n/2", "/n/3"];
  const special = Object.fromEntries(
    paths.map((path) => [path, (response: { end(text: string): void }) => response.end(path)]),
  );
  await using site = await startSite({ pageCount: 0, special });
  const seeds = paths.map((path) => site.origin + path);
  const { code, stdout } = await crawl(...seeds, "--json", "--pattern-budget", "1");
  assert.equal(code, 0);
  const { pages, outcomes } = JSON.parse(stdout) as CrawlResult;
  assert.equal(pages, 5);
  assert.deepEqual(outcomes, { ok: 5 });
});

test("a seed that a pattern refuses is named, and the others are crawled", async () => {
  await using site = await startSite({ pageCount: 1 });
  const { code, stdout } = await crawl(
    `${site.origin}/page/1`,
    `${site.origin}/print/9`,
    "--exclude",
    "*/print/*",
  );
  assert.equal(code, 0);
  assert.match(stdout, /1 seed is refused; change the seed or the pattern:/);
  assert.match(stdout, /\/print\/9 matches --exclude \*\/print\/\*/);
  assert.match(stdout, /Done: 1 page/);
});

test("a crawl none of whose seeds is admitted ends with 2, counts them and names the first", async () => {
  using folder = temporaryFolder();
  const seeds = Array.from({ length: 25 }, (_, index) => `http://127.0.0.1:8099/${index}`);
  const file = join(folder.path, "seeds.txt");
  writeFileSync(file, seeds.join("\n"));
  for (const more of [[], ["--procs", "2"], ["--json"]]) {
    const { code, stdout, stderr } = await crawl(
      "--seeds",
      file,
      "--include",
      "http://other.test/*",
      ...more,
    );
    assert.equal(code, 2, stderr);
    assert.equal(stdout, "");
    assert.match(stderr, /No seed may be crawled/);
    assert.match(stderr, /25 seeds are refused; change the seed or the pattern/);
    assert.match(stderr, /http:\/\/127.0.0.1:8099\/9 matches no --include pattern\n {2}…/);
    assert.doesNotMatch(stderr, /127.0.0.1:8099\/10 /);
    assert.match(stderr, /\(SEED_REFUSED\)/);
  }
});

test("when no seed is admitted, the bad lines of the seeds file are named beside the refused seeds", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "seeds.txt");
  writeFileSync(file, "http://127.0.0.1:8099/print/1\nnonsense\nhttp://10.1.1.1/\n");
  const { code, stderr } = await crawl("--seeds", file, "--exclude", "*/print/*");
  assert.equal(code, 2);
  assert.match(stderr, /2 bad lines in .*seeds\.txt, left out:\n {2}line 2: "nonsense" is not/);
  assert.match(stderr, /line 3: "http:\/\/10\.1\.1\.1\/" is a private or loopback address/);
  assert.match(stderr, /\/print\/1 matches --exclude/);
});

test("seeds that robots.txt or a redirect's target refuses are named with what would admit them", async () => {
  await using site = await startSite({
    pageCount: 0,
    special: {
      "/robots.txt": (response) => response.end("User-agent: *\nDisallow: /closed"),
      "/moved": (response) => response.writeHead(301, { location: "/print/1" }).end(),
    },
  });
  const seeds = [`${site.origin}/closed`, `${site.origin}/moved`];
  for (const procs of ["1", "2"]) {
    const words = [...seeds, "--exclude", "*/print/*", "--procs", procs];
    const told = await crawl(...words);
    assert.equal(told.code, 2, told.stdout + told.stderr);
    assert.match(told.stdout, /Ended without a page/);
    assert.match(told.stdout, /2 seeds refused:/);
    assert.match(
      told.stdout,
      /\/closed \(robots_denied.*\): robots.txt forbids it; --ignore-robots/,
    );
    assert.match(told.stdout, /\/moved \(out_of_scope, exclude \*\/print\/\*\): its redirect/);
    assert.match(told.stderr, /No seed was crawled/);
    const { stdout, stderr } = await crawl(...words, "--json");
    const { refusedSeeds } = JSON.parse(stdout) as CrawlResult;
    assert.equal(refusedSeeds.count, 2);
    assert.deepEqual(refusedSeeds.first.map(({ reason }) => reason).toSorted(), [
      "out_of_scope",
      "robots_denied",
    ]);
    assert.match(stderr, /2 seeds refused:/);
  }
});
