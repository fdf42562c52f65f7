/**
 * How other programs look at a running crawl and change it: two plain places in its folder.
 *
 * `status.json` is rewritten every second, whole or not at all. Whoever wants a change puts a file
 * `control/<name>.json` there and finds the answer in `control/<name>.reply.json`. No port, no
 * socket: whoever may write the folder may steer the crawl, and nobody else.
 */

import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Snapshot } from "./snapshot.ts";

const LOOK_EVERY_MS = 250;
const STATUS_EVERY_MS = 1000;
const REQUEST_BYTES_MAX = 4096;

export interface ControlParts {
  readonly folder: string;
  readonly snapshot: () => Snapshot;
  /** Applies a change and answers what it did; throws with a message when it cannot. */
  readonly change: (key: string, value: string) => string;
}

export class Control implements Disposable {
  readonly #parts: ControlParts;
  readonly #mailbox: string;
  readonly #timers: NodeJS.Timeout[];

  constructor(parts: ControlParts) {
    this.#parts = parts;
    this.#mailbox = join(parts.folder, "control");
    // Requests to an earlier run would surprise this one.
    rmSync(this.#mailbox, { recursive: true, force: true });
    mkdirSync(this.#mailbox);
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
      const answer = this.#answer(path);
      rmSync(path, { force: true });
      writeWhole(path.replace(/\.json$/, ".reply.json"), JSON.stringify(answer));
    }
  }

  #answer(path: string): { readonly ok: boolean; readonly message: string } {
    try {
      const text = readFileSync(path, "utf8").slice(0, REQUEST_BYTES_MAX);
      const request = JSON.parse(text) as { key?: unknown; value?: unknown };
      return { ok: true, message: this.#parts.change(String(request.key), String(request.value)) };
    } catch (error) {
      return { ok: false, message: error instanceof Error ? error.message : String(error) };
    }
  }
}

/** A full disk or a vanished folder stops the crawl elsewhere, with a message; not the looking at it. */
function writeWhole(path: string, text: string): void {
  try {
    writeFileSync(`${path}.part`, text);
    renameSync(`${path}.part`, path);
  } catch {
    rmSync(`${path}.part`, { force: true });
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
