/**
 * Sends the crawl to every open page, as it changes: server-sent events.
 *
 * The state is read and serialised once for all pages, at most four times a second, and not at all
 * without readers. A slow reader misses states; they are never queued. The number of readers is
 * bounded.
 */

import type { ServerResponse } from "node:http";
import type { Look } from "./shapes.ts";

const LOOK_EVERY_MS = 250;
/** Interval of comments, so that proxies do not close an idle connection. */
const BEAT_EVERY_MS = 15_000;
export const READERS_MAX = 8;

export class Feed implements AsyncDisposable {
  readonly #look: () => Promise<Look>;
  readonly #readers = new Set<ServerResponse>();
  #timer: NodeJS.Timeout | undefined;
  #last: Look | undefined;
  #sentAtMs = 0;
  #isLooking = false;

  constructor(look: () => Promise<Look>) {
    this.#look = look;
  }

  get isFull(): boolean {
    return this.#readers.size >= READERS_MAX;
  }

  /** Call after the head of the response was written. */
  async add(response: ServerResponse): Promise<void> {
    this.#readers.add(response);
    response.once("close", () => this.#remove(response));
    this.#timer ??= setInterval(() => void this.#send(), LOOK_EVERY_MS).unref();
    try {
      response.write(written(await this.#look()));
    } catch {
      response.end();
    }
  }

  /** Sends the last state to all readers, and ends. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#send();
    for (const reader of this.#readers) reader.end("event: bye\ndata: {}\n\n");
    this.#readers.clear();
  }

  #remove(response: ServerResponse): void {
    this.#readers.delete(response);
    if (this.#readers.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #send(): Promise<void> {
    // A reading that takes longer than the interval is not started twice.
    if (this.#isLooking || this.#readers.size === 0) return;
    this.#isLooking = true;
    try {
      const look = await this.#look();
      const nowMs = Date.now();
      const isNews = look !== this.#last;
      if (!isNews && nowMs - this.#sentAtMs < BEAT_EVERY_MS) return;
      this.#last = look;
      this.#sentAtMs = nowMs;
      const text = isNews ? written(look) : ": still here\n\n";
      for (const reader of this.#readers) if (!reader.writableNeedDrain) reader.write(text);
    } catch {
      // The folder was deleted or is being recreated; readers see that nothing arrives.
    } finally {
      this.#isLooking = false;
    }
  }
}

/** JSON contains no line breaks, so a state is one line. */
function written(look: Look): string {
  return `event: look\ndata: ${JSON.stringify(look)}\n\n`;
}
