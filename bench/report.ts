/**
 * Writes docs/benchmarks.md from what the benches printed.
 *
 *   node bench/report.ts FOLDER      FOLDER holds speed.txt, frontier.txt, …: each bench's output
 *
 * Nothing is worked out here: a figure on that page is one that a bench printed. A section whose
 * bench was not run again stays as it stands.
 */

import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import { filled } from "../scripts/prose.ts";

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("usage: node bench/report.ts FOLDER");

interface Section {
  readonly file: string;
  readonly title: string;
  readonly command: string;
  readonly about: string;
}

const SECTIONS: readonly Section[] = [
  {
    file: "speed.txt",
    title: "Beside its peers",
    command: "PEERS_DIR=… node bench/speed.ts --rounds 3 --slow",
    about:
      "30,319 real documentation pages (855 MB, mean 28 KB, 75 links each) on 17 sites, served by nginx on loopback; links followed, robots.txt and duplicates on for Weir, its state on disk. The server has one core, the crawler the other; what counts is pages per second of the crawler's own CPU time, all its threads together, and of that the ratio within one run.",
  },
  {
    file: "bandwidth.txt",
    title: "Under a limit",
    command: "PEERS_DIR=… node bench/bandwidth.ts --all",
    about:
      "A limit on everything received, measured from outside: a hundred sites in a network namespace, ten veth lines, the interfaces' counters read every 100 ms, packets of 1,500 bytes and their headers counted. Pages: `small` 2 to 20 KB, `docs` real documentation, `large` 200 KB to 20 MB, `mix` all of them. Servers: `fast`; `spread`, lines shaped over a factor of 100, the slowest a fiftieth of the limit; `slow`, 0.2 to 3 s to the first byte. From 2 s after the first byte, while there is work. Goals: mean at least 98 % of the limit, no one-second window above 105 %, standard deviation (σ) of the windows at most 3 %; after a change in the new band within 2 s; without a limit throughput within 2 % of a build that has none, with a limit far above what servers give within 5 %. `machine-bound`: without any limit no more comes on these two cores. The crawler that first predicted server speeds to hold a limit (Diligenti, Maggini, Pucci and Scarselli, 2004) filled 51 % of it.",
  },
  {
    file: "deadlines.txt",
    title: "Deadlines kept",
    command: "node bench/deadlines.ts",
    about:
      "Real crawls of sites in a network namespace behind lines of their own speed, under a limit, with deadlines that a plan can meet with 8 % and 0.5 s to spare. `size said`: the given size of every site relative to the real one. Finish times are compared with those that `weir plan --as-crawled` predicted for the real sizes, as a share of the plan's length. Few sites have a line each, shaped; many share theirs and are slow themselves. Goals: all deadlines met in 20 of 20 runs; finish times within 5 % when sizes are known; sites finished in the planned order (pairs more than 5 % of the whole apart).",
  },
  {
    file: "plan.txt",
    title: "Plans",
    command: "node bench/plan.ts",
    about:
      "How good plans are, and how long they take. Gap: how far the sum of finish times is above what no plan can be below. Goals: within 1 % on average and 3 % at worst on 500 random tasks with caps; 40 % below CPQ on 600 sites with 30 places; 600 sites in 100 ms, 100,000 in 1 s.",
  },
  {
    file: "frontier.txt",
    title: "Ten million known URLs",
    command: "node bench/frontier.ts 10000000",
    about:
      "The store alone, under the load of a crawl: pages with 20 new and 60 known links. Goals: RSS at most 512 MB, take and enqueue p99 at most 10 ms, first URL after a kill -9 within 10 s, 50,000 seen-checks a second, cost per URL at most 1.5 times that at 100,000.",
  },
  {
    file: "store.txt",
    title: "Store engines",
    command: "node bench/store.ts",
    about: "The same load on other engines; `docs/decisions/002-store.md` says what follows.",
  },
  {
    file: "kill.txt",
    title: "A hundred kills",
    command: "node bench/kill.ts",
    about:
      "kill -9 of the real program during a crawl of a site of 20,000 pages, resumed by the same command after each; then everything it left is compared with the truth.",
  },
  {
    file: "procs.txt",
    title: "Several processes: speed",
    command: "PEERS_DIR=… node bench/procs.ts --rounds 2",
    about:
      "What a second process brings and costs, on the pages of the first table, each site under eight addresses, without archive, the servers on the same two cores. A process by itself keeps more than one core busy, since its helping threads do; so two on two cores are compared with one on one core. Goals: 1.7 times the pages per second, 1.1 times the CPU time a page.",
  },
  {
    file: "procs-limit.txt",
    title: "Several processes: under a limit",
    command:
      "node bench/bandwidth.ts --procs 4 [--kills] --limits 1MB,10MB --mixes small,mix --servers fast --seconds 20",
    about:
      "The limit on the interface as above, for four processes together; in the second table one of them is killed every three seconds, and started again. Goal: no one-second window above 105 %. The share of a killed process is unused for one second, to leave room for bytes on their way to it; this lowers the mean.",
  },
  {
    file: "cluster-faults.txt",
    title: "Several processes: faults",
    command: "node bench/cluster-faults.ts --pages 300",
    about:
      "Real processes and a real nats-server, against servers with their own log: processes under a supervisor and nodes of a cluster are killed, the server is killed and its store wiped, nodes are cut off by a proxy, stopped for longer than their licence, leave and join. Quiet: how long servers were asked for nothing after a fault. Goals: no URL lost, no page missing, second downloads only of what was in flight, no breach of manners, recovery within 60 s.",
  },
  {
    file: "team-faults.txt",
    title: "Several processes: simulated faults",
    command: "node bench/team-faults.ts 1000",
    about:
      "The same in virtual time with the production loops, leaders and their election, over a bus and a registry that also lose, repeat and reorder; some nodes die for good. Judged from the servers' logs and all stores together.",
  },
  {
    file: "memory.txt",
    title: "Memory over a million fetches",
    command: "node bench/memory.ts",
    about: "Goal: a slope of at most 1 MB per 100,000 fetches after warm-up.",
  },
  {
    file: "search.txt",
    title: "Making pages searchable",
    command: "node bench/search.ts",
    about:
      "100,000 real pages, linked as they were on the web, crawled with an archive, with and without an index in turn; CPU of all threads, the better of two rounds. Goals: at most 20 % more CPU, half of the answers within 50 ms.",
  },
  {
    file: "dashboard.txt",
    title: "Being watched",
    command: "node bench/dashboard.ts",
    about:
      "An open dashboard beside a crawl that is as fast as it can be, in turns with none. Goal: at most 3 % fewer pages per second.",
  },
  {
    file: "startup.txt",
    title: "From the command to the first page",
    command: "node bench/startup.ts",
    about: "`./weir crawl` on loopback with everything installed. Goal: within 1 s.",
  },
  {
    file: "simulate.txt",
    title: "Simulated time",
    command: "node bench/simulate.ts 200",
    about: "Whole crawls with faults and kills in virtual time. Goal: 1,000 times real time.",
  },
];

const PAGE = new URL("../docs/benchmarks.md", import.meta.url);
const standing = new Map(
  (existsSync(PAGE) ? readFileSync(PAGE, "utf8") : "")
    .split(/^(?=## )/m)
    .map((section) => [section.slice(3, section.indexOf("\n")), section.trimEnd()]),
);
const [cpu] = cpus();
const parts = [
  "# Benchmarks",
  `Written by \`bench/report.ts\` from what the benches printed on a machine with ${cpus().length} cores (${cpu?.model.trim() ?? "unknown"}) and ${Math.round(totalmem() / 2 ** 30)} GiB. Such machines are shared and noisy: compare ratios within one run, not figures between runs.`,
];
for (const { file, title, command, about } of SECTIONS) {
  const path = join(folder, file);
  if (!existsSync(path)) {
    const earlier = standing.get(title);
    if (earlier !== undefined) parts.push(earlier);
    continue;
  }
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  const shown = lines.filter((line) => !line.startsWith("{") && !line.startsWith("["));
  const date = statSync(path).mtime.toISOString().slice(0, 10);
  const isMarkdown = /^[|#]/.test(shown[0] ?? "");
  const output = isMarkdown ? shown.join("\n") : ["```", ...shown, "```"].join("\n");
  parts.push(`## ${title}`, filled(about), `\`${command}\`, ${date}:`, output);
}
writeFileSync(PAGE, `${parts.join("\n\n")}\n`);
