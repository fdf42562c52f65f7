/**
 * Runs a fuzz target: makes inputs from samples and words, keeps those that lead to something new, and minimises an
 * input that breaks a promise.
 *
 * Everything follows from the seed, so a failure is repeated by its seed and number. Besides the promises of each
 * target, every input must be read within `CPU_MS` plus `CPU_MS_PER_KIB` for each KiB, leave the built-in prototypes as
 * they were, and leave the memory of the process below `MEMORY_BYTES_MAX`. A reader that never returns is reported by a
 * second thread.
 */

import assert from "node:assert/strict";
import { Worker } from "node:worker_threads";
import { fingerprintOf } from "../../src/url/fingerprint.ts";
import { below, pick, type Random, randomFrom } from "../../src/base/random.ts";
import type { Target } from "./target.ts";

/** CPU time of this thread for one input; several times what the slowest known input takes. */
const CPU_MS = 150;
const CPU_MS_PER_KIB = 1;
/** A slow input is read again, because garbage collection and compilation are charged to whatever runs. */
const SLOW_READS = 4;
const MEMORY_BYTES_MAX = 2 ** 30;
const MEMORY_EVERY_INPUTS = 256;
const TURN_INPUTS = 32;
const KEPT_MAX = 512;
const CHANGES_MAX = 6;
const MINIMISING_MS_MAX = 30_000;
/** Without progress for so long, the reader hangs. */
const HANG_MS = 120_000;
const INPUT_BYTES_MAX = 256 * 1024;
const PROTOTYPES = [Object, Array, String, Number, Map, Set, Function, RegExp, Promise];

export interface FuzzOptions {
  readonly seed: number;
  /** Asked before each input; the number of inputs read so far. */
  readonly goesOn: (inputs: number) => boolean;
}

export interface Failure {
  readonly target: string;
  readonly seed: number;
  readonly number: number;
  readonly message: string;
  readonly input: Uint8Array;
}

export interface FuzzResult {
  readonly inputs: number;
  /** Distinct descriptions of what was read. */
  readonly kinds: number;
  readonly slowestMs: number;
  readonly failure: Failure | undefined;
}

export async function fuzz(target: Target, { seed, goesOn }: FuzzOptions): Promise<FuzzResult> {
  using watch = new HangWatch(`${target.name} --seed ${seed}`);
  const kept = [...target.samples];
  const kinds = new Set<string>();
  let inputs = 0;
  let slowestMs = 0;
  for (; goesOn(inputs); inputs++) {
    const random = randomFrom(seed * 1_000_003 + inputs);
    const sample = target.samples[inputs];
    const input = sample ?? someInput(target, kept, random);
    watch.step(input);
    // Without turns of the event loop, freed buffers would not be returned.
    if (inputs % TURN_INPUTS === 0) await new Promise((resolve) => setImmediate(resolve));
    const read = await readOnce(target, input, inputs % MEMORY_EVERY_INPUTS === 0);
    slowestMs = Math.max(slowestMs, read.tookMs);
    if (read.problem !== undefined) {
      const small = await minimised(target, input, { problem: read.problem, watch });
      const message = (await readOnce(target, small, true)).problem ?? read.problem;
      const failure = { target: target.name, seed, number: inputs, message, input: small };
      return { inputs: inputs + 1, kinds: kinds.size, slowestMs, failure };
    }
    if (kinds.has(read.kind)) continue;
    kinds.add(read.kind);
    if (kept.length < KEPT_MAX) kept.push(input);
    else kept[target.samples.length + below(random, KEPT_MAX - target.samples.length)] = input;
  }
  return { inputs, kinds: kinds.size, slowestMs, failure: undefined };
}

interface Read {
  readonly kind: string;
  readonly tookMs: number;
  /** The promise that it broke. */
  readonly problem: string | undefined;
}

export async function readOnce(target: Target, input: Uint8Array, memory: boolean): Promise<Read> {
  const names = namesOnPrototypes();
  const msMax = target.cpuMsMax ?? CPU_MS + (CPU_MS_PER_KIB * input.length) / 1024;
  let kind = "";
  let tookMs = Infinity;
  try {
    for (let reads = 0; reads < SLOW_READS && tookMs > msMax; reads++) {
      const { user, system } = process.threadCpuUsage();
      const { low } = fingerprintOf(Buffer.from(input).toString("latin1"));
      kind = await target.check(input, randomFrom(low));
      const used = process.threadCpuUsage({ user, system });
      tookMs = Math.min(tookMs, (used.user + used.system) / 1000);
    }
    assert.equal(namesOnPrototypes(), names, "a built-in prototype was changed");
    assert.ok(tookMs <= msMax, `${Math.round(tookMs)} ms of CPU for ${input.length} bytes`);
    if (memory) assertMemory();
  } catch (error) {
    return { kind, tookMs, problem: error instanceof Error ? `${error.stack}` : String(error) };
  }
  return { kind, tookMs, problem: undefined };
}

function assertMemory(): void {
  const bytes = process.memoryUsage.rss();
  assert.ok(bytes <= MEMORY_BYTES_MAX, `${bytes} bytes of memory`);
}

function namesOnPrototypes(): number {
  let names = 0;
  for (const { prototype } of PROTOTYPES) names += Object.getOwnPropertyNames(prototype).length;
  return names;
}

/** A kept input with a few changes, or words in a row. */
function someInput(target: Target, kept: readonly Uint8Array[], random: Random): Uint8Array {
  let input: Uint8Array = below(random, 8) === 0 ? wordsInARow(target, random) : pick(random, kept);
  const changes = 1 + below(random, CHANGES_MAX);
  for (let change = 0; change < changes; change++) input = changed(target, input, kept, random);
  return input.subarray(0, target.inputBytesMax);
}

function wordsInARow({ words }: Target, random: Random): Uint8Array {
  const count = 1 + below(random, 30);
  return Buffer.concat(Array.from({ length: count }, () => bytesOf(pick(random, words))));
}

function changed(
  { words, inputBytesMax }: Target,
  input: Uint8Array,
  kept: readonly Uint8Array[],
  random: Random,
): Uint8Array {
  const at = below(random, input.length + 1);
  const end = Math.min(input.length, at + 1 + below(random, 1 << below(random, 12)));
  const [before, middle, after] = [
    input.subarray(0, at),
    input.subarray(at, end),
    input.subarray(end),
  ];
  switch (below(random, 10)) {
    case 0:
      return Buffer.concat([before, after]);
    case 1:
      return Buffer.concat([before, bytesOf(pick(random, words)), middle, after]);
    case 2:
      return Buffer.concat([before, bytesOf(pick(random, words)), after]);
    case 3:
      return Buffer.concat([before, middle, middle, after]);
    case 4: {
      const roomBytes = Math.max(0, inputBytesMax - input.length);
      const count = Math.min(1 << below(random, 14), Math.floor(roomBytes / (middle.length + 1)));
      return Buffer.concat([before, ...Array.from({ length: count }, () => middle), after]);
    }
    case 5: {
      const other = pick(random, kept);
      const from = below(random, other.length + 1);
      return Buffer.concat([before, other.subarray(from, from + below(random, 4096)), after]);
    }
    case 6: {
      const flipped = Uint8Array.from(input);
      for (let index = at; index < Math.min(end, at + 4); index++)
        flipped[index] = below(random, 256);
      return flipped;
    }
    case 7: {
      const flipped = Uint8Array.from(input);
      if (at < flipped.length) flipped[at] = (flipped[at] as number) ^ (1 << below(random, 8));
      return flipped;
    }
    case 8:
      return Buffer.concat([before, bytesOf(String(pick(random, NUMBERS))), after]);
    default:
      return before;
  }
}

const NUMBERS = [
  -1,
  0,
  1,
  255,
  2 ** 16,
  2 ** 31 - 1,
  2 ** 32,
  2 ** 53,
  1e99,
  1e-9,
  "NaN",
  "9".repeat(400),
];

/** Leaves out parts as long as the same promise stays broken. */
async function minimised(
  target: Target,
  input: Uint8Array,
  { problem, watch }: { readonly problem: string; readonly watch: HangWatch },
): Promise<Uint8Array> {
  const first = firstLine(problem);
  const endMs = performance.now() + MINIMISING_MS_MAX;
  let small = input;
  for (let step = Math.ceil(input.length / 2); step >= 1; step = Math.floor(step / 2))
    for (let at = 0; at < small.length && performance.now() < endMs;) {
      const shorter = Buffer.concat([small.subarray(0, at), small.subarray(at + step)]);
      watch.step(shorter);
      const read = await readOnce(target, shorter, true);
      if (read.problem !== undefined && firstLine(read.problem) === first) small = shorter;
      else at += step;
    }
  return small;
}

/** Without the figures, which differ between inputs. */
function firstLine(problem: string): string {
  return (problem.split("\n", 1)[0] ?? "").replaceAll(/\d+/g, "n").slice(0, 80);
}

function bytesOf(word: string | Uint8Array): Uint8Array {
  return typeof word === "string" ? Buffer.from(word) : word;
}

/** Ends the process with a message when one input keeps this thread busy for ever, and leaves that input in a file. */
class HangWatch implements Disposable {
  readonly #step = new Int32Array(new SharedArrayBuffer(8));
  readonly #input = new Uint8Array(new SharedArrayBuffer(INPUT_BYTES_MAX));
  readonly #worker: Worker;

  constructor(what: string) {
    this.#worker = new Worker(
      `const { workerData: { step, input, what, ms } } = require("node:worker_threads");
       let seen = -1;
       setInterval(() => {
         const now = Atomics.load(step, 0);
         if (now === seen) {
           const file = require("node:os").tmpdir() + "/weir-fuzz-hang.bin";
           require("node:fs").writeFileSync(file, Buffer.from(input.slice(0, step[1])));
           require("node:fs").writeSync(2, "hangs: " + what + ", the input is in " + file + "\\n");
           process.kill(process.pid, "SIGKILL");
         }
         seen = now;
       }, ms);`,
      { eval: true, workerData: { step: this.#step, input: this.#input, what, ms: HANG_MS } },
    );
    this.#worker.unref();
  }

  step(input: Uint8Array): void {
    this.#input.set(input.subarray(0, INPUT_BYTES_MAX));
    this.#step[1] = Math.min(input.length, INPUT_BYTES_MAX);
    Atomics.add(this.#step, 0, 1);
  }

  [Symbol.dispose](): void {
    void this.#worker.terminate();
  }
}
