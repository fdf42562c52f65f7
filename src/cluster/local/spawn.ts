/**
 * Starts the processes under a supervisor, sends them their jobs, and restarts them when they die.
 *
 * A restarted process resumes from its store. A process that dies repeatedly without progress ends the crawl with an
 * error: stored data is safe, and no other process waits for it.
 */

import { type ChildProcess, fork } from "node:child_process";
import { CrawlError } from "../../base/errors.ts";
import type { LogEntry } from "../../base/log.ts";
import type { CrawlResult } from "../../control/snapshot.ts";
import type { ProcessHub } from "../../exchange/local/bus-process.ts";
import { childPort } from "../../exchange/local/port.ts";
import { type Job, type ChannelMessage, channelMessageIn } from "./channel.ts";

interface SpawnerParts {
  readonly hub: ProcessHub;
  /** Called for every start. */
  readonly jobOf: (name: string, isFirstStart: boolean) => Job;
  /** Called when a process ends without a result. */
  readonly onGone: (name: string) => void;
  readonly onResult: (name: string, result: CrawlResult) => void;
  readonly onLog: (name: string, entry: LogEntry) => void;
  /** A process cannot run, or died too often without progress. */
  readonly onFailed: (error: unknown) => void;
  /** Progress of a process: one that progresses between deaths is restarted without end. */
  readonly progressOf: (name: string) => number;
}

interface ChildRecord {
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
const MAIN = new URL(`./main${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url);

export class Spawner {
  readonly #parts: SpawnerParts;
  readonly #children = new Map<string, ChildRecord>();
  #isClosed = false;

  constructor(parts: SpawnerParts) {
    this.#parts = parts;
  }

  /** Ids of the running processes. */
  get processIds(): readonly number[] {
    return [...this.#children.values()].flatMap(({ child }) => child?.pid ?? []);
  }

  start(name: string): void {
    const record = this.#children.get(name) ?? newRecord();
    this.#children.set(name, record);
    const child = fork(MAIN, [], { serialization: "advanced", stdio: ["ignore", 2, 2, "ipc"] });
    record.child = child;
    record.starts += 1;
    const isFirstStart = record.starts === 1;
    child.on("message", (message) => {
      const word = channelMessageIn(message);
      if (word?.weir === "ready") {
        this.#parts.hub.attach(name, childPort(child));
        child.send({
          weir: "job",
          job: this.#parts.jobOf(name, isFirstStart),
        } satisfies ChannelMessage);
      } else if (word !== undefined) this.#hear(name, record, word);
    });
    child.on("error", (error) => this.#parts.onFailed(error));
    child.on("exit", () => this.#ended(name, record, child));
  }

  /** Kills all running processes. */
  close(): void {
    this.#isClosed = true;
    for (const { child, timer } of this.#children.values()) {
      clearTimeout(timer);
      child?.kill("SIGKILL");
    }
  }

  #hear(name: string, record: ChildRecord, word: ChannelMessage): void {
    const { onLog, onFailed } = this.#parts;
    if (word.weir === "log") for (const entry of word.entries) onLog(name, entry);
    if (word.weir === "result") record.result = word.result;
    if (word.weir === "refused") onFailed(new CrawlError(word.code, word.message));
    if (word.weir === "fault") onLog(name, { level: "error", message: word.message, values: {} });
  }

  #ended(name: string, record: ChildRecord, child: ChildProcess): void {
    if (record.child !== child) return;
    record.child = undefined;
    const { hub, onGone, onResult, onFailed, progressOf } = this.#parts;
    hub.detach(name);
    if (this.#isClosed) return;
    if (record.result !== undefined) return onResult(name, record.result);
    onGone(name);
    const progress = progressOf(name);
    record.deathsInRow = progress > record.progress ? 1 : record.deathsInRow + 1;
    record.progress = progress;
    if (record.deathsInRow > DEATHS_IN_ROW_MAX) {
      const what = `${name} ended ${record.deathsInRow} times in a row without progress`;
      return onFailed(new CrawlError("PROCESS_FAILED", what));
    }
    const againMs = Math.min(AGAIN_MAX_MS, AGAIN_FIRST_MS * 2 ** record.deathsInRow);
    record.timer = setTimeout(() => this.start(name), againMs);
  }
}

function newRecord(): ChildRecord {
  return {
    child: undefined,
    result: undefined,
    deathsInRow: 0,
    progress: 0,
    starts: 0,
    timer: undefined,
  };
}
