/**
 * Name service, simulated: the names of a world, after a moment, and now and then no answer.
 *
 * Answers are kept for an hour, as the real resolver does, and no name meets more than
 * `FAULTS_IN_ROW_MAX` silences in a row, so that a crawler that tries three times finds everybody.
 */

import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import { FAULTS_IN_ROW_MAX } from "./faults.ts";
import type { Resolution, Resolver } from "../fetch/resolver.ts";
import { siteNamed } from "./world.ts";
import type { World } from "./world/plan.ts";

const LOOKUP_MS = 20;
const TIMEOUT_MS = 5_000;
const KEPT_MS = 3_600_000;

export class SimResolver implements Resolver {
  readonly #clock: Clock;
  readonly #world: World;
  readonly #random: Random;
  readonly #faultShare: number;
  readonly #knownUntilMs = new Map<string, number>();
  readonly #silences = new Map<string, number>();

  constructor(clock: Clock, world: World, random: Random, faultShare = 0) {
    this.#clock = clock;
    this.#world = world;
    this.#random = random;
    this.#faultShare = faultShare;
  }

  async resolve(host: string, port: number): Promise<Resolution> {
    const site = siteNamed(this.#world, port === 80 ? host : `${host}:${port}`);
    if ((this.#knownUntilMs.get(host) ?? 0) <= this.#clock.nowMs()) {
      const isSilent = this.#isSilent(host);
      await this.#wait(isSilent ? TIMEOUT_MS : LOOKUP_MS);
      if (isSilent) return { kind: "failed", reason: "dns_timeout", detail: "no answer" };
      this.#knownUntilMs.set(host, this.#clock.nowMs() + KEPT_MS);
    }
    if (site === undefined) return { kind: "failed", reason: "dns_nxdomain", detail: host };
    return { kind: "addresses", addresses: [site.address] };
  }

  #isSilent(host: string): boolean {
    const silences = this.#silences.get(host) ?? 0;
    const isSilent = silences < FAULTS_IN_ROW_MAX && this.#random.next() < this.#faultShare;
    this.#silences.set(host, isSilent ? silences + 1 : 0);
    return isSilent;
  }

  #wait(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.#clock.after(delayMs, resolve);
    });
  }
}
