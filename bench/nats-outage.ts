/**
 * Requests per second of three nodes before, during and after an outage of the NATS server.
 *
 *     node bench/nats-outage.ts [seconds of the outage]
 *
 * Six sites on loopback, five requests per second each. At the end: pages in the stores and on the sites, pages
 * fetched twice, and violations of politeness according to the servers' logs.
 */

import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { temporaryFolder } from "../test/cli/program.ts";
import { besidesTimes, FaultTrial, resultIn } from "../test/cluster/fault-trial.ts";
import { NatsServer } from "../test/cluster/nats-server.ts";

const SECONDS = Number(process.argv[2] ?? 60);
const STEP_SECONDS = 10;
const PLAN = {
  seed: 5,
  sites: 6,
  pagesPerSite: 450 + 5 * Math.max(0, SECONDS - 60),
  delayMs: 200,
  addressDelayMs: 0,
  patienceMs: 900_000,
};

using folder = temporaryFolder();
await using server = await NatsServer.start();
await using trial = await FaultTrial.start(PLAN);
const place = (name: string): string => join(folder.path, name);
const meet = ["--nats", server.url, "--crawl", "outage"];
const lead = trial.crawl(place("a"), ...meet, "--limit", "200KB/s");
const others = [trial.node(place("b"), ...meet), trial.node(place("c"), ...meet)];
await trial.requestsReach(60);
await measure("before", 15);
await server.kill();
for (let second = 0; second < SECONDS; second += STEP_SECONDS)
  await measure(`without NATS, from ${second} s`, STEP_SECONDS);
await server.restart();
await measure("after", 15);
const ends = await Promise.all([lead, ...others].map(({ ended }) => ended));
const { pages, parallel } = resultIn(await lead.ended);
console.log(`exit codes ${ends.map(({ code }) => code).join(" ")}`);
console.log(`${pages} of ${trial.pages} pages, overlap ${parallel?.overlap}`);
console.log(besidesTimes(trial.judge(["a", "b", "c"].map(place))));

async function measure(what: string, seconds: number): Promise<void> {
  const [requests, sinceMs] = [trial.requests, performance.now()];
  await wait(seconds * 1000);
  const rate = ((trial.requests - requests) * 1000) / (performance.now() - sinceMs);
  console.log(`${what}: ${rate.toFixed(1)} requests/s`);
}
