import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openServerFile } from "../../src/store/sqlite/server-file.ts";
import { ROOT, run, temporaryFolder } from "./program.ts";
import { startSite } from "./small-site.ts";

const EXAMPLE = join(ROOT, "examples/plan.yaml");

interface Site {
  readonly site: string;
  readonly bytes: number | null;
  readonly deadlineSeconds: number | null;
  readonly finishSeconds: number | null;
  readonly met: boolean | null;
  readonly segments: readonly { from: number; to: number; rateBps: number }[];
  readonly finishP5Seconds: number | null;
  readonly finishP95Seconds: number | null;
  readonly capBps: number | null;
  readonly sizeFrom: string | null;
  readonly capFrom: string | null;
  readonly leftOut: string | null;
}

interface Result {
  readonly feasible: boolean;
  readonly algorithm: string;
  readonly objective: string;
  readonly maxSeconds: number | null;
  readonly sumSeconds: number | null;
  readonly lowerBoundSumSeconds: number;
  readonly minimumRateBps: number | null;
  readonly impossible: string | null;
  readonly late: readonly { site: string; bySeconds: number }[];
  readonly hopeless: readonly string[];
  readonly easiestMove: { site: string; toSeconds: number } | null;
  readonly sites: readonly Site[];
}

async function planned(words: readonly string[], folder: string, code = 0): Promise<Result> {
  const ended = await run(["plan", "--json", ...words], { folder });
  assert.equal(ended.code, code, ended.stderr);
  return JSON.parse(ended.stdout) as Result;
}

function fileIn(folder: string, text: string): string[] {
  const file = join(folder, "weir.yaml");
  writeFileSync(file, text);
  return ["--config", file];
}

function near(actual: number | null | undefined, expected: number): void {
  assert.ok(Math.abs((actual ?? NaN) / expected - 1) < 1e-6, `${actual} is not nearly ${expected}`);
}

test("two sites that constant rates cannot serve are planned one after the other", async () => {
  using folder = temporaryFolder();
  const file = fileIn(
    folder.path,
    `limit: 1MB/s
delay: 0
addressDelay: 0
sites:
  - { url: http://b.test/, size: 10MB, deadline: 20s }
  - { url: http://a.test/, size: 10MB, deadline: 10s }
`,
  );
  const plan = await planned(file, folder.path);
  assert.equal(plan.feasible, true);
  assert.deepEqual([plan.algorithm, plan.objective], ["optimal", "min-sum"]);
  near(plan.maxSeconds, 20);
  near(plan.sumSeconds, 30);
  near(plan.lowerBoundSumSeconds, 30);
  near(plan.minimumRateBps, 1e6);
  const [b, a] = plan.sites;
  assert.deepEqual(
    [a?.site, a?.bytes, a?.deadlineSeconds, a?.met],
    ["http://a.test", 1e7, 10, true],
  );
  near(a?.finishSeconds, 10);
  near(b?.finishSeconds, 20);
  assert.deepEqual(a?.segments, [{ from: 0, to: 10, rateBps: 1e6 }]);

  const paper = await planned([...file, "--algorithm", "m-maxt"], folder.path);
  assert.equal(paper.feasible, false);
  assert.notEqual(paper.impossible, null);
  assert.deepEqual(paper.sites[0]?.segments, []);
});

test("as crawled: packets are paid for, the limit is filled to 99 %, robots.txt come first, and time is kept in hand", async () => {
  using folder = temporaryFolder();
  const text = `limit: 1MB/s
packetOverhead: 10%
delay: 0
addressDelay: 0
sites:
  - { url: http://large.test/, size: 10MB, deadline: 20s }
  - { url: http://small.test/, size: 5MB }
`;
  const file = fileIn(folder.path, text);
  const asked = await planned(file, folder.path);
  const [, smallFirst] = asked.sites;
  near(smallFirst?.finishSeconds, 5);
  const crawled = await planned([...file, "--as-crawled"], folder.path);
  const payloadBps = (1e6 * 0.99) / 1.1;
  const robotsSeconds = 0.1 + 2000 / payloadBps;
  near(crawled.maxSeconds, robotsSeconds + 15e6 / payloadBps);
  const [large, small] = crawled.sites;
  // 5 % of its time and a moment more: the small site no longer fits before the large one in full.
  const latest = 20 * 0.95 - 0.8;
  assert.ok((large?.finishSeconds ?? Infinity) <= latest + 1e-6, `${large?.finishSeconds}`);
  assert.ok((small?.finishSeconds ?? 0) > 5e6 / payloadBps - 1e-6);
  assert.equal(large?.met, true);
  assert.ok(crawled.lowerBoundSumSeconds <= (crawled.sumSeconds ?? 0) + 1e-6);
});

test("the example's one impossible deadline is named, with what would have to change", async () => {
  using folder = temporaryFolder();
  const plan = await planned(["--config", EXAMPLE], folder.path);
  assert.equal(plan.feasible, false);
  assert.deepEqual(plan.hopeless, ["https://mirror.example"]);
  assert.equal(plan.late.length, 1);
  near(plan.late[0]?.bySeconds, 160);
  assert.equal(plan.minimumRateBps, null);
  near(plan.easiestMove?.toSeconds, 400);
  for (const { bytes, segments } of plan.sites)
    near(
      segments.reduce((sum, { from, to, rateBps }) => sum + (to - from) * rateBps, 0),
      bytes ?? 0,
    );

  const svg = join(folder.path, "plan.svg");
  const text = await run(["plan", "--config", EXAMPLE, "--svg", svg], { folder: folder.path });
  assert.equal(text.code, 0);
  assert.match(text.stdout, /mirror\.example +✗ +7 min 40 s +5 min 0 s +−2 min 40 s/);
  assert.match(text.stdout, /news\.example +✓/);
  assert.match(text.stdout, /1 of 4 deadlines cannot be kept at 1\.00 MB\/s/);
  assert.match(text.stdout, /Or move one deadline: https:\/\/mirror\.example to 6 min 40 s/);
  assert.match(text.stdout, /░▒▓█ low to high rate {3}│ deadline/);
  assert.doesNotMatch(text.stdout, /\x1b/);
  assert.match(readFileSync(svg, "utf8"), /^<svg [\s\S]*mirror\.example[\s\S]*<\/svg>\n$/);
});

test("infeasible is no failure unless strict, and then 1; a bad site stops nobody unless strict, and then 2", async () => {
  using folder = temporaryFolder();
  const place = { folder: folder.path };
  const strict = await run(["plan", "--config", EXAMPLE, "--strict"], place);
  assert.equal(strict.code, 1, strict.stderr);
  const text = `limit: 1MB/s
delay: 100ms
sites:
  - { url: http://a.test/, size: 1MB, deadline: -5m }
  - { url: http://b.test/, size: 2MB, deadline: 1m }
`;
  const file = fileIn(folder.path, text);
  const lenient = await run(["plan", "--json", ...file], place);
  assert.equal(lenient.code, 0);
  assert.match(lenient.stderr, /line 4: deadline "-5m": is in the past.*ignored/);
  const { sites } = JSON.parse(lenient.stdout) as Result;
  assert.deepEqual(
    sites.map(({ deadlineSeconds, met }) => [deadlineSeconds, met]),
    [
      [null, true],
      [60, true],
    ],
  );
  const refused = await run(["plan", "--strict", ...file], place);
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /is in the past.*\n.*SETTINGS_INVALID/);
});

test("what is missing is named with its remedy", async () => {
  using folder = temporaryFolder();
  const place = { folder: folder.path };
  const unknown =
    "delay: 0\naddressDelay: 0\nsites:\n  - http://a.test/\n  - { url: http://b.test/, size: 1MB }\n";
  const limited = await run(["plan", ...fileIn(folder.path, unknown), "--limit=1MB/s"], place);
  assert.equal(limited.code, 0);
  assert.match(
    limited.stdout,
    /1 site is not in the plan:\n {2}http:\/\/a\.test: its size is unknown/,
  );
  const unlimited = await run(["plan", ...fileIn(folder.path, unknown)], place);
  assert.equal(unlimited.code, 2);
  assert.match(unlimited.stderr, /limit: no total rate; set --limit, or a cap for/);
  const none = await run(["plan", "--limit=1MB/s", "--config", join(folder.path, "none")], place);
  assert.equal(none.code, 2);
  const empty = await run(["plan", "--limt=1MB/s"], place);
  assert.equal(empty.code, 2);
  assert.match(empty.stderr, /--limt is unknown; did you mean --limit\?/);
  const nowhere = join(folder.path, "no", "plan.svg");
  const drawn = await run(["plan", "--config", EXAMPLE, "--svg", nowhere], place);
  assert.equal(drawn.code, 2);
  assert.match(drawn.stderr, /Cannot write .*plan\.svg/);
});

test("sizes come from the crawl in the folder, and caps and bands from measured speeds", async () => {
  await using site = await startSite({ pageCount: 5 });
  using folder = temporaryFolder();
  const out = join(folder.path, "out");
  const local = ["--allow-private", "127.0.0.0/8", "--out", out];
  const crawl = await run(["crawl", site.origin, "--json", ...local], { folder: folder.path });
  assert.equal(crawl.code, 0, crawl.stderr);
  const { bytes } = JSON.parse(crawl.stdout) as { bytes: number };
  const speeds = join(folder.path, "speeds.db");
  {
    await using file = openServerFile(speeds, { serversMax: 10 });
    const row = {
      address: "127.0.0.1",
      sites: [site.origin],
      lastAtMs: Date.now(),
      workingCount: 50,
      holidayCount: 50,
      workingHours: 0xffffff,
      holidayHours: 0xffffff,
      bps: new Float32Array(48).fill(100),
      scatter: { mean: 0.2, most: 1 },
    };
    assert.equal(await file.save([row]), true);
  }
  const words = [site.origin, "--limit=1MB/s", "--concurrency-per-site=2", "--out", out];
  const plan = await planned([...words, "--deadline=1h", "--speeds", speeds], folder.path);
  const [planned1] = plan.sites;
  assert.deepEqual([planned1?.bytes, planned1?.sizeFrom], [bytes, "earlier"]);
  assert.deepEqual([planned1?.capBps, planned1?.capFrom], [200, "speeds"]);
  near(planned1?.finishSeconds, bytes / 200);
  const { finishP5Seconds, finishP95Seconds, finishSeconds } = planned1 as Site;
  // σ = 0.2·√(π/2) = 0.25, and exp(1.645·0.25) = 1.51.
  const low = (finishP5Seconds ?? 0) / (finishSeconds ?? 1);
  const high = (finishP95Seconds ?? 0) / (finishSeconds ?? 1);
  assert.ok(low > 0.55 && low < 0.8 && high > 1.3 && high < 1.75, `${low} to ${high}`);
});

test("a recrawl does not make a site larger in the plan", async () => {
  await using site = await startSite({ pageCount: 30 });
  using folder = temporaryFolder();
  for (const spread of [[], ["--procs", "2", "--partition", "url-hash"]]) {
    const words = [site.origin, "--out", join(folder.path, `out${spread.length}`)];
    const bytesPlanned = async (...more: readonly string[]): Promise<number> => {
      const crawl = ["crawl", ...words, ...spread, ...more, "--allow-private", "127.0.0.0/8"];
      const { code, stderr } = await run([...crawl, "--json"], { folder: folder.path });
      assert.equal(code, 0, stderr);
      const plan = await planned([...words, "--limit", "1MB/s", "--refresh"], folder.path);
      return plan.sites[0]?.bytes ?? 0;
    };
    const first = await bytesPlanned();
    for (const time of ["second", "third"]) {
      const again = await bytesPlanned("--refresh");
      assert.ok(again > 0.5 * first && again <= first, `${spread.join(" ")}, ${time}: ${again}`);
    }
  }
});

test("help has examples, and the command is in the list", async () => {
  const help = await run(["plan", "--help"]);
  assert.equal(help.code, 0);
  assert.match(help.stdout, /weir plan --config weir\.yaml\n[\s\S]*--svg FILE[\s\S]*--max-sites N/);
  assert.match(
    (await run(["--help"])).stdout,
    /^ {2}plan +Preview the schedule and which deadlines can be met/m,
  );
});
