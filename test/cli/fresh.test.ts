import assert from "node:assert/strict";
import { existsSync, globSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { run, start, temporaryFolder } from "./program.ts";
import { startSite } from "./small-site.ts";

const LOCAL = ["--allow-private", "127.0.0.0/8"];
const SPREAD = ["--partition", "url-hash"];
const THREE = ["--procs", "3", ...SPREAD];
const TWO = ["--procs", "2", ...SPREAD];
const CHANGES: readonly (readonly [
  what: string,
  before: readonly string[],
  after: readonly string[],
])[] = [
  ["three processes, then one", THREE, []],
  ["one process, then two", [], TWO],
  ["three processes, then two", THREE, TWO],
];

test("--fresh replaces a crawl by any number of processes with one by any other, and no other file", async () => {
  await using first = await startSite({ pageCount: 30 });
  await using second = await startSite({ pageCount: 5 });
  for (const [what, wordsBefore, wordsAfter] of CHANGES) {
    using folder = temporaryFolder();
    const out = join(folder.path, "out");
    const crawl = (origin: string, words: readonly string[]) =>
      run(["crawl", origin, "--out", out, ...words, ...LOCAL, "--json"]);
    const earlier = await crawl(first.origin, wordsBefore);
    assert.equal(earlier.code, 0, earlier.stderr);
    writeFileSync(join(out, "notes.txt"), "mine");
    const fresh = await crawl(second.origin, [...wordsAfter, "--fresh"]);
    assert.equal(fresh.code, 0, `${what}: ${fresh.stderr}`);
    assert.equal((JSON.parse(fresh.stdout) as { pages: number }).pages, 6, what);
    assert.ok(existsSync(join(out, "notes.txt")));
    const procs = wordsAfter.length === 0 ? 0 : Number(wordsAfter[1]);
    assert.equal(globSync(join(out, "proc-*")).length, procs, what);
    assert.equal(existsSync(join(out, "archive")), procs === 0, what);
    // What is left of the earlier crawl would show here.
    const exported = await run(["export", out, "--format", "jsonl"]);
    assert.equal(exported.code, 0, `${what}: ${exported.stderr}`);
    const lines = exported.stdout.trim().split("\n");
    assert.ok(lines.length === 6 && lines.every((line) => line.includes(second.origin)), what);
    const again = await crawl(second.origin, wordsAfter);
    assert.equal(again.code, 0, `${what}, resumed: ${again.stderr}`);
  }
});

test("--fresh touches nothing while the crawl by several processes runs", async () => {
  await using site = await startSite({ pageCount: 2_000 });
  using folder = temporaryFolder();
  const out = join(folder.path, "out");
  const words = ["crawl", site.origin, "--out", out, ...LOCAL];
  const crawl = start([...words, "--procs", "2", ...SPREAD, "--delay", "200ms", "--verbose"], {
    patienceMs: 300_000,
  });
  await crawl.saw(/settled/);
  for (const layout of [[], ["--procs", "3"]]) {
    const fresh = await run([...words, ...layout, "--fresh"]);
    assert.match(fresh.stderr, /STORE_LOCKED/);
    assert.notEqual(fresh.code, 0);
  }
  crawl.process.kill("SIGINT");
  const { code, stderr } = await crawl.ended;
  assert.equal(code, 3, stderr);
  const exported = await run(["export", out, "--format", "jsonl"]);
  assert.ok(exported.stdout.includes(`${site.origin}/`), exported.stderr);
  assert.equal(globSync(join(out, "proc-*")).length, 2);
});
