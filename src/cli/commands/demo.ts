/**
 * `weir demo`: a first crawl without a network. Serves a small synthetic web on loopback, a dozen
 * sites that differ in size, speed and manners, and crawls it with the real program.
 */

import { serveWorld } from "../../lab/serve.ts";
import { seedUrls } from "../../lab/world.ts";
import type { ExitCode } from "../exit-codes.ts";
import { commandHelp } from "../help.ts";
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

function help(): string {
  return commandHelp({
    usage: "weir demo [flags of weir crawl]",
    about:
      "Starts a small web of a dozen sites on loopback and crawls it under a limit of 3 MB/s, in about half a minute. No network is needed, and everything is kept in weir-data/demo as in any other crawl.",
    examples: [
      ["weir demo", "watch it"],
      ["weir demo --limit 1MB/s", "under another limit"],
      ["weir demo --pages 200 --json", "with a result for programs"],
      ["weir export weir-data/demo --format jsonl", "look at what it collected"],
    ],
    groups: {},
    ending: "Ctrl-C stops it, and the same command goes on.",
  });
}

async function run(words: readonly string[]): Promise<ExitCode> {
  await using web = await serveWorld(WORLD, { by: "address", paced: true, port: DEMO_PORT });
  const manners = [
    "--allow-private",
    "127.0.0.0/8",
    "--delay",
    "20ms",
    "--concurrency-per-site",
    "4",
    ...(words.some((word) => word.startsWith("--limit")) ? [] : ["--limit", LIMIT]),
  ];
  // Awaited here: the web must stay up until the crawl is over.
  return await crawl.run([...seedUrls(web.world), ...manners, "--out", "weir-data/demo", ...words]);
}

/** Always the same, so that a stopped demo goes on with the same addresses. */
const DEMO_PORT = 8673;
