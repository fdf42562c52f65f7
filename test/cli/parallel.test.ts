/** Several processes as people start and stop them, rightly and wrongly. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import type { CrawlResult } from "../../src/control/snapshot.ts";
import { childrenOf } from "../cluster/fault-trial.ts";
import { NATS_MISSING, NatsServer, type NatsServerOptions } from "../cluster/nats-server.ts";
import { type Ended, run, start, temporaryFolder } from "./program.ts";
import { type SmallSite, startSite } from "./small-site.ts";

const WHERE_NATS = { skip: NATS_MISSING };
const NOWHERE = "nats://127.0.0.1:1";

function words(site: SmallSite, folder: string, ...more: readonly string[]): string[] {
  const manners = ["--allow-private", "127.0.0.0/8", "--delay", "0ms"];
  return ["crawl", `${site.origin}/`, ...manners, "--out", folder, "--quiet", ...more];
}

function refused({ code, stderr }: Ended, exitCode: number, ...said: readonly string[]): void {
  assert.equal(code, exitCode, stderr);
  for (const text of said) assert.ok(stderr.includes(text), `${text} is not in: ${stderr}`);
}

test("what makes no sense together is refused with what to write instead", async () => {
  using folder = temporaryFolder();
  await using site = await startSite({ pageCount: 1 });
  const refuse = async (said: string, ...more: readonly string[]): Promise<void> =>
    refused(await run(words(site, join(folder.path, "x"), ...more)), 2, said, "SETTINGS_INVALID");
  await Promise.all([
    refuse("choose static", "--procs", "2", "--coordination", "independent", "--mode", "exchange"),
    refuse("weir node", "--procs", "2", "--nats", NOWHERE),
    refuse("leave --nats out", "--coordination", "independent", "--nats", NOWHERE),
    refuse("--partitions 4", "--procs", "4", "--partitions", "2"),
    refuse("nats://127.0.0.1:4222", "--nats", "http://127.0.0.1:1"),
    refuse("--mode firewall", "--procs", "2", "--sample", "0.1"),
    refuse("use --procs", "--mode", "firewall", "--nats", NOWHERE, "--sample", "0.1"),
  ]);
  assert.equal(site.requests.length, 0);
});

test("a folder belongs to the kind of crawl that was begun in it, and keeps what it has", async () => {
  using folder = temporaryFolder();
  await using site = await startSite({ pageCount: 10 });
  const [one, team] = [join(folder.path, "one"), join(folder.path, "team")];
  const begun = await Promise.all([
    run(words(site, one)),
    run(words(site, team, "--procs", "2", "--json")),
  ]);
  assert.deepEqual(
    begun.map(({ code }) => code),
    [0, 0],
  );
  refused(
    await run(words(site, one, "--procs", "2")),
    2,
    "started by one process",
    "STORE_CHANGED",
  );
  refused(await run(words(site, team)), 2, "--procs 2", "STORE_CHANGED");
  refused(await run(words(site, team, "--procs", "3")), 2, "procs 2 (now 3)", "STORE_CHANGED");
  refused(await run(words(site, team, "--nats", NOWHERE)), 2, "several processes", "STORE_CHANGED");
  const again = await run(words(site, team, "--procs", "2", "--json"));
  const [before, after] = [begun[1], again].map(
    ({ stdout }) => JSON.parse(stdout) as CrawlResult,
  ) as [CrawlResult, CrawlResult];
  assert.equal(after.pages, before.pages);
  assert.equal(after.complete, true);
});

test("where URLs are divided, all processes follow a moved seed to its new host, and after a resume", async () => {
  using folder = temporaryFolder();
  await using home = await startSite({ pageCount: 60 });
  const there = home.origin.replace("127.0.0.1", "localhost");
  await using old = await startSite({
    pageCount: 0,
    special: { "/": (response) => response.writeHead(301, { location: `${there}/` }).end() },
  });
  const split = ["--procs", "3", "--partition", "url-hash", "--json"];
  const crawl = async (...more: readonly string[]): Promise<CrawlResult> => {
    const { stdout, stderr } = await run(words(old, join(folder.path, "out"), ...split, ...more));
    assert.notEqual(stdout, "", stderr);
    return JSON.parse(stdout) as CrawlResult;
  };
  assert.equal((await crawl("--pages", "5")).complete, false);
  const { pages, refusedLinks } = await crawl();
  assert.equal(pages, 61);
  assert.deepEqual(refusedLinks, {});
});

test("a sample estimates what firewalls miss: in the result, the status and the report", async () => {
  using folder = temporaryFolder();
  await using site = await startSite({ pageCount: 60 });
  const walled = ["--procs", "2", "--mode", "firewall", "--partition", "url-hash", "--json"];
  const [all, half, sampled] = ["all", "half", "sampled"].map((name) =>
    join(folder.path, name),
  ) as [string, string, string];
  const told = async (...more: readonly string[]): Promise<CrawlResult> => {
    const { code, stdout, stderr } = await run(words(site, ...(more as [string])));
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout) as CrawlResult;
  };
  const whole = await told(all, "--json");
  const plain = await told(half, ...walled, "--reference", all);
  const estimated = await told(sampled, ...walled, "--sample", "1");
  assert.equal(estimated.pages, plain.pages);
  assert.ok(plain.pages < whole.pages);
  assert.equal(estimated.parallel?.overlap, 0);
  assert.equal(estimated.parallel?.quality, null);
  // Every page is linked from the first, so nothing is hidden behind what is missed.
  assert.equal(estimated.parallel?.coverage, plain.parallel?.coverage);
  const { stdout } = await run(["status", sampled]);
  assert.match(stdout, /coverage 0\.\d+, estimated from a sample/);
  assert.match(readFileSync(join(sampled, "report.html"), "utf8"), /Coverage, estimated/);
});

test("Ctrl-C stops all processes in good order, twice at once; the same command resumes", async () => {
  using folder = temporaryFolder();
  await using site = await startSite({ pageCount: 60 });
  const slow = ["--procs", "2", "--json", "--delay", "50ms"];
  const first = start(words(site, folder.path, ...slow));
  while (site.requests.length < 10) await wait(20);
  first.process.kill("SIGINT");
  const stopped = await first.ended;
  assert.equal(stopped.code, 3, stopped.stderr);
  const told = JSON.parse(stopped.stdout) as CrawlResult;
  assert.equal(told.stoppedBy, "Ctrl-C");
  assert.ok(told.urls.pending > 0 && !told.complete);

  const second = start(words(site, folder.path, ...slow));
  const asked = site.requests.length;
  while (site.requests.length < asked + 5) await wait(20);
  const children = childrenOf(second.process.pid as number);
  assert.ok(children.length >= 2);
  second.process.kill("SIGINT");
  await wait(30);
  second.process.kill("SIGINT");
  assert.notEqual((await second.ended).code, 0);

  const last = await run(words(site, folder.path, "--procs", "2", "--json"));
  assert.equal(last.code, 0, last.stderr);
  assert.equal((JSON.parse(last.stdout) as CrawlResult).pages, 61);
});

test("a process that is killed as it starts is started again", async () => {
  using folder = temporaryFolder();
  await using site = await startSite({ pageCount: 20 });
  const running = start(words(site, folder.path, "--procs", "2", "--json"));
  let children: number[] = [];
  while (children.length < 2) {
    await wait(5);
    children = childrenOf(running.process.pid as number);
  }
  process.kill(children[0] as number, "SIGKILL");
  const { code, stdout, stderr } = await running.ended;
  assert.equal(code, 0, stderr);
  assert.equal((JSON.parse(stdout) as CrawlResult).pages, 21);
});

test("a cluster that cannot be had says why, and what to do", WHERE_NATS, async () => {
  using folder = temporaryFolder();
  await using site = await startSite({ pageCount: 1 });
  const at = (url: string, ...more: readonly string[]): Promise<Ended> =>
    run(words(site, join(folder.path, "n"), "--nats", url, ...more));
  const served = async (options: NatsServerOptions, ...more: readonly string[]): Promise<Ended> => {
    await using server = await NatsServer.start(options);
    return await at(server.url, ...more);
  };
  const locked = { config: "authorization { user: u, password: a-long-one }" };
  const wrong = ["--nats-user", "u", "--nats-password", "wrong"];
  refused(await at(NOWHERE), 1, "ECONNREFUSED", "BUS_UNREACHABLE");
  refused(await served(locked, ...wrong), 1, "BUS_DENIED");
  refused(await served({ jetstream: false }), 1, "BUS_NO_JETSTREAM");
  refused(await served({ config: "max_payload: 1024" }), 1, "max_payload", "BUS_PAYLOAD");
  refused(await run(["node"]), 2, "--nats");
  assert.equal(site.requests.length, 0);
});

test(
  "a crawl's name stands for its settings, and a node's folder for its crawl",
  WHERE_NATS,
  async () => {
    using folder = temporaryFolder();
    await using server = await NatsServer.start();
    await using site = await startSite({ pageCount: 5 });
    const begin = (out: string, ...more: readonly string[]): Promise<Ended> =>
      run(words(site, join(folder.path, out), "--nats", server.url, ...more));
    const first = await begin("a", "--crawl", "c", "--json");
    assert.equal(first.code, 0, first.stderr);
    assert.equal((JSON.parse(first.stdout) as CrawlResult).pages, 6);
    refused(await begin("b", "--crawl", "c", "--depth", "1"), 1, '"c"', "CLUSTER_MISMATCH");
    refused(await begin("a", "--crawl", "d"), 2, 'not of "d"', "STORE_CHANGED");
    refused(await run(words(site, join(folder.path, "a"))), 2, "as a node", "STORE_CHANGED");
    const node = ["node", "--nats", server.url, "--crawl", "d", "--out", join(folder.path, "a")];
    refused(await run(node), 2, "STORE_CHANGED");
  },
);
