/** `weir set` on any node of a cluster: takes effect on all nodes, or reports that it has not. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import type { Snapshot } from "../../src/control/snapshot.ts";
import { type Ended, run, temporaryFolder } from "../cli/program.ts";
import { FaultTrial } from "./fault-trial.ts";
import { NATS_MISSING, NatsServer } from "./nats-server.ts";

const PLAN = {
  seed: 3,
  sites: 4,
  pagesPerSite: 60,
  delayMs: 200,
  addressDelayMs: 0,
  patienceMs: 300_000,
};

test(
  "limit, pause and stop reach all nodes from any node, and a cluster out of reach is reported",
  { skip: NATS_MISSING },
  async () => {
    using folder = temporaryFolder();
    await using server = await NatsServer.start();
    await using trial = await FaultTrial.start(PLAN);
    const [a, b] = [join(folder.path, "a"), join(folder.path, "b")];
    const meet = ["--nats", server.url, "--crawl", "changes", "--limit", "1MB/s"];
    const nodes = [trial.crawl(a, ...meet), trial.node(b, ...meet.slice(0, 4))];
    const set = (at: string, ...words: readonly string[]): Promise<Ended> => {
      return run(["set", at, ...words]);
    };
    const bothAre = async (is: (snapshot: Snapshot) => boolean): Promise<void> => {
      while (![a, b].every((place) => is(statusIn(place)))) await wait(100);
    };
    using _ = { [Symbol.dispose]: () => nodes.forEach((node) => node.process.kill("SIGKILL")) };
    await trial.requestsReach(12);
    await bothAre(({ state }) => state === "running");

    const limited = await set(b, "limit", "60KB/s");
    assert.deepEqual([limited.code, limited.stderr], [0, ""]);
    assert.match(limited.stdout, /60.0 KB\/s .*confirmed by 2 of 2 nodes/);
    await bothAre(({ limitBps = Infinity }) => limitBps <= 60_000);

    const paused = await set(b, "pause", "true");
    assert.equal(paused.code, 0, paused.stderr);
    await bothAre(({ state, connectionsOpen }) => state === "paused" && connectionsOpen === 0);
    const { requests } = trial;
    await bothAre(({ because }) => because.includes("paused by the operator"));
    assert.equal(trial.requests, requests);

    await server.kill();
    const unheard = await set(b, "pause", "false");
    assert.equal(unheard.code, 1, unheard.stdout);
    assert.match(unheard.stderr, /NOT_APPLIED|no leader accepted/);
    await server.restart();
    // The request is repeated until a leader accepts it.
    await trial.requestsReach(requests + 4);

    const stopped = await set(a, "stop", "now");
    assert.equal(stopped.code, 0, stopped.stderr);
    const ends = await Promise.all(nodes.map(({ ended }) => ended));
    assert.deepEqual(
      ends.map(({ code }) => code),
      [3, 3],
      ends.map(({ stderr }) => stderr).join("\n---\n"),
    );
    for (const { stderr } of ends) assert.doesNotMatch(stderr, /invalid messages/);
  },
);

function statusIn(folder: string): Snapshot {
  return JSON.parse(readFileSync(join(folder, "status.json"), "utf8")) as Snapshot;
}
