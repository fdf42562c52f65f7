/**
 * How each crawler is configured to stay under a rate: ours, and the peers that claim to support
 * it.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** What a crawler is asked to do. */
export interface Assignment {
  readonly seeds: readonly string[];
  readonly limitBps: number | undefined;
  /** Most requests at the same time: in all, and of one site. */
  readonly connections: number;
  readonly perSite: number;
  /** Of those that can share the work. */
  readonly processes: number;
  /** Addresses that are not public, but may be asked. */
  readonly allowed: string;
  /** An empty folder that is gone afterwards. */
  readonly folder: string;
  readonly secondsMax: number;
}

export interface Command {
  readonly program: string;
  readonly words: readonly string[];
}

export interface Contender {
  readonly name: string;
  command(assignment: Assignment): Command;
}

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Weir of a checkout, by default of this one; more flags come last and win. */
export function weir(flags: readonly string[] = [], root: string = ROOT): Contender {
  return {
    name: "weir",
    command: (assignment) => ({
      program: process.execPath,
      words: [join(root, "src/cli/main.ts"), ...weirWords(assignment), ...flags],
    }),
  };
}

export function weirFolder(assignment: Assignment): string {
  return join(assignment.folder, "crawl");
}

export function limitText(limitBps: number): string {
  return `${limitBps}B/s`;
}

function weirWords(assignment: Assignment): string[] {
  const { limitBps, connections, perSite, processes, allowed, secondsMax } = assignment;
  const words = ["crawl", "--seeds", seedsFile(assignment), "--out", weirFolder(assignment)];
  words.push("--fresh", "--json", "--quiet", "--no-warc", "--insecure-tls");
  words.push("--allow-private", allowed, "--delay", "0s", "--address-delay", "0s");
  words.push("--connections", String(connections), "--time", `${secondsMax}s`);
  words.push("--concurrency-per-site", String(perSite));
  words.push("--concurrency-per-address", String(perSite));
  // Large pages on slow lines are meant to take long here, and page numbers are no trap.
  words.push("--body-max", "32MiB", "--total-timeout", "1h", "--first-byte-timeout", "10m");
  words.push("--idle-timeout", "10m", "--speed-floor", "0", "--pattern-budget", "100000000");
  words.push("--site-budget", "100000000", "--domain-budget", "100000000");
  if (processes > 1) words.push("--procs", String(processes));
  if (limitBps !== undefined) words.push("--limit", limitText(limitBps));
  return words;
}

export const PEERS: readonly Contender[] = [
  {
    name: "wget2 --limit-rate",
    command: (assignment) => ({
      program: process.env["WGET2"] ?? "wget2",
      words: [
        ...plain("-r -l inf -q --robots=off --delete-after --http2=off --progress=none --tries=1"),
        `--max-threads=${assignment.connections}`,
        ...limited("--limit-rate=", assignment),
        "-P",
        assignment.folder,
        "-i",
        seedsFile(assignment),
      ],
    }),
  },
  {
    name: "httrack --max-rate",
    command: (assignment) => ({
      program: "httrack",
      words: [
        // Without the second line it takes at most 100 KB/s, whatever the setting.
        ...plain("-q -C0 -I0 --robots=0"),
        ...plain("--disable-security-limits --connection-per-second=0"),
        `--sockets=${assignment.connections}`,
        ...limited("--max-rate=", assignment),
        "-O",
        assignment.folder,
        "--list",
        seedsFile(assignment),
      ],
    }),
  },
  {
    name: "wget --limit-rate",
    command: (assignment) => ({
      program: "wget",
      words: [
        ...plain("-r -l inf -q -e robots=off --delete-after --tries=1"),
        ...limited("--limit-rate=", assignment),
        "-P",
        assignment.folder,
        "-i",
        seedsFile(assignment),
      ],
    }),
  },
  {
    name: "curl --limit-rate, 8 at once",
    command: (assignment) => ({
      program: "curl",
      words: [
        ...plain("-s --parallel --parallel-max 8"),
        ...(assignment.limitBps === undefined ? [] : ["--limit-rate", String(assignment.limitBps)]),
        "-K",
        curlFile(assignment),
      ],
    }),
  },
];

function plain(words: string): string[] {
  return words.split(" ");
}

function limited(flag: string, { limitBps }: Assignment): string[] {
  return limitBps === undefined ? [] : [`${flag}${limitBps}`];
}

function seedsFile(assignment: Assignment): string {
  const file = join(assignment.folder, "seeds.txt");
  writeFileSync(file, `${assignment.seeds.join("\n")}\n`);
  return file;
}

/** curl follows no links, so it is given pages enough. */
function curlFile(assignment: Assignment): string {
  const file = join(assignment.folder, "curl.txt");
  const urls: string[] = [];
  for (let page = 0; page < 2000; page++)
    for (const seed of assignment.seeds)
      if (seed.endsWith("/p/0.html")) urls.push(seed.replace("/p/0", `/p/${page}`));
  writeFileSync(file, urls.map((url) => `url = "${url}"\noutput = "/dev/null"\n`).join(""));
  return file;
}
