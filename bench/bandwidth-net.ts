/**
 * The network of the bandwidth bench: one namespace with servers, ten lines between it and this
 * side.
 *
 * Each line is a veth pair whose far end can be shaped to a speed, and has ten addresses: a hundred
 * sites in ten classes of speed. What a crawler on this side receives is what the near ends count,
 * outside every process that has an interest in the figures. Names begin with one prefix, so that
 * whatever a killed run left is found and removed by the next. `WEIR_BENCH_NET=1` (to 9) makes another such
 * network, for a second bench beside the first.
 *
 * Where no namespace can be made (no root, no kernel support) the same sites stand on loopback
 * behind a relay that counts; lines then cannot be shaped, and bytes count when they are handed to
 * the kernel.
 */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { ServerOptions } from "./bandwidth-server.ts";
import type { Sample } from "./bandwidth-windows.ts";

const NET_NUMBER = Number(process.env["WEIR_BENCH_NET"] ?? 0) % 10;
const PREFIX = `weirbw${NET_NUMBER}x`;
const NETWORK = `10.${90 + NET_NUMBER}`;
const LOOPBACK_NETWORK = `127.${90 + NET_NUMBER}`;
const LINES = 10;
const SITES_PER_LINE = 10;
const ADDRESS_FIRST = 10;
const PORT = 8080;
const INNER_PORT = 8079;
/** A shaped line holds back at most this much time's worth, as a sane router does. */
const QUEUE_S = 0.25;
const FRAME_BYTES = 1514;
const SESSION_NICE = "-10";
const SAMPLER_NICE = "-15";

export interface Network extends Disposable {
  /** `namespace`: counted by interfaces; `relay`: on loopback, counted by a relay. */
  readonly kind: "namespace" | "relay";
  /** What to allow the crawler besides public addresses. */
  readonly allowed: string;
  addresses(perLine: number): string[];
  /** The speed of each line, slowest first; undefined takes all shapes away. */
  shape(speedsBps: readonly number[] | undefined): void;
  /** Whether the kernel may send up to 64 KB at once and count it as one packet. */
  setOffload(isOn: boolean): void;
  serve(options: Omit<ServerOptions, "port">): Promise<Stoppable>;
  /** Collects samples until it is stopped. */
  sample(): Stoppable & { readonly samples: readonly Sample[] };
}

export interface Stoppable {
  stop(): void;
}

export const SITE_PORT = PORT;
export const LINE_COUNT = LINES;

export function makeNetwork(): Network {
  removeLeftovers();
  try {
    makeNamespace();
  } catch (error) {
    removeLeftovers();
    process.stderr.write(`no namespaces here (${String(error).split("\n")[0]}): a relay counts\n`);
    return relayNetwork();
  }
  return {
    kind: "namespace",
    allowed: `${NETWORK}.0.0/16`,
    addresses: (perLine) => addressesOf(NETWORK, perLine),
    shape: (speedsBps) => {
      for (let line = 0; line < LINES; line++) shapeLine(line, speedsBps?.[line]);
    },
    setOffload: (isOn) => {
      for (let line = 0; line < LINES; line++)
        inside("ip", "link", "set", far(line), "gso_max_segs", isOn ? "65535" : "1");
    },
    serve: (options) =>
      startServer(["ip", "netns", "exec", PREFIX, process.execPath], {
        ...options,
        port: PORT,
      }),
    sample: () =>
      readSamples(
        spawn("nice", ["-n", SAMPLER_NICE, process.execPath, script("sampler"), ...nearEnds()]),
      ),
    [Symbol.dispose]: removeLeftovers,
  };
}

function makeNamespace(): void {
  run("ip", "netns", "add", PREFIX);
  inside("ip", "link", "set", "lo", "up");
  for (let line = 0; line < LINES; line++) {
    run(
      "ip",
      "link",
      "add",
      near(line),
      "type",
      "veth",
      "peer",
      "name",
      far(line),
      "netns",
      PREFIX,
    );
    // Neighbours that look for each other over IPv6 would be counted as well.
    run("ip", "link", "set", near(line), "addrgenmode", "none");
    inside("ip", "link", "set", far(line), "addrgenmode", "none");
    run("ip", "addr", "add", `${NETWORK}.${line}.1/24`, "dev", near(line));
    run("ip", "link", "set", near(line), "up");
    for (let site = 0; site < SITES_PER_LINE; site++)
      inside(
        "ip",
        "addr",
        "add",
        `${NETWORK}.${line}.${ADDRESS_FIRST + site}/24`,
        "dev",
        far(line),
      );
    inside("ip", "link", "set", far(line), "up");
  }
}

function removeLeftovers(): void {
  quietly(() => {
    for (const pid of run("ip", "netns", "pids", PREFIX).trim().split("\n"))
      if (pid !== "") process.kill(Number(pid), "SIGKILL");
  });
  for (const name of readdirSync("/sys/class/net"))
    if (name.startsWith(PREFIX)) quietly(() => run("ip", "link", "del", name));
  quietly(() => run("ip", "netns", "del", PREFIX));
}

/** A token bucket at the servers' end: what it lets through is what this side can receive. */
function shapeLine(line: number, speedBps: number | undefined): void {
  quietly(() => inside("tc", "qdisc", "del", "dev", far(line), "root"));
  if (speedBps === undefined) return;
  const burst = Math.max(2 * FRAME_BYTES, Math.round(speedBps / 100));
  const queue = Math.max(10 * FRAME_BYTES, Math.round(speedBps * QUEUE_S));
  const shape = ["rate", `${Math.round(speedBps * 8)}bit`, "burst", `${burst}b`];
  inside("tc", "qdisc", "add", "dev", far(line), "root", "tbf", ...shape, "limit", `${queue}b`);
}

/** The same sites on loopback; the relay between them and the crawler counts. */
function relayNetwork(): Network {
  const all = addressesOf(LOOPBACK_NETWORK, SITES_PER_LINE);
  return {
    kind: "relay",
    allowed: "127.0.0.0/8",
    addresses: (perLine) => addressesOf(LOOPBACK_NETWORK, perLine),
    shape: (speedsBps) => {
      if (speedsBps !== undefined) throw new Error("lines on loopback cannot be shaped");
    },
    setOffload: () => {},
    serve: (options) =>
      startServer([process.execPath], { ...options, port: INNER_PORT, address: "127.0.0.1" }),
    sample: () => {
      const words = [script("relay"), String(INNER_PORT), String(PORT), ...all];
      return readSamples(spawn(process.execPath, words));
    },
    [Symbol.dispose]: () => {},
  };
}

async function startServer(
  [program = "", ...words]: readonly string[],
  options: ServerOptions,
): Promise<Stoppable> {
  const child = spawn(program, [...words, script("server"), JSON.stringify(options)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout });
  await new Promise<void>((resolve, reject) => {
    lines.once("line", () => resolve());
    child.once("exit", (code) => reject(new Error(`the servers ended with ${code}`)));
  });
  return { stop: () => void child.kill("SIGKILL") };
}

function readSamples(child: ChildProcess): Stoppable & { readonly samples: readonly Sample[] } {
  const samples: Sample[] = [];
  child.stderr?.pipe(process.stderr);
  if (child.stdout !== null)
    createInterface({ input: child.stdout }).on("line", (line) => {
      const [atMs = 0, bytes = 0] = line.split(" ").map(Number);
      samples.push({ atMs, bytes });
    });
  return { samples, stop: () => void child.kill("SIGKILL") };
}

function addressesOf(network: string, perLine: number): string[] {
  const all: string[] = [];
  for (let site = 0; site < perLine; site++)
    for (let line = 0; line < LINES; line++) all.push(`${network}.${line}.${ADDRESS_FIRST + site}`);
  return all;
}

function nearEnds(): string[] {
  return Array.from({ length: LINES }, (_, line) => near(line));
}

function near(line: number): string {
  return `${PREFIX}${line}`;
}

function far(line: number): string {
  return `${PREFIX}far${line}`;
}

function script(part: string): string {
  return fileURLToPath(new URL(`bandwidth-${part}.ts`, import.meta.url));
}

function inside(...words: string[]): string {
  return run("ip", "netns", "exec", PREFIX, ...words);
}

function run(program: string, ...words: string[]): string {
  return execFileSync(program, words, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/**
 * Puts this session before the machine's other work, which shall not decide what is measured. Linux
 * weighs sessions before it weighs processes, so that the usual `nice` would do nothing.
 */
export function favourSession(): Disposable {
  const file = "/proc/self/autogroup";
  const set = (nice: string): void => quietly(() => writeFileSync(file, nice));
  let before = "0";
  quietly(() => {
    before = /nice (-?\d+)/.exec(readFileSync(file, "latin1"))?.[1] ?? before;
  });
  set(SESSION_NICE);
  return { [Symbol.dispose]: () => set(before) };
}

/** What was not there need not be removed. */
function quietly(action: () => void): void {
  try {
    action();
  } catch {}
}
