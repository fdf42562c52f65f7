import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { CrawlResult } from "../../src/control/snapshot.ts";
import { readRateLog } from "../../src/control/rate-log.ts";
import { run, start, temporaryFolder } from "./program.ts";
import { startSite } from "./small-site.ts";

const LOCAL = ["--allow-private", "127.0.0.0/8", "--limit", "500KB/s"];

test("the books add up over a kill, the rate is kept, and the report shows both", async () => {
  const body = "x".repeat(100_000);
  await using site = await startSite({
    pageCount: 40,
    special: {
      "/page/3": (response) => response.writeHead(500).end(),
      "/page/4": (response) => response.writeHead(302, { location: "/page/5" }).end(),
      "/page/6": (response) => response.writeHead(200, { "content-type": "text/plain" }).end(body),
    },
  });
  using folder = temporaryFolder();
  const out = join(folder.path, "out");
  const words = ["crawl", site.origin, "--out", out, "--delay", "50ms", "--retries", "0", ...LOCAL];
  const killed = start(words);
  await killed.saw("waiting");

  const running = await run(["report", out, "--out", join(folder.path, "running.html")]);
  assert.equal(running.code, 0, running.stderr);
  assert.match(readFileSync(join(folder.path, "running.html"), "utf8"), />running, as of/);
  killed.process.kill("SIGKILL");
  await killed.ended;

  const { code, stdout, stderr } = await run([...words, "--json"]);
  assert.equal(code, 0, stderr);
  const result = JSON.parse(stdout) as CrawlResult;
  const { byPurpose, byProcess } = result.ledger;
  assert.equal(sum(byPurpose), result.bytes);
  assert.equal(sum(byProcess), result.bytes);
  for (const row of result.sites) assert.equal(sum(row.ledger), row.bytes);
  assert.equal(
    result.sites.reduce((total, { bytes }) => total + bytes, 0),
    result.bytes,
  );
  for (const purpose of ["page", "robots", "redirect", "error"] as const)
    assert.ok(byPurpose[purpose] > 0, purpose);

  const { seconds } = readRateLog(out, Date.now());
  assert.ok(seconds.length >= 1, "every second of the crawl is written down");
  for (const { limitBps } of seconds) assert.equal(limitBps, 500_000);
  const report = readFileSync(join(out, "report.html"), "utf8");
  assert.match(report, />done, as of/);
  assert.match(report, /Rate, limit and prediction/);
});

test("bytes of a request that a kill cut off are booked, with its site as in all", async () => {
  await using quick = await startSite({ pageCount: 400 });
  let isKilled = false;
  await using slow = await startSite({
    pageCount: 0,
    special: {
      "/": (response) => {
        response.writeHead(200, { "content-type": "text/html" });
        if (isKilled) response.end("short");
        else response.write("x".repeat(200_000));
      },
    },
  });
  using folder = temporaryFolder();
  const out = join(folder.path, "out");
  const places = [quick.origin, slow.origin, "--out", out, "--delay", "20ms"];
  const words = ["crawl", ...places, "--allow-private", "127.0.0.0/8"];
  const killed = start(words);
  await killed.saw(/(?:[3-9]\d|\d{3}) pages/);
  killed.process.kill("SIGKILL");
  await killed.ended;
  isKilled = true;
  const { stdout } = await run([...words, "--delay", "1ms", "--json"]);
  const result = JSON.parse(stdout) as CrawlResult;
  assert.ok(result.ledger.byPurpose.retry >= 200_000);
  assert.equal(sum(result.ledger.byPurpose), result.bytes);
  const cutOff = result.sites.find(({ site }) => slow.origin === site);
  assert.ok((cutOff?.ledger.retry ?? 0) >= 200_000);
  // The kill may have cut off a request to the quick site as well.
  const retried = result.sites.reduce((total, { ledger }) => total + (ledger.retry ?? 0), 0);
  assert.equal(retried, result.ledger.byPurpose.retry);
});

test("a folder without a crawl has no report", async () => {
  using folder = temporaryFolder();
  const { code, stderr } = await run(["report", folder.path]);
  assert.equal(code, 2);
  assert.match(stderr, /FOLDER_/);
});

function sum(amounts: Readonly<Record<string, number>>): number {
  return Object.values(amounts).reduce((total, amount) => total + amount, 0);
}
