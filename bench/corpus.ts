/**
 * Real documentation pages of 17 sites, served by nginx under as many addresses each as are asked for, and crawls of them.
 *
 * The pages are those that `../shared/peers-bench/setup.sh` unpacks into PEERS_DIR.
 */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const SITES = 17;
const PORT = 8790;
const WEIR = fileURLToPath(new URL("../weir", import.meta.url));

export interface Run {
  readonly pages: number;
  readonly pagesPerSecond: number;
  /** Of all processes and threads, with their start and the report at the end. */
  readonly cpuMsPerPage: number;
}

export class Corpus implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), "weir-corpus-"));
  readonly #nginx: ChildProcess;

  private constructor(copies: number) {
    this.#nginx = spawn("nginx", ["-p", this.folder, "-c", this.#write(copies)], {
      stdio: "inherit",
    });
  }

  static async serve(copies: number): Promise<Corpus> {
    const corpus = new Corpus(copies);
    await corpus.#listening();
    return corpus;
  }

  /** Crawls everything with these words in addition; on one core when pinned. */
  crawl(words: readonly string[], isPinned = false): Run {
    const [times, out] = [join(this.folder, "times"), join(this.folder, "crawl")];
    const globs = ["", "*/", "*.html", "*.htm"].map((end) => `http://127.0.*:${PORT}/${end}`);
    rmSync(out, { recursive: true, force: true });
    const pinned = isPinned ? "taskset -c 1" : "";
    const limits = "--connections 64 --concurrency-per-site 8 --concurrency-per-address 8";
    const plain = "--allow-private 127.0.0.0/8 --drop-query --fresh --json --quiet";
    const { stdout, status } = spawnSync(
      "/usr/bin/time",
      [
        ...`-f %U\t%S -o ${times} ${pinned} ${WEIR} crawl ${limits} ${plain}`.split(/ +/),
        ...globs.flatMap((glob) => ["--include", glob]),
        ...`--out ${out} --seeds ${this.folder}/seeds`.split(" "),
        ...words,
      ],
      { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], maxBuffer: 2 ** 28 },
    );
    if (status !== 0) throw new Error(`weir crawl ${words.join(" ")}: exit code ${status}`);
    const { pages, seconds } = JSON.parse(stdout) as { pages: number; seconds: number };
    const [user = 0, system = 0] = readFileSync(times, "utf8").trim().split("\t").map(Number);
    const cpuMsPerPage = Number(((1000 * (user + system)) / pages).toFixed(3));
    return { pages, pagesPerSecond: pages / seconds, cpuMsPerPage };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#nginx.exitCode === null) {
      this.#nginx.kill();
      await once(this.#nginx, "exit");
    }
    rmSync(this.folder, { recursive: true });
  }

  #write(copies: number): string {
    const pages = process.env["PEERS_DIR"];
    if (pages === undefined)
      throw new Error("set PEERS_DIR to the folder that peers-bench/setup.sh made");
    const places = Array.from({ length: copies * SITES }, (_, at) => ({
      site: (at % SITES) + 1,
      address: `127.0.${Math.floor(at / SITES) + 1}.${(at % SITES) + 1}:${PORT}`,
    }));
    const seeds = places.map(({ address }) => `http://${address}/`);
    writeFileSync(join(this.folder, "seeds"), seeds.join("\n"));
    mkdirSync(join(this.folder, "temp"));
    const lines = [
      `worker_processes 1; daemon off; pid ${this.folder}/pid; error_log stderr crit;`,
      "events { worker_connections 4096; }",
      "http { types { text/html html htm; } access_log off; sendfile on; tcp_nodelay on;",
      "keepalive_requests 100000000; index index.html;",
      ...["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
        (name) => `${name}_temp_path ${this.folder}/temp/${name};`,
      ),
      ...places.map(
        ({ site, address }) =>
          `server { listen ${address} backlog=4096; root ${pages}/sites/${site}; }`,
      ),
      "}",
    ];
    const file = join(this.folder, "nginx.conf");
    writeFileSync(file, lines.join("\n"));
    return file;
  }

  async #listening(): Promise<void> {
    while (!(await isOpen())) {
      if (this.#nginx.exitCode !== null) throw new Error("nginx does not run");
      await sleep(50);
    }
  }
}

function isOpen(): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(PORT, "127.0.1.1");
    const end = (answer: boolean) => (): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("connect", end(true)).once("error", end(false));
  });
}

export interface Row {
  readonly name: string;
  readonly pages: number;
  readonly pagesPerSecond: number;
  readonly speedOfFirst: number;
  readonly cpuMsPerPage: number;
  readonly cpuOfFirst: number;
}

/** Runs all cases in turn, as often as asked for, and prints medians and their ratios to the first case. */
export function compare(cases: Readonly<Record<string, () => Run>>, rounds: number): Row[] {
  const runs = new Map<string, Run[]>();
  for (let round = 0; round < rounds; round++)
    for (const [name, crawl] of Object.entries(cases)) {
      const run = crawl();
      runs.set(name, [...(runs.get(name) ?? []), run]);
      console.error(`${name}: ${Math.round(run.pagesPerSecond)} pages/s, ${run.cpuMsPerPage} ms`);
    }
  const medians = [...runs].map(([name, all]) => ({
    name,
    pages: median(all.map(({ pages }) => pages)),
    pagesPerSecond: Math.round(median(all.map(({ pagesPerSecond }) => pagesPerSecond))),
    cpuMsPerPage: median(all.map(({ cpuMsPerPage }) => cpuMsPerPage)),
  }));
  const rows = medians.map(({ name, pages, pagesPerSecond, cpuMsPerPage }) => ({
    name,
    pages,
    pagesPerSecond,
    speedOfFirst: Number((pagesPerSecond / (medians[0]?.pagesPerSecond ?? 1)).toFixed(2)),
    cpuMsPerPage,
    cpuOfFirst: Number((cpuMsPerPage / (medians[0]?.cpuMsPerPage ?? 1)).toFixed(2)),
  }));
  console.log("| | pages | pages/s | of the first | CPU, ms a page | of the first |");
  console.log("|---|--:|--:|--:|--:|--:|");
  for (const row of rows) console.log(`| ${Object.values(row).join(" | ")} |`);
  return rows;
}

function median(figures: readonly number[]): number {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ?? Number.NaN;
}
