/**
 * `weir demo`: a first crawl without a network. Serves a small synthetic web on loopback, a dozen
 * sites that differ in size, speed and manners, and crawls it with the real program.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { serveWorld } from "../../lab/serve.ts";
import { seedUrls } from "../../lab/world.ts";
import type { ExitCode } from "../exit-codes.ts";
import { commandHelp, type HelpRequest } from "../help.ts";
import type { Command } from "../run.ts";
import { command as crawl } from "./crawl.ts";

export const command: Command = { help, run };

/** Sized so that it is over within half a minute, and no two sites finish together. */
const WORLD = {
  seed: 11,
  siteCount: 12,
  pagesMin: 60,
  pagesMax: 400,
  bytesMedianMin: 4_000,
  bytesMedianMax: 40_000,
  latencyMsMin: 10,
  latencyMsMax: 120,
  speedBpsMin: 400_000,
  crawlDelayShare: 0,
  trapShare: 0.2,
} as const;

/** Half of what its servers would give. */
const LIMIT = "3MB/s";

/** What is promised of some sites, by their number: one that takes care, and one that cannot be kept. */
const PROMISES: ReadonlyMap<number, string> = new Map([
  [
    1,
    "size: 12.5MB\n    deadline: 3s   # cannot be: its bytes alone take four seconds at this limit",
  ],
  [2, "size: 21.4MB\n    deadline: 27s   # tight: it would be done last if all were treated alike"],
  [5, "size: 2.8MB\n    deadline: 25s"],
  [8, "size: 4.7MB\n    priority: 3"],
  [9, "size: 8.1MB\n    deadline: 17s"],
]);

function help(request?: HelpRequest): string {
  return commandHelp(
    {
      usage: "weir demo [flags of weir crawl]",
      about:
        "Starts a synthetic web of 12 sites on loopback and crawls it in about 30 s under a limit of 3 MB/s, with deadlines, one of them impossible. Open the printed URL to watch it in the browser. No network is needed. Results are in weir-data/demo, settings in weir-data/demo.yaml.",
      examples: [
        ["weir demo", "crawl the synthetic web"],
        ["weir demo --limit 1MB/s", "with another limit"],
        ["weir serve weir-data/demo", "show the dashboard after the crawl"],
        ["weir plan --config weir-data/demo.yaml", "which deadlines can be met"],
        ["weir demo --pages 200 --json", "with the result as JSON"],
        ["weir export weir-data/demo --format jsonl", "the crawled pages"],
      ],
      groups: {},
      ending: "Ctrl-C stops; the same command resumes.",
    },
    request,
  );
}

async function run(words: readonly string[]): Promise<ExitCode> {
  await using web = await serveWorld(WORLD, { by: "address", paced: true, port: DEMO_PORT });
  mkdirSync("weir-data", { recursive: true });
  writeFileSync(CONFIG_FILE, configOf(seedUrls(web.world)));
  // Awaited here: the web must stay up until the crawl is over.
  return await crawl.run([
    "--config",
    CONFIG_FILE,
    "--out=weir-data/demo",
    "--dashboard=auto",
    ...words,
  ]);
}

function configOf(urls: readonly string[]): string {
  const entries = urls.map((url, index) => {
    const promise = PROMISES.get(index);
    return promise === undefined ? `  - url: ${url}` : `  - url: ${url}\n    ${promise}`;
  });
  return `# What \`weir demo\` crawls; \`weir plan --config ${CONFIG_FILE}\` predicts the result.
limit: ${LIMIT}
allowPrivate: 127.0.0.0/8
delay: 20ms
concurrencyPerSite: 4
sites:
${entries.join("\n")}
`;
}

/** Always the same, so that a stopped demo goes on with the same addresses. */
const DEMO_PORT = 8673;
const CONFIG_FILE = "weir-data/demo.yaml";
