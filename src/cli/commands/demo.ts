/**
 * `weir demo`: a first crawl without a network. Serves a small synthetic web on loopback, a dozen
 * sites of different size, speed and politeness, and crawls it with the real program.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { CrawlError } from "../../base/errors.ts";
import { serveWorld, type WorldServer } from "../../lab/serve.ts";
import { seedUrls } from "../../lab/world.ts";
import { pendingOf } from "../../results/processes.ts";
import { hasStore } from "../../store/folder.ts";
import { openReadOnly } from "../../store/joined/open-read-only.ts";
import { partFolders } from "../../store/team-file.ts";
import type { ExitCode } from "../exit-codes.ts";
import type { Command } from "../help.ts";
import { command as crawl } from "./crawl.ts";

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

/** Half of the rate of its servers. */
const LIMIT = "3MB/s";

/** Size and number of pages of each site, as a crawl of this world found them. */
const SIZES: readonly (readonly [size: string, pages: number])[] = [
  ["2.8MB", 99],
  ["12.5MB", 298],
  ["21.4MB", 400],
  ["5.2MB", 110],
  ["6.7MB", 233],
  ["2.8MB", 400],
  ["2.4MB", 61],
  ["3.0MB", 74],
  ["4.7MB", 87],
  ["8.1MB", 163],
  ["2.4MB", 270],
  ["4.4MB", 84],
];

/** Deadlines of some sites, by their number: one that is tight, and one that is impossible. */
const PROMISES: ReadonlyMap<number, string> = new Map([
  [1, "deadline: 3s   # cannot be: its bytes alone take four seconds at this limit"],
  // Servers of the world are slower at some hours; these caps hold at the slowest.
  [
    2,
    "concurrency: 6\n    cap: 1.3MB/s\n    deadline: 27s   # tight: its server is slow, so it must begin early",
  ],
  [5, "deadline: 25s"],
  [8, "priority: 3"],
  [9, "cap: 1.3MB/s\n    deadline: 17s"],
]);

export const command: Command = {
  run,
  page: {
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
};

async function run(words: readonly string[]): Promise<ExitCode> {
  await using web = await serveDemo();
  mkdirSync("weir-data", { recursive: true });
  writeFileSync(CONFIG_FILE, configOf(seedUrls(web.world)));
  // Awaited here: the web must stay up until the crawl is over.
  return await crawl.run([
    "--config",
    CONFIG_FILE,
    `--out=${FOLDER}`,
    "--dashboard=auto",
    // A demo that is done has nothing left to show; one that was stopped is resumed.
    ...((await isDone(FOLDER)) ? ["--fresh"] : []),
    ...words,
  ]);
}

/** Whether the folder has a crawl with no URL left. */
export async function isDone(folder: string): Promise<boolean> {
  if (!partFolders(folder).some(hasStore)) return false;
  const store = openReadOnly(folder);
  const pending = pendingOf(store.totals);
  await store.close();
  return pending === 0;
}

export async function serveDemo(port = DEMO_PORT): Promise<WorldServer> {
  try {
    return await serveWorld(WORLD, { by: "address", paced: true, port });
  } catch (error) {
    if (!isPortInUse(error)) throw error;
    const why = `Port ${port} is in use, probably by another demo on this machine.`;
    throw new CrawlError("DEMO_PORT", why, { cause: error });
  }
}

function isPortInUse(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EADDRINUSE";
}

export function configOf(urls: readonly string[]): string {
  const entries = urls.map((url, index) => {
    const [size, pages] = SIZES[index] ?? [];
    const lines = [`- url: ${url}`, `  size: ${size}`, `  pages: ${pages}`];
    const promise = PROMISES.get(index);
    if (promise !== undefined) lines.push(`  ${promise}`);
    return lines.map((line) => `  ${line}`).join("\n");
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

/** Constant, so that a stopped demo resumes with the same URLs. */
const DEMO_PORT = 8673;
const CONFIG_FILE = "weir-data/demo.yaml";
const FOLDER = "weir-data/demo";
