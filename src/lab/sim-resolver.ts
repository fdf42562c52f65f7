/** Name service, simulated: the names of a world, after a moment, and now and then no answer. */

import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import type { Resolution, Resolver } from "../fetch/resolver.ts";
import { siteNamed } from "./world.ts";
import type { World } from "./world/plan.ts";

const LOOKUP_MS = 20;
const TIMEOUT_MS = 5_000;

export class SimResolver implements Resolver {
  readonly #clock: Clock;
  readonly #world: World;
  readonly #random: Random;
  readonly #faultShare: number;

  constructor(clock: Clock, world: World, random: Random, faultShare = 0) {
    this.#clock = clock;
    this.#world = world;
    this.#random = random;
    this.#faultShare = faultShare;
  }

  resolve(host: string, port: number): Promise<Resolution> {
    const isSilent = this.#random.next() < this.#faultShare;
    return new Promise((resolve) => {
      this.#clock.after(isSilent ? TIMEOUT_MS : LOOKUP_MS, () => {
        if (isSilent) resolve({ kind: "failed", reason: "dns_timeout", detail: "no answer" });
        else resolve(this.#lookUp(host, port));
      });
    });
  }

  #lookUp(host: string, port: number): Resolution {
    const site = siteNamed(this.#world, port === 80 ? host : `${host}:${port}`);
    if (site === undefined) return { kind: "failed", reason: "dns_nxdomain", detail: host };
    return { kind: "addresses", addresses: [site.address] };
  }
}
