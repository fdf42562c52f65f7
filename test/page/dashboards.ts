/** Dashboards to look at: of a crawl of the lab's web that runs, and of folders that were made up. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { serveDashboard, type Dashboard } from "../../src/dashboard/server.ts";
import type { Snapshot } from "../../src/control/snapshot.ts";
import {
  type SampleCrawl,
  sampleCrawl,
  sampleView,
  writeRates,
} from "../../src/dashboard/sample.suite.ts";
import { serveWorld } from "../../src/lab/serve.ts";
import { seedUrls } from "../../src/lab/world.ts";
import { type Running, start, temporaryFolder } from "../cli/program.ts";

const WORLD = {
  seed: 11,
  siteCount: 12,
  pagesMin: 30,
  pagesMax: 120,
  bytesMedianMin: 4_000,
  bytesMedianMax: 20_000,
  latencyMsMin: 5,
  latencyMsMax: 40,
  speedBpsMin: 300_000,
  crawlDelayShare: 0,
  trapShare: 0.2,
} as const;

export interface WatchedCrawl extends AsyncDisposable {
  readonly crawl: Running;
  readonly folder: string;
  readonly url: string;
  readonly sites: readonly string[];
  /** What the crawl last said of itself. */
  said(): Snapshot;
}

/** Ten times as many pages: minutes of crawling under the limit, so that it is still running when the browser is slow. */
export const LONG = { pagesMin: 300, pagesMax: 1_200 };

/** A real crawl in a process of its own, of a web on loopback, with deadlines, one of them impossible. */
export async function watchedCrawl(
  words: readonly string[] = [],
  pages: Partial<typeof LONG> = {},
): Promise<WatchedCrawl> {
  await using stack = new AsyncDisposableStack();
  const web = stack.use(await serveWorld({ ...WORLD, ...pages }, { by: "address", paced: true }));
  const place = stack.use(temporaryFolder());
  const urls = seedUrls(web.world);
  const config = join(place.path, "weir.yaml");
  writeFileSync(config, configOf(urls));
  const folder = join(place.path, "crawl");
  const crawl = start(["crawl", "--config", config, "--out", folder, "--dashboard", "0", ...words]);
  stack.defer(async () => {
    crawl.process.kill("SIGKILL");
    await crawl.ended;
  });
  let text = "";
  crawl.process.stdout?.on("data", (part: string) => (text += part));
  await crawl.saw(words.includes("none") ? /waiting/ : /Dashboard: \S+\s/);
  const closing = stack.move();
  return {
    crawl,
    folder,
    url: /Dashboard: (\S+)/.exec(text)?.[1] ?? "",
    sites: urls.map((url) => url.replace(/\/$/, "")),
    said: () => JSON.parse(readFileSync(join(folder, "status.json"), "utf8")) as Snapshot,
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

function configOf(urls: readonly string[]): string {
  const promises: Readonly<Record<number, string>> = {
    1: "\n    size: 8MB\n    deadline: 2s",
    2: "\n    size: 1MB\n    deadline: 30m",
    4: "\n    size: 1MB\n    priority: 3",
  };
  const sites = urls.map((url, index) => `  - url: ${url}${promises[index] ?? ""}`);
  return `limit: 400KB/s\nallowPrivate: 127.0.0.0/8\ndelay: 20ms\nconcurrencyPerSite: 4\nsites:\n${sites.join("\n")}\n`;
}

/** In this process: for folders that hold still. */
export function dashboardOf(folder: string): Promise<Dashboard> {
  return serveDashboard({
    folder,
    speedsFile: undefined,
    address: "127.0.0.1",
    port: 0,
    orOtherPort: false,
    token: undefined,
  });
}

/** A crawl of several processes with topics and promises, as one may come across it. */
export async function richCrawl(siteCount = 40): Promise<SampleCrawl> {
  const sites = Array.from({ length: siteCount }, (_, index) => ({
    key: `https://site-${String(index).padStart(5, "0")}.example`,
    robots: "User-agent: *\nDisallow: /private/\n",
    urls: [
      { url: `https://site-${index}.example/`, reason: "ok" as const },
      { url: `https://site-${index}.example/gone`, reason: "http_404" as const },
      { url: `https://site-${index}.example/later`, reason: undefined },
    ],
  }));
  const crawl = await sampleCrawl(sites);
  const nowMs = Date.now();
  writeRates(
    crawl.folder,
    Math.floor(nowMs / 1000) * 1000 - 90_000,
    Array.from({ length: 90 }, (_, second) => 900 + 80 * Math.sin(second / 7)),
  );
  const names = ["proc-1", "proc-2", "proc-3", "proc-4"];
  crawl.say({
    rateBps: 960,
    limitBps: 1000,
    predictedBps: 930,
    plan: { number: 12, madeAgoMs: 400 },
    sites: sites.slice(0, 12).map(({ key }, index) => {
      const segments = [
        { fromSeconds: index, toSeconds: index + 9, rateBps: 100 * (1 + (index % 4)) },
      ];
      const forecast = {
        deadlineInMs: 1000 * (index + 8),
        finishInMs: 1000 * (index + 9),
        rateBps: 80,
        leftBytes: 900,
        isLate: index % 3 === 0,
        segments,
      };
      return sampleView(key, {
        deadlineMs: 60_000 + 1000 * (index + 8),
        forecast,
        state: index % 2 === 0 ? "fetching" : "back-off",
        nextInMs: 4000,
      });
    }),
    troubles: [{ url: `${sites[1]?.key}/gone`, reason: "http_404", detail: "status 404" }],
    parallel: {
      procs: names.map((name, index) => ({
        name,
        pages: 300 + 40 * index,
        pending: 90,
        rateBps: 240,
        limitBps: 250,
        state: "running",
      })),
      flows: names.map((_, from) =>
        names.map((__, to) => (from === to ? 0 : 40 * (from + 1) + 9 * to)),
      ),
    },
    topics: {
      model: "ten-topics",
      locality: 0.64,
      linksJudged: 4_000,
      byTopic: {
        science: { own: 210, imported: 34 },
        sports: { own: 160, imported: 12 },
        politics: { own: 90, imported: 70 },
      },
    },
  });
  return crawl;
}

/** Every view that it has something for. */
export const VIEWS = [
  "overview",
  "sites",
  "plan",
  "outcomes/http_404",
  "servers",
  "ledger",
  "processes",
  "topics",
];
