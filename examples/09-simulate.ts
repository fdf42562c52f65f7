/**
 * Simulates before it crawls: how long would such a web take, politely, under several limits?
 *
 *   node examples/09-simulate.ts
 *
 * The loops of a real crawl run in virtual time on a synthetic web that you describe: hours take
 * seconds, and the same seed gives the same answer. In a program of your own, write `from "weir/lab"`. For sites that you
 * have crawled before, `weir plan` answers from what is known of them.
 */

import { runSim } from "../src/lab/lab.ts";

const WORLD = {
  siteCount: 6,
  pagesMin: 20,
  pagesMax: 60,
  bytesMedianMin: 10_000,
  bytesMedianMax: 40_000,
  speedBpsMin: 100_000,
  speedBpsMax: 1_000_000,
};

for (const limitBps of [50_000, 200_000, undefined]) {
  const { result, violations, virtualMs } = await runSim({
    seed: 1,
    world: WORLD,
    settings: { limitBps, delayMs: 500 },
  });
  const minutes = (virtualMs / 60_000).toFixed(1);
  const limit = limitBps === undefined ? "no limit" : `${limitBps / 1000} KB/s`;
  console.log(`${limit}: ${result?.pages} pages in ${minutes} minutes`);
  // The judges look at the server's own log: politeness, one visit to each address, whole archives.
  if (violations.length > 0) console.log(violations);
}
