/**
 * A cluster of real processes over a real nats-server: with nodes that are killed, stopped, cut
 * off, join or leave, and a server that loses data, the pages are those of a single crawl.
 */

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { run, type Running, start, temporaryFolder } from "../cli/program.ts";
import { startSite } from "../cli/small-site.ts";
import { FaultProxy } from "./fault-proxy.ts";
import { besidesTimes, FaultTrial, resultIn } from "./fault-trial.ts";
import { NATS_MISSING, NatsServer } from "./nats-server.ts";

const WHERE_NATS = { skip: NATS_MISSING };
/** Longer than a licence. */
const PAUSE_MS = 6_000;
const PLAN = {
  seed: 9,
  sites: 6,
  pagesPerSite: 40,
  delayMs: 200,
  addressDelayMs: 60,
  patienceMs: 900_000,
};

test(
  "nodes are killed, stopped and cut off, come and go, and the server loses all: the same pages",
  WHERE_NATS,
  async () => {
    using folder = temporaryFolder();
    await using server = await NatsServer.start();
    await using proxy = await FaultProxy.start(server.port);
    await using trial = await FaultTrial.start(PLAN);
    const place = (name: string): string => join(folder.path, name);
    const meet = (url: string): string[] => ["--nats", url, "--crawl", "trial"];
    const lead = trial.crawl(place("a"), ...meet(server.url));
    const cut = trial.node(place("b"), ...meet(proxy.url));
    let killed: Running = trial.node(place("c"), ...meet(server.url));
    await trial.requestsReach(40);

    trial.note();
    killed.process.kill("SIGKILL");
    await killed.ended;
    killed = trial.node(place("c"), ...meet(server.url));
    const joined = trial.node(place("d"), ...meet(server.url));
    await trial.requestsReach(100);

    trial.note();
    killed.process.kill("SIGSTOP");
    proxy.cut();
    await server.wipe();
    await wait(PAUSE_MS);
    killed.process.kill("SIGCONT");
    proxy.heal();
    await trial.requestsReach(140);

    joined.process.kill("SIGINT");
    const left = await joined.ended;
    assert.equal(left.code, 0, left.stderr);

    const ends = await Promise.all([lead.ended, cut.ended, killed.ended]);
    assert.deepEqual(
      ends.map(({ code }) => code),
      [0, 0, 0],
      ends.map(({ stderr }) => stderr).join("\n---\n"),
    );
    const result = resultIn(ends[0]);
    assert.equal(result.pages, trial.pages);
    assert.equal(result.complete, true);
    assert.equal(result.parallel?.unique, trial.pages);
    assert.equal(result.parallel.overlap, 0);
    assert.ok(result.parallel.exchangeBytes > 0);
    assert.deepEqual(besidesTimes(trial.judge(["a", "b", "c", "d"].map(place))), []);
  },
);

test(
  "a node that allows fewer private addresses than the crawl is refused and named the flag",
  WHERE_NATS,
  async () => {
    using folder = temporaryFolder();
    await using server = await NatsServer.start();
    await using site = await startSite({ pageCount: 20 });
    const meet = ["--nats", server.url, "--crawl", "narrow", "--json"];
    const at = (name: string): string[] => ["--out", join(folder.path, name), ...meet];
    const allowed = ["--allow-private", "127.0.0.0/8", "--delay", "200ms", "--verbose"];
    const lead = start(["crawl", site.origin, ...at("a"), ...allowed]);
    await lead.saw(/settled/);
    const refused = await run(["node", ...at("b")]);
    assert.equal(refused.code, 1, refused.stderr);
    assert.match(refused.stderr, /start the node with --allow-private 127\.0\.0\.0\/8/);
    assert.match(refused.stderr, /CLUSTER_MISMATCH/);
    const joined = start(["node", ...at("c"), "--allow-private", "127.0.0.0/8"]);
    const ends = await Promise.all([lead.ended, joined.ended]);
    assert.deepEqual(
      ends.map(({ code }) => code),
      [0, 0],
      ends.map(({ stderr }) => stderr).join("\n---\n"),
    );
    const result = resultIn(ends[0]);
    assert.equal(result.pages, 21);
    assert.equal(result.outcomes["ssrf_blocked"], undefined);
  },
);
