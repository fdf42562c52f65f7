/** Reads messages from the bus, and counts and logs those that are dropped. */

import type { Log } from "../base/log.ts";
import type { ControlMessage } from "../exchange/bus.ts";
import { messageIn } from "./message-checks.ts";
import type { Message } from "./messages.ts";

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

  /** undefined for an invalid message, which is dropped. */
  read(from: string, control: ControlMessage): Message | undefined {
    const message = messageIn(control);
    if (typeof message !== "string") return message;
    this.#drop(from, message);
    return undefined;
  }

  /** Logs the 1st, 10th, 100th …: a flood on the bus must not fill the log. */
  #drop(from: string, field: string): void {
    this.#dropped += 1;
    if (!Number.isInteger(Math.log10(this.#dropped))) return;
    const values = { from, field, count: this.#dropped };
    this.#log.write({ level: "warn", message: DROPPED, values });
  }
}
