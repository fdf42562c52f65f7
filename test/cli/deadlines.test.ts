import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type Ended, run, start, temporaryFolder } from "./program.ts";
import { startSite } from "./small-site.ts";

interface Result {
  readonly sites: readonly {
    readonly site: string;
    readonly deadlineSeconds: number | null;
    readonly finishedSeconds: number | null;
    readonly met: boolean | null;
  }[];
}

const MANNERS = ["--allow-private", "127.0.0.0/8", "--delay", "0", "--no-warc", "--json"];

test("strict: a crawl whose deadlines cannot be met asks for nothing, says the rate that would do, and ends with 1", async () => {
  await using site = await startSite({ pageCount: 3 });
  using folder = temporaryFolder();
  const config = join(folder.path, "weir.yaml");
  writeFileSync(
    config,
    `limit: 1MB/s\nstrict: true\nsites:\n  - url: ${site.origin}/\n    size: 2GB\n    deadline: 100s\n`,
  );
  const words = ["crawl", "--config", config, "--out", join(folder.path, "out"), ...MANNERS];
  const refused = await run(words);
  assert.equal(refused.code, 1, refused.stderr);
  assert.match(refused.stderr, /will miss its deadline by 3\d min/);
  assert.match(refused.stderr, /DEADLINES_OUT_OF_REACH/);
  assert.match(refused.stderr, /2\d\.\d MB\/s would meet them all/);
  assert.ok(!refused.stderr.includes("    at "), refused.stderr);
  assert.deepEqual(site.requests, []);
  // The same folder goes on when it may, and its time begins only then.
  const done = await run([...words, "--no-strict"]);
  assert.equal(done.code, 0, done.stderr);
  assert.equal((JSON.parse(done.stdout) as Result).sites[0]?.met, true);
});

test("strict: a deadline that delays between requests forbid is refused, by the plan and by the crawl, cap or not", async () => {
  await using site = await startSite({ pageCount: 3 });
  using folder = temporaryFolder();
  const config = join(folder.path, "weir.yaml");
  writeFileSync(
    config,
    `limit: 10MB/s
strict: true
delay: 1s
addressDelay: 0
sites:
  - { url: "${site.origin}/", size: 400KB, pages: 40, cap: 5MB/s, deadline: 30s }
`,
  );
  const planned = await run(["plan", "--config", config], { folder: folder.path });
  assert.equal(planned.code, 1, planned.stderr + planned.stdout);
  assert.match(planned.stdout, /40 pages, robots\.txt and sitemap at its delay take 42 s/);
  const words = ["crawl", "--config", config, "--out", join(folder.path, "out")];
  const refused = await run([...words, "--json", "--allow-private", "127.0.0.0/8"]);
  assert.equal(refused.code, 1, refused.stderr);
  assert.match(refused.stderr, /will miss its deadline by 1\d s/);
  assert.match(refused.stderr, /DEADLINES_OUT_OF_REACH/);
  assert.deepEqual(site.requests, []);
});

test("strict: several processes refuse what one refuses, though each could keep its own deadline", async () => {
  await using first = await startSite({ pageCount: 3 });
  await using second = await startSite({ pageCount: 3 });
  using folder = temporaryFolder();
  const config = join(folder.path, "weir.yaml");
  const sites = [first, second].map(
    ({ origin }) => `  - url: ${origin}/\n    size: 80MB\n    deadline: 100s\n`,
  );
  writeFileSync(config, `limit: 1MB/s\nstrict: true\nsites:\n${sites.join("")}`);
  const crawl = (out: string, ...more: readonly string[]): Promise<Ended> =>
    run(["crawl", "--config", config, "--out", join(folder.path, out), ...MANNERS, ...more]);
  for (const [out, procs] of [
    ["one", "1"],
    ["two", "2"],
  ] as const) {
    const refused = await crawl(out, "--procs", procs);
    assert.equal(refused.code, 1, refused.stderr);
    assert.match(refused.stderr, /will miss its deadline by/);
    assert.match(refused.stderr, /DEADLINES_OUT_OF_REACH/);
    assert.match(refused.stderr, /1\.[67]\d? MB\/s would meet them all/);
  }
  assert.deepEqual([...first.requests, ...second.requests], []);
  const done = await crawl("two", "--procs", "2", "--no-strict");
  assert.equal(done.code, 0, done.stderr);
  // Said of the whole, and not of a process.
  assert.match(done.stderr, /will miss its deadline by [^\n=]*\n/);
  const kept = await crawl("three", "--procs", "2", "--limit", "2MB/s");
  assert.equal(kept.code, 0, kept.stderr);
  const { sites: told } = JSON.parse(kept.stdout) as Result;
  assert.deepEqual(
    told.map(({ met }) => met),
    [true, true],
  );
});

test("strict: names that shared an IP address in an earlier crawl share its delay, in the plan and in the crawl", async () => {
  await using site = await startSite({ pageCount: 12 });
  using folder = temporaryFolder();
  const { port } = new URL(site.origin);
  const config = join(folder.path, "weir.yaml");
  const sites = ["a", "b"].map((name) => `  - url: http://${name}.localhost:${port}/\n`);
  const settings = `limit: 10MB/s\ndelay: 0\nallowPrivate: 127.0.0.0/8\nsites:\n`;
  for (const procs of ["1", "2"]) {
    const where = ["--config", config, "--out", join(folder.path, procs), "--procs", procs];
    writeFileSync(config, settings + sites.join(""));
    const crawl = await run(["crawl", ...where, "--json"]);
    assert.equal(crawl.code, 0, crawl.stderr);
    // 13 pages, robots.txt and sitemap take 4.5 s at this delay: either site can be done in 6 s, but not both.
    const due = sites.map((line) => `${line}    deadline: 6s\n`);
    writeFileSync(config, `addressDelay: 300ms\nstrict: true\n${settings}${due.join("")}`);
    const before = site.requests.length;
    const planned = await run(["plan", ...where, "--refresh"]);
    assert.equal(planned.code, 1, planned.stderr + planned.stdout);
    assert.match(planned.stdout, /1 of 2 deadlines cannot be kept/);
    const refused = await run(["crawl", ...where, "--refresh"]);
    assert.equal(refused.code, 1, refused.stderr);
    assert.match(refused.stderr, /DEADLINES_OUT_OF_REACH/);
    assert.equal(site.requests.length, before);
  }
});

test("a deadline is told, kept, and can be given to a running crawl", async () => {
  await using site = await startSite({ pageCount: 40 });
  using folder = temporaryFolder();
  const out = join(folder.path, "out");
  const words = ["crawl", `${site.origin}/`, "--out", out, ...MANNERS, "--deadline", "50s"];
  const crawl = start([...words, "--delay", "100ms", "--concurrency-per-site", "1"]);
  await crawl.saw(/\d+ pages?,/);
  const answer = await run(["set", out, "deadline", `${site.origin}=45s`]);
  assert.equal(answer.code, 0, answer.stderr);
  assert.equal(answer.stdout, `${site.origin}: done within 45 s\n`);
  const stranger = await run(["set", out, "deadline", "http://stranger.test=45s"]);
  assert.equal(stranger.code, 2);
  assert.match(stranger.stderr, /this crawl has no site http:\/\/stranger\.test/);
  const ended = await crawl.ended;
  assert.equal(ended.code, 0, ended.stderr);
  const [result] = (JSON.parse(ended.stdout) as Result).sites;
  assert.equal(result?.deadlineSeconds, 45);
  assert.equal(result?.met, true);
});

test("deadlines that are open when the crawl is stopped are not called missed", async () => {
  await using slow = await startSite({ pageCount: 50 });
  await using silent = await startSite({ pageCount: 3, isSilent: true });
  using folder = temporaryFolder();
  const out = join(folder.path, "out");
  const words = [slow.origin, silent.origin, "--out", out, "--delay", "1s", "--limit", "1MB/s"];
  const local = ["--allow-private", "127.0.0.0/8", "--time", "1500ms"];
  const { code, stdout } = await run(["crawl", ...words, "--deadline", "1h", ...local]);
  assert.equal(code, 3, stdout);
  assert.match(stdout, /^ {2}2 deadlines still open$/m);
  assert.doesNotMatch(stdout, /deadlines? met|not done/);
  assert.match(readFileSync(join(out, "report.html"), "utf8"), /2 deadlines still open/);
  // A deadline that has passed is missed.
  const late = await run(["crawl", ...words, "--deadline", "1s", ...local]);
  assert.match(late.stdout, /^ {2}0 of 2 deadlines met$/m);
});
