import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type Running, run, start, temporaryFolder } from "./program.ts";
import { startSite } from "./small-site.ts";

const LOCAL = ["--allow-private", "127.0.0.0/8"];

async function addressIn(program: Running): Promise<URL> {
  let text = "";
  program.process.stdout?.on("data", (part: string) => (text += part));
  await program.saw(/http:\/\/127\.0\.0\.1:\d+\/\?token=\S+\s/);
  return new URL(/http:\/\/127\.0\.0\.1:\d+\/\?token=\S+/.exec(text)?.[0] ?? "");
}

/** As a program with the token would: the metrics say what runs. */
async function metricsAt(address: URL): Promise<string> {
  const token = address.searchParams.get("token") ?? "";
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(new URL("/metrics", address), { headers });
  assert.equal(answer.status, 200);
  return answer.text();
}

test("a crawl shows itself beside its work, and is over when it is told to stop under a limit", async () => {
  await using site = await startSite({ pageCount: 400 });
  using folder = temporaryFolder();
  const out = join(folder.path, "out");
  const slow = ["--limit", "20KB/s", "--delay", "10ms", "--dashboard", "0"];
  const crawl = start(["crawl", site.origin, "--out", out, ...slow, ...LOCAL]);
  const address = await addressIn(crawl);
  assert.match(await metricsAt(address), /^weir_limit_bytes_per_second 20000$/m);
  const stop = await run(["set", out, "stop", "now"]);
  assert.equal(stop.code, 0, stop.stderr);
  assert.equal((await crawl.ended).code, 3);
  await assert.rejects(fetch(address), "its dashboard has gone with it");
});

test("serve shows a crawl that is over until it is interrupted", async () => {
  await using site = await startSite({ pageCount: 3 });
  using folder = temporaryFolder();
  const out = join(folder.path, "out");
  assert.equal((await run(["crawl", site.origin, "--out", out, "--quiet", ...LOCAL])).code, 0);
  const serve = start(["serve", out, "--port", "0"]);
  const metrics = await metricsAt(await addressIn(serve));
  assert.match(metrics, /^weir_up 0$/m);
  assert.match(metrics, /^weir_pages_total 4$/m);
  serve.process.kill("SIGINT");
  const { code, stderr } = await serve.ended;
  assert.deepEqual([code, stderr], [0, ""]);
});

test("an address that others can reach is warned of, and a port that is taken is refused", async () => {
  await using site = await startSite({ pageCount: 1 });
  using folder = temporaryFolder();
  const out = join(folder.path, "out");
  assert.equal((await run(["crawl", site.origin, "--out", out, "--quiet", ...LOCAL])).code, 0);
  const open = start(["serve", out, "--port", "0", "--host", "0.0.0.0"]);
  await open.saw("WARNING: the dashboard can be reached from other machines");
  open.process.kill("SIGTERM");
  assert.equal((await open.ended).code, 0);
  const taken = await run(["serve", out, "--port", new URL(site.origin).port]);
  assert.equal(taken.code, 1);
  assert.match(taken.stderr, /DASHBOARD_PORT/);
  const none = await run(["serve", join(folder.path, "none")]);
  assert.match(none.stderr, /FOLDER_MISSING/);
});

test("the flag stands alone, takes a port, or none; the token is never shown back", async () => {
  await using site = await startSite({ pageCount: 1 });
  using folder = temporaryFolder();
  const out = join(folder.path, "out");
  const crawl = await run(["crawl", "--dashboard", site.origin, "--out", out, ...LOCAL]);
  assert.equal(crawl.code, 0, crawl.stderr);
  assert.match(crawl.stdout, /Dashboard: http:\/\/127\.0\.0\.1:\d+\/\?token=/);
  const silent = await run(["crawl", "--dashboard", "none", site.origin, "--out", out, ...LOCAL]);
  assert.equal(silent.code, 0, silent.stderr);
  assert.doesNotMatch(silent.stdout, /Dashboard:/);
  const short = await run(["crawl", site.origin, "--dashboard-token", "topsecret"]);
  assert.equal(short.code, 2);
  assert.doesNotMatch(short.stderr, /topsecret/);
  assert.doesNotMatch(readFileSync(join(out, "status.json"), "utf8"), /token/);
});
