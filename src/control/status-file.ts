/**
 * Shows a running crawl to other programs and accepts changes: two places in its folder.
 *
 * `status.json` is rewritten atomically every second. To change a setting, a program writes a file
 * `control/<name>.json` and reads the answer from `control/<name>.reply.json`. There is no port and
 * no socket: write access to the folder is the permission.
 */

import { randomUUID } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { sleep, systemClock } from "../base/clock.ts";
import { CrawlError, type ErrorCode } from "../base/errors.ts";
import { OWNER_ONLY } from "../base/owner-only.ts";
import { visible } from "../base/visible.ts";
import type { Snapshot } from "./snapshot.ts";

const LOOK_EVERY_MS = 250;
const STATUS_EVERY_MS = 1000;
const REQUEST_BYTES_MAX = 4096;
const TAKEN_MS_MAX = 2_000;
/** Longer than a cluster waits for the confirmation of a change. */
const ANSWER_MS_MAX = 15_000;
const LOOK_FOR_ANSWER_MS = 20;

export interface Reply {
  readonly ok: boolean;
  /** Of the error, when it is not ok. */
  readonly code?: ErrorCode;
  readonly message: string;
}

/** Sends a change to a running crawl and waits for its answer. */
export async function askCrawl(
  folder: string,
  wish: { readonly key: string; readonly value: string },
): Promise<Reply> {
  const letter = join(folder, "control", `${randomUUID()}.json`);
  const answer = letter.replace(/\.json$/, ".reply.json");
  try {
    writeFileSync(`${letter}.part`, JSON.stringify(wish));
    renameSync(`${letter}.part`, letter);
  } catch (error) {
    const what = `${visible(folder, 200)} accepts no changes.`;
    throw new CrawlError("NOT_RUNNING", what, { cause: error });
  }
  const sentMs = systemClock.nowMs();
  let isTaken = false;
  while (systemClock.nowMs() < sentMs + (isTaken ? ANSWER_MS_MAX : TAKEN_MS_MAX)) {
    // In this order: the crawl removes the request before it answers.
    isTaken ||= !existsSync(letter);
    const reply = readReply(answer);
    if (reply !== undefined) return reply;
    // A crawl that ends removes its mailbox with the answers; a request to stop has then succeeded.
    if (!existsSync(dirname(letter)))
      return { ok: wish.key === "stop", message: "the crawl has ended" };
    await sleep(systemClock, LOOK_FOR_ANSWER_MS);
  }
  rmSync(letter, { force: true });
  throw new CrawlError("NOT_RUNNING", `The crawl in ${visible(folder, 200)} does not answer.`);
}

function readReply(file: string): Reply | undefined {
  try {
    const reply = JSON.parse(readFileSync(file, "utf8")) as Reply;
    rmSync(file, { force: true });
    return reply;
  } catch {
    return undefined;
  }
}

interface ControlParts {
  readonly folder: string;
  readonly snapshot: () => Snapshot;
  /** Applies a change and returns the new state in words; throws with a message when it cannot. */
  readonly change: (key: string, value: string) => string | Promise<string>;
}

export class Control implements Disposable {
  readonly #parts: ControlParts;
  readonly #mailbox: string;
  readonly #timers: NodeJS.Timeout[];

  constructor(parts: ControlParts) {
    this.#parts = parts;
    this.#mailbox = join(parts.folder, "control");
    // Requests to an earlier run do not apply to this one.
    rmSync(this.#mailbox, { recursive: true, force: true });
    mkdirSync(this.#mailbox, { mode: OWNER_ONLY });
    this.#writeStatus();
    this.#timers = [
      setInterval(() => this.#answerRequests(), LOOK_EVERY_MS).unref(),
      setInterval(() => this.#writeStatus(), STATUS_EVERY_MS).unref(),
    ];
  }

  [Symbol.dispose](): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#writeStatus();
    rmSync(this.#mailbox, { recursive: true, force: true });
  }

  #writeStatus(): void {
    writeWhole(join(this.#parts.folder, "status.json"), JSON.stringify(this.#parts.snapshot()));
  }

  #answerRequests(): void {
    for (const name of namesIn(this.#mailbox)) {
      if (!name.endsWith(".json") || name.endsWith(".reply.json")) continue;
      const path = join(this.#mailbox, name);
      const text = readText(path);
      rmSync(path, { force: true });
      void this.#answer(text).then((reply) =>
        writeWhole(path.replace(/\.json$/, ".reply.json"), JSON.stringify(reply)),
      );
    }
  }

  async #answer(text: string): Promise<Reply> {
    try {
      const { key, value } = JSON.parse(text) as { key?: unknown; value?: unknown };
      return { ok: true, message: await this.#parts.change(String(key), String(value)) };
    } catch (error) {
      const code = error instanceof CrawlError ? error.code : "USAGE";
      return { ok: false, code, message: error instanceof Error ? error.message : String(error) };
    }
  }
}

/**
 * A full disk or a missing folder stops the crawl in the store, with a message; here it is ignored.
 */
function writeWhole(path: string, text: string): void {
  try {
    writeFileSync(`${path}.part`, text);
    renameSync(`${path}.part`, path);
  } catch {
    rmSync(`${path}.part`, { force: true });
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8").slice(0, REQUEST_BYTES_MAX);
  } catch {
    return "";
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
