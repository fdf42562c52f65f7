/**
 * Changes of the whole crawl that an operator asked for here: each is repeated until a leader has accepted it, and
 * confirmed when all processes have made it.
 */

import type { Clock } from "../base/clock.ts";
import { CrawlError } from "../base/errors.ts";
import { below, type Random } from "../base/random.ts";
import type { ChangeRequest } from "./change-list.ts";
import type { Outcome } from "./messages.ts";

/** How long an operator waits for the confirmation of a change: longer than an election and a licence take. */
const CONFIRMED_WITHIN_MS = 10_000;
const REQUESTS_MAX = 8;
const WITHIN = `within ${CONFIRMED_WITHIN_MS / 1000} s`;

interface Requested {
  readonly request: ChangeRequest;
  readonly settle: PromiseWithResolvers<string>;
  /** The last answer of a leader. */
  outcome: Outcome | undefined;
  isGivenUp: boolean;
}

export class ChangeRequests {
  readonly #processes: string;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #open = new Map<string, Requested>();

  /** `processes`: the word for them. */
  constructor(clock: Clock, random: Random, processes = "nodes") {
    this.#processes = processes;
    this.#clock = clock;
    this.#random = random;
  }

  /** To be repeated to the leader. */
  get open(): readonly ChangeRequest[] {
    return [...this.#open.values()].map(({ request }) => request);
  }

  /** Resolves when all processes have confirmed the change; rejects with what is known after `CONFIRMED_WITHIN_MS`. */
  async request(key: string, value: string): Promise<string> {
    if (this.#open.size >= REQUESTS_MAX)
      throw new CrawlError("NOT_APPLIED", "Not applied: earlier changes still wait for a leader.");
    const id = [1, 2].map(() => below(this.#random, 2 ** 48).toString(36)).join("-");
    const settle = Promise.withResolvers<string>();
    const requested = { request: { id, key, value }, settle, outcome: undefined, isGivenUp: false };
    this.#open.set(id, requested);
    const cancel = this.#clock.after(CONFIRMED_WITHIN_MS, () => this.#giveUp(id, requested));
    return settle.promise.finally(cancel);
  }

  onOutcome(outcome: Outcome): void {
    const { id, isRefused, message, missing, processes } = outcome;
    const requested = this.#open.get(id);
    if (requested === undefined) return;
    requested.outcome = outcome;
    if (!isRefused && missing > 0 && !requested.isGivenUp) return;
    this.#open.delete(id);
    if (isRefused) requested.settle.reject(new CrawlError("USAGE", message));
    else {
      const by = `confirmed by ${processes} of ${processes} ${this.#processes}`;
      requested.settle.resolve(`${message} (${by})`);
    }
  }

  /** This process has ended: it repeats nothing any more. */
  close(): void {
    for (const { settle } of this.#open.values())
      settle.reject(new CrawlError("NOT_APPLIED", "Not applied: this node has ended."));
    this.#open.clear();
  }

  #giveUp(id: string, requested: Requested): void {
    const { settle, outcome } = requested;
    requested.isGivenUp = true;
    if (outcome === undefined) {
      const what = `Not applied: no leader accepted the change ${WITHIN}.`;
      return settle.reject(new CrawlError("NOT_APPLIED", what));
    }
    this.#open.delete(id);
    const { missing, processes, missingNames } = outcome;
    const others = missing > missingNames.length ? ", …" : "";
    const which = `${missing} of ${processes} ${this.#processes}`;
    const what = `Accepted, but ${which} have not confirmed it ${WITHIN}: ${missingNames.join(", ")}`;
    settle.reject(new CrawlError("NOT_CONFIRMED", `${what}${others}.`));
  }
}
