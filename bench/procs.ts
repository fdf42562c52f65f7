/**
 * What a second process brings and costs: pages per second and CPU time, as ratios to one process.
 *
 *   PEERS_DIR=<folder made by ../shared/peers-bench/setup.sh> node bench/procs.ts [--rounds 3] [--copies 8]
 *
 * Sites have several copies, so that there is enough to do for processes to get warm. Rounds are interleaved, so
 * that a noisy minute meets everybody. The servers share the cores, so two processes on two cores are compared with
 * one on one core; beside it stands one that may use both, whose helping threads do. The last line is JSON
 * for `bench/report.ts`.
 */

import { parseArgs } from "node:util";
import { compare, Corpus } from "./corpus.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    copies: { type: "string", default: "8" },
  },
});
await using corpus = await Corpus.serve(Number(values.copies));
const two = ["--no-warc", "--procs", "2"];
const rows = compare(
  {
    "one, on one core": () => corpus.crawl(["--no-warc"], true),
    one: () => corpus.crawl(["--no-warc"]),
    "two, static": () => corpus.crawl(two),
    "two, dynamic": () => corpus.crawl([...two, "--coordination", "dynamic"]),
  },
  Number(values.rounds),
);
console.log(JSON.stringify({ bench: "procs", rounds: Number(values.rounds), rows }));
