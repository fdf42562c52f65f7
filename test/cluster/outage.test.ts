/** Without a NATS server all nodes continue with their own parts, and catch up when it is back. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../cli/program.ts";
import { besidesTimes, FaultTrial, resultIn } from "./fault-trial.ts";
import { NATS_MISSING, NatsServer } from "./nats-server.ts";

const PLAN = {
  seed: 5,
  sites: 6,
  pagesPerSite: 100,
  delayMs: 200,
  addressDelayMs: 0,
  patienceMs: 900_000,
};
/** Six sites are requested from 30 times a second at most: more than a licence and its margin allow. */
const REQUESTS_ALONE = 300;

test(
  "nodes crawl on while the NATS server is away, nothing is lost and nothing fetched twice",
  { skip: NATS_MISSING },
  async () => {
    using folder = temporaryFolder();
    await using server = await NatsServer.start();
    await using trial = await FaultTrial.start(PLAN);
    const place = (name: string): string => join(folder.path, name);
    const meet = ["--nats", server.url, "--crawl", "outage"];
    const [lead, other] = [trial.crawl(place("a"), ...meet), trial.node(place("b"), ...meet)];
    const nodes = [lead, other];
    using _ = { [Symbol.dispose]: () => nodes.forEach((node) => node.process.kill("SIGKILL")) };
    await trial.requestsReach(40);
    await server.kill();
    await trial.requestsReach(trial.requests + REQUESTS_ALONE);
    await server.restart();
    const ends = await Promise.all(nodes.map(({ ended }) => ended));
    assert.deepEqual(
      ends.map(({ code }) => code),
      [0, 0],
      ends.map(({ stderr }) => stderr).join("\n---\n"),
    );
    const result = resultIn(await lead.ended);
    assert.deepEqual([result.pages, result.complete], [trial.pages, true]);
    assert.equal(result.parallel?.overlap, 0);
    assert.equal(Object.keys(result.ledger.byProcess).length, 2);
    assert.deepEqual(besidesTimes(trial.judge(["a", "b"].map(place))), []);
  },
);
