/**
 * Simulates name resolution for a world: every lookup takes time, and some time out.
 *
 * Answers are cached for an hour, as in the real resolver. A name has at most `FAULTS_IN_ROW_MAX`
 * timeouts in a row, so that a crawler with three attempts resolves every name.
 */

import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import { FAULTS_IN_ROW_MAX } from "./faults.ts";
import type { Resolution, Resolver } from "../fetch/resolver.ts";
import { siteNamed } from "./world.ts";
import type { World } from "./world/plan.ts";

const LOOKUP_MS = 20;
const TIMEOUT_MS = 5_000;
const CACHED_MS = 3_600_000;

export class SimResolver implements Resolver {
  readonly #clock: Clock;
  readonly #world: World;
  readonly #random: Random;
  readonly #faultShare: number;
  /** Whether the name server is down now. */
  isDown: () => boolean = () => false;
  readonly #cachedUntilMs = new Map<string, number>();
  readonly #timeouts = new Map<string, number>();

  constructor(clock: Clock, world: World, random: Random, faultShare = 0) {
    this.#clock = clock;
    this.#world = world;
    this.#random = random;
    this.#faultShare = faultShare;
  }

  async resolve(host: string, port: number): Promise<Resolution> {
    const site = siteNamed(this.#world, port === 80 ? host : `${host}:${port}`);
    if ((this.#cachedUntilMs.get(host) ?? 0) <= this.#clock.nowMs()) {
      const isTimeout = this.#drawTimeout(host) || this.isDown();
      await this.#wait(isTimeout ? TIMEOUT_MS : LOOKUP_MS);
      if (isTimeout) return { kind: "failed", reason: "dns_timeout", detail: "no answer" };
      this.#cachedUntilMs.set(host, this.#clock.nowMs() + CACHED_MS);
    }
    if (site === undefined) return { kind: "failed", reason: "dns_nxdomain", detail: host };
    return { kind: "addresses", addresses: [site.address] };
  }

  #drawTimeout(host: string): boolean {
    const timeouts = this.#timeouts.get(host) ?? 0;
    const isTimeout = timeouts < FAULTS_IN_ROW_MAX && this.#random.next() < this.#faultShare;
    this.#timeouts.set(host, isTimeout ? timeouts + 1 : 0);
    return isTimeout;
  }

  #wait(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.#clock.after(delayMs, resolve);
    });
  }
}
