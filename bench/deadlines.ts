/**
 * Are promises kept? Real crawls of sites with deadlines, behind lines of their own speed.
 *
 *   node bench/deadlines.ts [--sites 6,60] [--runs 20] [--wrong 1,0.5,2] [--seconds 12] [--seed 1]
 *                           [--from 0] [--delay 0]
 *                           [--weir CHECKOUT] [--keep DIR]
 *
 * Servers stand in a network namespace (see `bandwidth-net.ts`). Every run draws sizes, speeds of
 * lines and a limit so that all takes about `--seconds`, crawls once without a limit to learn the
 * true sizes, draws deadlines that `weir plan` says can be met with 8 % and half a second to spare,
 * and then crawls with them. `--wrong 2` tells the crawl that every site has twice the
 * bytes it has. `--delay 200` keeps 200 ms between requests to each site, in the plan and in the crawl, and
 * gives the number of pages. Reported for each run: deadlines met, how far each finish lay from what `weir plan --as-crawled` said, as a
 * part of the plan's last, and whether sites finished in the planned order (pairs whose planned
 * finishes are more than 5 % of the whole apart). `--from` begins with a later run, to look into it; with `--keep` every site's finish is printed beside the planned one. Needs root.
 */

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { pick, type Random, randomFrom } from "../src/base/random.ts";
import {
  favourSession,
  LINE_COUNT,
  makeNetwork,
  type Network,
  SITE_PORT,
} from "./bandwidth-net.ts";

const { values } = parseArgs({
  options: {
    sites: { type: "string", default: "6,60" },
    runs: { type: "string", default: "20" },
    wrong: { type: "string", default: "1,0.5,2" },
    seconds: { type: "string", default: "12" },
    seed: { type: "string", default: "1" },
    from: { type: "string", default: "0" },
    delay: { type: "string", default: "0" },
    weir: { type: "string" },
    keep: { type: "string" },
  },
});

interface PlannedSite {
  readonly site: string;
  readonly finishSeconds: number;
  readonly met: boolean | null;
}

interface CrawledSite {
  readonly site: string;
  readonly bytes: number;
  readonly finishedSeconds: number | null;
  readonly met: boolean | null;
}

interface Scene {
  readonly limitBps: number;
  readonly sites: readonly {
    readonly address: string;
    readonly pages: number;
    readonly capBps: number | undefined;
  }[];
}

interface Outcome {
  readonly met: number;
  readonly promised: number;
  /** How far finishes lay from the plan's, as a part of the whole: of all sites the mean, and the worst. */
  readonly meanShare: number;
  readonly worstShare: number;
  readonly ordered: number;
  readonly pairs: number;
}

const MEAN_PAGE_BYTES = 7900;
/** What a plan must have to spare for a deadline to count as one that can be met. */
const SPARE_SHARE = 0.08;
const SPARE_SECONDS = 0.5;
/** Finishes closer than this part of the whole may come in any order. */
const APART_SHARE = 0.05;
/** Packets add 7 % to what is in them, and a limit is filled to 98 %: the rest is for bytes. */
const PACKETS_ADD = 1.07;
const PAYLOAD_SHARE = 0.98 / PACKETS_ADD;
const CONCURRENCY_PER_SITE = 8;
let files = 0;
const root = resolve(fileURLToPath(import.meta.url), "../..");
const program = join(values.weir ?? root, "weir");
const scratch = values.keep ?? mkdtempSync(join(tmpdir(), "weir-deadlines-"));
const network = makeNetwork();
const favour = favourSession();
process.once("exit", () => {
  favour[Symbol.dispose]();
  network[Symbol.dispose]();
  if (values.keep === undefined) rmSync(scratch, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.once(signal, () => process.exit(130));

say(
  "| sites | size said | runs | deadlines met | runs with all met | finish off the plan's: mean, worst site of a run, worst of all | pairs in planned order |",
);
say("|--:|--:|--:|--:|--:|--:|--:|");
for (const count of values.sites.split(",").map(Number))
  for (const wrong of values.wrong.split(",").map(Number)) await series(count, wrong);
process.exit();

async function series(count: number, wrong: number): Promise<void> {
  const outcomes: Outcome[] = [];
  for (let run = 0; run < Number(values.runs); run++) {
    const seed = Number(values.seed) * 1000 + Number(values.from) + run;
    outcomes.push(await one(network, count, { seed, wrong }));
  }
  const sum = (of: (outcome: Outcome) => number): number =>
    outcomes.reduce((total, outcome) => total + of(outcome), 0);
  const all = outcomes.filter((outcome) => outcome.met === outcome.promised).length;
  const mean = (sum(({ meanShare }) => meanShare) / outcomes.length) * 100;
  const meanWorst = (sum(({ worstShare }) => worstShare) / outcomes.length) * 100;
  const worst = Math.max(...outcomes.map(({ worstShare }) => worstShare)) * 100;
  say(
    `| ${count} | ×${wrong} | ${outcomes.length} | ${sum(({ met }) => met)} of ${sum(({ promised }) => promised)} | ${all} | ${mean.toFixed(1)} %, ${meanWorst.toFixed(1)} %, ${worst.toFixed(1)} % | ${sum(({ ordered }) => ordered)} of ${sum(({ pairs }) => pairs)} |`,
  );
}

async function one(
  net: Network,
  count: number,
  { seed, wrong }: { readonly seed: number; readonly wrong: number },
): Promise<Outcome> {
  const random = randomFrom(seed);
  const scene = sceneOf(net, count, random);
  net.shape(speedsByLine(scene, net));
  const pagesOf = Object.fromEntries(scene.sites.map(({ address, pages }) => [address, pages]));
  const server = await net.serve({ mix: "small", pagesOf, speedsOf: speedsBySite(scene) });
  try {
    const free = await crawl({ ...scene, limitBps: 100e6 }, []);
    const sizes = new Map(free.sites.map(({ site, bytes }) => [site, bytes]));
    const lines = scene.sites.map((site) => ({
      ...site,
      url: `http://${site.address}:${SITE_PORT}`,
      bytes: sizes.get(`http://${site.address}:${SITE_PORT}`) ?? 0,
    }));
    const deadlines = drawDeadlines(scene, lines, random);
    const planned = plan(configOf(scene, lines, { deadlines, wrong: 1 }), ["--as-crawled"]);
    const done = await crawl(scene, ["--config", configOf(scene, lines, { deadlines, wrong })]);
    return judge(planned, done.sites, seed);
  } finally {
    server.stop();
  }
}

/** Sizes over a factor of twenty, lines from a tenth to twice the limit, some without a shape. */
function sceneOf(net: Network, count: number, random: Random): Scene {
  const limitBps = pick(random, [1e6, 2e6, 4e6]);
  const wholeBytes = limitBps * Number(values.seconds);
  const parts = Array.from({ length: count }, () => 20 ** random.next());
  const sum = parts.reduce((total, part) => total + part, 0);
  const perLine = Math.ceil(count / LINE_COUNT);
  const speeds = Array.from({ length: LINE_COUNT }, () =>
    random.next() < 0.4 ? undefined : limitBps * 0.25 * 8 ** random.next(),
  );
  const addresses = net.addresses(perLine).slice(0, count);
  return {
    limitBps,
    sites: addresses.map((address, index) => {
      const lineBps = speeds[lineOf(address)];
      return {
        address,
        pages: Math.max(
          3,
          Math.round(((parts[index] ?? 1) / sum) * (wholeBytes / MEAN_PAGE_BYTES)),
        ),
        capBps:
          lineBps === undefined
            ? undefined
            : lineBps / Math.min(perLine, 1 + count / LINE_COUNT / 3),
      };
    }),
  };
}

/** What a plan can count on: sizes are bytes of pages, limits are bytes on the line. */
function payload(scene: Scene): Scene {
  return { ...scene, limitBps: scene.limitBps * PAYLOAD_SHARE };
}

function lineOf(address: string): number {
  return Number(address.split(".")[2]);
}

/** Of few sites each has a line to itself, which is shaped; many share theirs, and are slow themselves. */
function hasOwnLines(scene: Scene): boolean {
  return scene.sites.length <= LINE_COUNT;
}

function speedsByLine(scene: Scene, net: Network): (number | undefined)[] | undefined {
  if (net.kind === "relay") return undefined;
  const speeds: (number | undefined)[] = Array.from({ length: LINE_COUNT }, () => undefined);
  if (hasOwnLines(scene))
    for (const { address, capBps } of scene.sites) speeds[lineOf(address)] = capBps;
  return speeds;
}

function speedsBySite(scene: Scene): Record<string, number> {
  if (hasOwnLines(scene)) return {};
  return Object.fromEntries(
    scene.sites.flatMap(({ address, capBps }) => (capBps === undefined ? [] : [[address, capBps]])),
  );
}

type Line = Scene["sites"][number] & { readonly url: string; readonly bytes: number };

/** A part of the sites gets a deadline, somewhat after the finish that a plan without any has. */
function drawDeadlines(scene: Scene, lines: readonly Line[], random: Random): Map<string, number> {
  const free = plan(configOf(payload(scene), lines, { deadlines: new Map(), wrong: 1 }));
  const deadlines = new Map<string, number>();
  const last = Math.max(...free.map(({ finishSeconds }) => finishSeconds));
  for (const { site, finishSeconds } of free) {
    if (random.next() < 0.4) continue;
    // Some early, so that the order must change for them; what cannot be is moved until it can.
    const early = random.next() < 0.3 ? 0.6 : 1;
    const after = Math.max(finishSeconds * early, 0.15 * last);
    deadlines.set(site, after * (1.05 + 0.55 * random.next()) + 1);
  }
  // With something to spare: a crawl is no clock, and its first requests take a moment.
  for (let round = 0; round < 40; round++) {
    const tight = new Map(
      Array.from(deadlines, ([site, seconds]) => [
        site,
        seconds * (1 - SPARE_SHARE) - SPARE_SECONDS,
      ]),
    );
    const planned = plan(configOf(payload(scene), lines, { deadlines: tight, wrong: 1 }));
    const late = planned.filter(({ met }) => met === false);
    if (late.length === 0) break;
    for (const { site, finishSeconds } of late) deadlines.set(site, finishSeconds * 1.15 + 1);
  }
  return deadlines;
}

function configOf(
  scene: Scene,
  lines: readonly Line[],
  { deadlines, wrong }: { readonly deadlines: ReadonlyMap<string, number>; readonly wrong: number },
): string {
  const file = join(scratch, `plan-${files++}.yaml`);
  // Of a line packets take their part; a server's own speed is that of pages.
  const pagesOf = hasOwnLines(scene) ? 1 / PACKETS_ADD : 1;
  const text = [
    `limit: ${Math.round(scene.limitBps / 1000)}KB/s`,
    `concurrencyPerSite: ${CONCURRENCY_PER_SITE}`,
    `delay: ${values.delay}ms`,
    "addressDelay: 0",
    "sites:",
  ];
  for (const { url, bytes, pages, capBps } of lines) {
    text.push(`  - url: ${url}/p/0.html`, `    size: ${Math.round((bytes * wrong) / 100) / 10}KB`);
    if (values.delay !== "0") text.push(`    pages: ${pages}`);
    if (capBps !== undefined) text.push(`    cap: ${Math.round((capBps * pagesOf) / 1000)}KB/s`);
    const deadline = deadlines.get(url);
    if (deadline !== undefined) text.push(`    deadline: ${Math.round(deadline * 1000)}ms`);
  }
  writeFileSync(file, `${text.join("\n")}\n`);
  return file;
}

function plan(config: string, words: readonly string[] = []): PlannedSite[] {
  const text = execFileSync(program, ["plan", "--config", config, "--json", ...words], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  return (JSON.parse(text) as { sites: PlannedSite[] }).sites;
}

async function crawl(
  scene: Scene,
  words: readonly string[],
): Promise<{ readonly sites: readonly CrawledSite[] }> {
  const urls = scene.sites.map(({ address }) => `http://${address}:${SITE_PORT}/p/0.html`);
  const out = join(scratch, "crawl");
  const child = spawn(
    program,
    [
      "crawl",
      ...(words.length === 0 ? urls : words),
      ...["--concurrency-per-site", String(CONCURRENCY_PER_SITE)],
      ...[
        "--allow-private",
        network.allowed,
        "--delay",
        words.length === 0 ? "0" : `${values.delay}ms`,
        "--address-delay",
        "0",
        "--out",
        out,
        "--fresh",
      ],
      ...["--no-warc", "--json", "--quiet"],
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  let text = "";
  for await (const piece of child.stdout) text += String(piece);
  return JSON.parse(text) as { sites: readonly CrawledSite[] };
}

function judge(
  planned: readonly PlannedSite[],
  done: readonly CrawledSite[],
  seed: number,
): Outcome {
  const finished = new Map(done.map((site) => [site.site, site]));
  const last = Math.max(...planned.map(({ finishSeconds }) => finishSeconds));
  const promised = done.filter(({ met }) => met !== null);
  const missed = promised.filter(({ met }) => met === false);
  for (const { site, finishedSeconds } of missed)
    process.stderr.write(
      `seed ${seed}: ${site} missed, done after ${finishedSeconds ?? "never"} s\n`,
    );
  const rows = planned.map(({ site, finishSeconds }) => ({
    finishSeconds,
    finishedSeconds: finished.get(site)?.finishedSeconds ?? Infinity,
  }));
  if (values.keep !== undefined)
    for (const { site, finishSeconds } of planned)
      process.stderr.write(
        `${site}: planned ${finishSeconds.toFixed(2)} s, finished ${finished.get(site)?.finishedSeconds ?? "never"} s\n`,
      );
  const off = rows.map((row) => Math.abs(row.finishedSeconds - row.finishSeconds) / last);
  let pairs = 0;
  let ordered = 0;
  for (const a of rows)
    for (const b of rows) {
      if (a.finishSeconds + APART_SHARE * last >= b.finishSeconds) continue;
      pairs += 1;
      if (a.finishedSeconds <= b.finishedSeconds) ordered += 1;
    }
  process.stderr.write(
    `seed ${seed}: ${promised.length - missed.length} of ${promised.length} met, worst finish ${(Math.max(...off) * 100).toFixed(1)} % off\n`,
  );
  return {
    met: promised.length - missed.length,
    promised: promised.length,
    meanShare: off.reduce((total, share) => total + share, 0) / off.length,
    worstShare: Math.max(...off),
    ordered,
    pairs,
  };
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
