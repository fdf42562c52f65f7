/**
 * The processes under a supervisor: starts them, hands them their jobs, and starts them again when they die.
 *
 * One that dies goes on from its store. One that dies again and again without getting anywhere is
 * given up, and the crawl with it: what is stored is safe, and nobody waits for ever.
 */

import { type ChildProcess, fork } from "node:child_process";
import { CrawlError } from "../base/errors.ts";
import type { LogEntry } from "../base/log.ts";
import type { CrawlResult } from "../control/snapshot.ts";
import type { ProcessHub } from "../exchange/bus-process.ts";
import { childPort } from "../exchange/port.ts";
import { type Job, type Word, wordIn } from "./job.ts";

export interface CrewParts {
  readonly hub: ProcessHub;
  /** Made anew for every start. */
  readonly jobOf: (name: string, isFirstStart: boolean) => Job;
  /** Told of every death that was not its end. */
  readonly onGone: (name: string) => void;
  readonly onResult: (name: string, result: CrawlResult) => void;
  readonly onLog: (name: string, entry: LogEntry) => void;
  /** It cannot go on, however often it is started. */
  readonly onFailed: (error: unknown) => void;
  /** How far a process has come: one that dies and has come further is in trouble, not broken. */
  readonly progressOf: (name: string) => number;
}

interface Hand {
  child: ChildProcess | undefined;
  result: CrawlResult | undefined;
  deathsInRow: number;
  progress: number;
  starts: number;
  timer: NodeJS.Timeout | undefined;
}

const DEATHS_IN_ROW_MAX = 6;
const AGAIN_FIRST_MS = 100;
const AGAIN_MAX_MS = 5_000;
const MAIN = new URL(
  `./process-main${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`,
  import.meta.url,
);

export class Crew {
  readonly #parts: CrewParts;
  readonly #hands = new Map<string, Hand>();
  #isClosed = false;

  constructor(parts: CrewParts) {
    this.#parts = parts;
  }

  /** Ids of the processes that live now. */
  get processIds(): readonly number[] {
    return [...this.#hands.values()].flatMap(({ child }) => child?.pid ?? []);
  }

  start(name: string): void {
    const hand = this.#hands.get(name) ?? newHand();
    this.#hands.set(name, hand);
    const child = fork(MAIN, [], { serialization: "advanced", stdio: ["ignore", 2, 2, "ipc"] });
    hand.child = child;
    hand.starts += 1;
    const isFirstStart = hand.starts === 1;
    child.on("message", (message) => {
      const word = wordIn(message);
      if (word?.weir === "ready") {
        this.#parts.hub.attach(name, childPort(child));
        child.send({ weir: "job", job: this.#parts.jobOf(name, isFirstStart) } satisfies Word);
      } else if (word !== undefined) this.#hear(name, hand, word);
    });
    child.on("error", (error) => this.#parts.onFailed(error));
    child.on("exit", () => this.#ended(name, hand, child));
  }

  /** Ends all that live, at once. */
  close(): void {
    this.#isClosed = true;
    for (const { child, timer } of this.#hands.values()) {
      clearTimeout(timer);
      child?.kill("SIGKILL");
    }
  }

  #hear(name: string, hand: Hand, word: Word): void {
    const { onLog, onFailed } = this.#parts;
    if (word.weir === "log") for (const entry of word.entries) onLog(name, entry);
    if (word.weir === "result") hand.result = word.result;
    if (word.weir === "refused") onFailed(new CrawlError(word.code, word.message));
    if (word.weir === "fault") onLog(name, { level: "error", message: word.message, values: {} });
  }

  #ended(name: string, hand: Hand, child: ChildProcess): void {
    if (hand.child !== child) return;
    hand.child = undefined;
    const { hub, onGone, onResult, onFailed, progressOf } = this.#parts;
    hub.detach(name);
    if (this.#isClosed) return;
    if (hand.result !== undefined) return onResult(name, hand.result);
    onGone(name);
    const progress = progressOf(name);
    hand.deathsInRow = progress > hand.progress ? 1 : hand.deathsInRow + 1;
    hand.progress = progress;
    if (hand.deathsInRow > DEATHS_IN_ROW_MAX) {
      const what = `${name} ended ${hand.deathsInRow} times in a row without progress`;
      return onFailed(new CrawlError("PROCESS_FAILED", what));
    }
    const againMs = Math.min(AGAIN_MAX_MS, AGAIN_FIRST_MS * 2 ** hand.deathsInRow);
    hand.timer = setTimeout(() => this.start(name), againMs);
  }
}

function newHand(): Hand {
  return {
    child: undefined,
    result: undefined,
    deathsInRow: 0,
    progress: 0,
    starts: 0,
    timer: undefined,
  };
}
