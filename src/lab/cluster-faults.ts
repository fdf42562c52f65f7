/** Faults of a simulated cluster by seed: every kind of fault, alone and combined. */

import type { ClusterPlan } from "./run-cluster.ts";

const WORLD = { siteCount: 8, pagesMax: 30 };
/** Some sites of these worlds are so slow that a page takes minutes. */
const PATIENT = { totalTimeoutMs: 3_600_000, idleTimeoutMs: 600_000, firstByteTimeoutMs: 600_000 };
const BAD_BUS = { lossShare: 0.15, repeatShare: 0.1, refusalShare: 0.1, delayMsMax: 300 };
/** Node timeout longer than any fault: a node that returns is not declared lost. */
const NODE_TIMEOUT_LONG_MS = 600_000;
/** Node timeout short enough for the other nodes to notice a death while work remains. */
const NODE_TIMEOUT_SHORT_MS = 10_000;

export function clusterFaults(seed: number): Partial<ClusterPlan> & { readonly seed: number } {
  const isBad = seed % 3 !== 0;
  const deaths = seed % 10 === 3 ? 1 + (seed % 2) : 0;
  return {
    seed,
    nodes: 2 + (seed % 3),
    world: WORLD,
    ...(isBad ? { bus: BAD_BUS, registryLossShare: 0.1 } : {}),
    settings: {
      ...PATIENT,
      nodeTimeoutMs: deaths > 0 ? NODE_TIMEOUT_SHORT_MS : NODE_TIMEOUT_LONG_MS,
      partition: seed % 5 === 0 ? "url-hash" : "site-hash",
      coordination: seed % 7 === 0 ? "dynamic" : "static",
    },
    deaths,
    kills: seed % 4,
    pauses: seed % 3,
    cuts: (seed >> 1) % 3,
    wipes: (seed >> 2) % 2,
    joins: (seed >> 3) % 3,
    leaves: (seed >> 1) % 2,
  };
}
