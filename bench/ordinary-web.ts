/**
 * Crawls ordinary software from Debian: a rate limit of HAProxy, and sites of which most URLs are no content.
 *
 *   node bench/ordinary-web.ts [--only rate,apache,nginx,dokuwiki,mediawiki,cgit]
 *
 * rate: HAProxy allows 100 requests in 10 s and answers 429 beyond; its own log is counted. The others are crawled
 * twice, with `--traps learn` and `--traps off`: the share of requests that brought content, and content pages that
 * only the full crawl found. Runs as root, because Debian's servers change their user. The packages to install are
 * in `ordinary-web-servers.ts`.
 */

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, chmodSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import {
  apacheListing,
  cgit,
  dokuWiki,
  mediaWiki,
  nginxListing,
  rateLimited,
  Servers,
} from "./ordinary-web-servers.ts";

const { values } = parseArgs({
  options: { only: { type: "string", default: "rate,apache,nginx,dokuwiki,mediawiki" } },
});
const only = new Set(values.only.split(","));
const root = resolve(import.meta.dirname, "..");
const scratch = mkdtempSync(join(tmpdir(), "weir-ordinary-"));
chmodSync(scratch, 0o755);
const servers = new Servers(scratch);

interface Page {
  readonly url: string;
}

interface Crawled {
  readonly seconds: number;
  readonly requests: number;
  readonly pages: readonly Page[];
  readonly outcomes: Readonly<Record<string, number>>;
}

/** Crawls a site with the program. */
function crawl(name: string, seed: string, flags: readonly string[]): Crawled {
  const out = join(scratch, name);
  const common = ["--allow-private", "127.0.0.0/8", "--json", "--out", out];
  const run = spawnSync(join(root, "weir"), ["crawl", seed, ...common, ...flags], {
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  if (run.status !== 0 && run.status !== 3) throw new Error(run.stderr);
  const result = JSON.parse(run.stdout) as {
    readonly seconds: number;
    readonly outcomes: Record<string, number>;
  };
  const lines = spawnSync(join(root, "weir"), ["export", out, "--format", "jsonl"], {
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  const pages = lines.stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Page);
  const skipped = ["robots_denied", "trap_useless"];
  let requests = 0;
  for (const [reason, count] of Object.entries(result.outcomes))
    if (!skipped.includes(reason)) requests += count;
  return { seconds: result.seconds, requests, pages, outcomes: result.outcomes };
}

async function rate(): Promise<void> {
  const pages = 1_200;
  const listen = "127.0.18.1:18080";
  const log = await rateLimited(servers, listen, pages);
  const { pages: stored, seconds, outcomes } = crawl("rate", `http://${listen}/`, []);
  const sent = readFileSync(log, "utf8")
    .split("\n")
    .map((line) => /^(\d+\.\d+) (\d{3}) /.exec(line))
    .filter((match) => match !== null)
    .map(([, at, status]) => ({ at: Number(at), status: Number(status) }));
  const first = Math.min(...sent.map(({ at }) => at));
  const refused = sent.filter(({ status }) => status === 429).length;
  const late = sent.filter(({ at, status }) => at >= first + 60 && status !== 429);
  const lateSeconds = Math.max(...late.map(({ at }) => at)) - first - 60;
  console.log(
    `rate: ${stored.length} of ${pages} pages stored in ${seconds.toFixed(0)} s; after a minute ` +
      `${(late.length / lateSeconds).toFixed(2)}/s of 10/s; ${refused} of ${sent.length} requests ` +
      `(${((100 * refused) / sent.length).toFixed(1)} %) answered with 429; ${JSON.stringify(outcomes)}`,
  );
}

interface Site {
  readonly name: string;
  readonly listen: string;
  readonly start: (servers: Servers, listen: string) => Promise<void>;
  /** URLs that are content. */
  readonly content: RegExp;
  readonly flags?: readonly string[];
}

const SITES: readonly Site[] = [
  { name: "apache", listen: "127.0.18.2:18082", start: apacheListing, content: /(\/|\.html)$/ },
  { name: "nginx", listen: "127.0.18.3:18083", start: nginxListing, content: /(\/|\.html)$/ },
  {
    name: "dokuwiki",
    listen: "127.0.18.4:18084",
    start: dokuWiki,
    content: /(\/|doku\.php(\?id=(start|(plants|animals|minerals|tools):number\d+))?)$/,
  },
  {
    name: "mediawiki",
    listen: "127.0.18.6:18086",
    start: mediaWiki,
    content: /index\.php\?title=(Main_Page|Plant_\d+)$/,
  },
  {
    name: "cgit",
    listen: "127.0.18.5:18085",
    start: cgit,
    content: /garden\/(|(tree|log|commit|diff|about|plain|summary|refs)\b.*)$|\/$/,
    flags: ["--nofollow", "ignore"],
  },
];

async function main(): Promise<void> {
  if (only.has("rate")) await rate();
  console.log("site       requests  content  share   full crawl  content lost");
  for (const { name, listen, start, content, flags = [] } of SITES) {
    if (!only.has(name)) continue;
    await start(servers, listen);
    const seed = `http://${listen}/`;
    const learnt = crawl(`${name}-learn`, seed, [...flags, "--traps", "learn"]);
    const full = crawl(`${name}-off`, seed, [...flags, "--traps", "off"]);
    const contentOf = ({ pages }: Crawled): Set<string> =>
      new Set(pages.map(({ url }) => url).filter((url) => content.test(url)));
    const [mine, all] = [contentOf(learnt), contentOf(full)];
    const lost = [...all].filter((url) => !mine.has(url)).length;
    const share = `${((100 * mine.size) / learnt.requests).toFixed(0)} %`;
    console.log(
      `${name.padEnd(10)} ${String(learnt.requests).padStart(8)} ${String(mine.size).padStart(8)}  ` +
        `${share.padStart(5)} ${String(full.requests).padStart(12)} ${String(lost).padStart(13)}  ` +
        JSON.stringify(learnt.outcomes),
    );
  }
}

try {
  await main();
} finally {
  servers.stop();
  if (process.env["KEEP"] === undefined) rmSync(scratch, { recursive: true, force: true });
  else console.log(scratch);
}
