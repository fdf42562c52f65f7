/**
 * Where the CPU time of a crawl goes, by the part of the program it is spent for.
 *
 *   PEERS_DIR=… node bench/profile.ts      after starting the corpus with peers-bench/nginx.sh
 *
 * Crawls the corpus of `bench/speed.ts` with V8's sampling profiler on. A sample counts for the
 * innermost function of ours or of undici on the stack: a system call made for SQLite counts for the store.
 */

import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

interface Node {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string };
  readonly children?: readonly number[];
}

interface Profile {
  readonly nodes: readonly Node[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const port = process.env["PEERS_PORT"] ?? "8780";
const scratch = mkdtempSync(join(tmpdir(), "weir-profile-"));
const globs = ["/", "/*/", "/*.html", "/*.htm"].map((end) => `http://127.0.1.*:${port}${end}`);
try {
  const done = spawnSync(
    "taskset",
    [
      ...[
        "-c",
        "1",
        join(root, "node_modules/.bin/node"),
        "--cpu-prof",
        `--cpu-prof-dir=${scratch}`,
      ],
      ...[join(root, "src/cli/main.ts"), "crawl", `http://127.0.1.1:${port}/`, "--scope", "any"],
      ...globs.flatMap((glob) => ["--include", glob]),
      ...["--drop-query", "--allow-private", "127.0.0.0/8", "--concurrency-per-site", "8"],
      ...["--out", join(scratch, "crawl"), "--no-warc", "--json", "--quiet"],
    ],
    { encoding: "utf8", maxBuffer: 64 * 2 ** 20 },
  );
  const { pages } = JSON.parse(done.stdout) as { readonly pages: number };
  // The threads have profiles of their own; the main one is the first.
  const [main = ""] = readdirSync(scratch)
    .filter((name) => name.endsWith(".cpuprofile"))
    .sort();
  print(JSON.parse(readFileSync(join(scratch, main), "utf8")) as Profile, pages);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function print(profile: Profile, pages: number): void {
  const parentOf = new Map<number, number>();
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  for (const node of profile.nodes)
    for (const child of node.children ?? []) parentOf.set(child, node.id);
  const microseconds = new Map<string, number>();
  for (const [index, sample] of profile.samples.entries()) {
    const part = partOf(sample);
    const spent = profile.timeDeltas[index] ?? 0;
    microseconds.set(part, (microseconds.get(part) ?? 0) + spent);
  }
  microseconds.delete("idle");
  const total = microseconds.values().reduce((sum, spent) => sum + spent, 0);
  process.stdout.write(`| part | share | µs a page |\n|---|--:|--:|\n`);
  for (const [part, spent] of [...microseconds].toSorted((a, b) => b[1] - a[1]).slice(0, 24)) {
    const share = ((100 * spent) / total).toFixed(1);
    process.stdout.write(`| ${part} | ${share} % | ${(spent / pages).toFixed(1)} |\n`);
  }
  process.stdout.write(`| all | 100 % | ${(total / pages).toFixed(1)} |\n`);

  function partOf(sample: number): string {
    for (let id: number | undefined = sample; id !== undefined; id = parentOf.get(id)) {
      const frame = nodes.get(id)?.callFrame;
      const own = /\/src\/(\w+)\/([\w-]+)\.ts$/.exec(frame?.url ?? "");
      if (own !== null) return `${own[1]}/${own[2]}`;
      if (frame?.url.includes("/undici/") === true) return "undici";
      if (frame?.functionName === "(garbage collector)") return "garbage collector";
      if (frame?.functionName === "(idle)") return "idle";
    }
    return "Node itself";
  }
}
