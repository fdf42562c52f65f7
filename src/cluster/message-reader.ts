/** Reads messages from the bus, and counts and logs those that are dropped. */

import type { Log } from "../base/log.ts";
import type { Note } from "../exchange/bus.ts";
import { messageIn } from "./message-checks.ts";
import type { Message } from "./notes.ts";

export const DROPPED = "invalid messages were dropped";

export class MessageReader {
  readonly #log: Log;
  #dropped = 0;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Messages that failed their check. */
  get dropped(): number {
    return this.#dropped;
  }

  /** undefined for a message that is not valid: it is dropped. */
  read(from: string, note: Note): Message | undefined {
    const message = messageIn(note);
    if (typeof message !== "string") return message;
    this.#drop(from, message);
    return undefined;
  }

  /** Logs the 1st, 10th, 100th …: whoever floods the bus must not fill the log. */
  #drop(from: string, field: string): void {
    this.#dropped += 1;
    if (!Number.isInteger(Math.log10(this.#dropped))) return;
    const values = { from, field, count: this.#dropped };
    this.#log.write({ level: "warn", message: DROPPED, values });
  }
}
