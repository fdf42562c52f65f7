/** Whole crawls in virtual time: faults, kills and resumptions from a seed, judged from outside. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { CrawlParts } from "../../src/crawl/context.ts";
import { runSim, type SimPlan, type SimReport } from "../../src/lab/run-sim.ts";
import type { Batch, Store } from "../../src/store/store.ts";

/** More with WEIR_SIM_SEEDS, before a release. */
const SEEDS = Number(process.env["WEIR_SIM_SEEDS"] ?? 40);

const STORMY = {
  world: {
    siteCount: 6,
    sitesPerAddress: 2,
    pagesMin: 10,
    pagesMax: 60,
    bytesMedianMax: 2_000,
    bytesMax: 40_000,
  },
  settings: { delayMs: 1_000, addressDelayMs: 250 },
  faultShare: 0.08,
  dnsFaultShare: 0.2,
  diskFullShare: 0.01,
  crashes: 2,
  wallJumps: 2,
} satisfies Partial<SimPlan>;

test("a calm crawl finds the whole world, once and politely", async () => {
  const report = await runSim({ seed: 1, world: STORMY.world, settings: STORMY.settings });
  assert.deepEqual(report.violations, []);
  assert.ok(report.totals.pages > 50);
});

test(`${SEEDS} stormy crawls, killed and resumed, lose nothing and offend nobody`, async () => {
  let kills = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const report = await storm(seed);
    assert.deepEqual(report.violations, [], `seed ${seed}`);
    kills += report.crashedAtMs.length;
  }
  assert.ok(kills > SEEDS, `only ${kills} kills`);
});

test("sites that share an address share its pace and its crowd", async () => {
  for (let seed = 1; seed <= 10; seed++) {
    const world = { ...STORMY.world, sitesPerAddress: 3 };
    const settings = { ...STORMY.settings, concurrencyPerAddress: 2 };
    const report = await runSim({ ...STORMY, seed, world, settings, crashes: 0 });
    assert.deepEqual(report.violations, [], `seed ${seed}`);
  }
});

test("the same seed gives the same trace, another seed another", async () => {
  const hashes = new Set<string>();
  for (let seed = 1; seed <= 5; seed++) {
    const { traceHash } = await storm(seed);
    assert.equal((await storm(seed)).traceHash, traceHash, `seed ${seed}`);
    hashes.add(traceHash);
  }
  assert.equal(hashes.size, 5);
});

test("planted: a crawler with a hasty clock is caught by its pace", async () => {
  assert.ok((await rulesWith(hasty)).includes("site-delay"));
});

test("planted: a crawler that does not read robots.txt is caught at closed doors", async () => {
  assert.ok((await rulesWith(deaf)).includes("forbidden"));
});

test("planted: a store that forgets what it knows is caught by pages fetched twice", async () => {
  const forgetful = withStore((store) => ({
    lookup: (fingerprints) => new Uint32Array(store.lookup(fingerprints).length),
  }));
  const rules = await rulesWith(forgetful);
  assert.ok(rules.includes("url-twice") && rules.includes("fetched-twice"), rules.join());
});

test("planted: a commit that loses an end is caught by the books", async () => {
  const careless = withStore((store) => ({
    commit: (batch: Batch) => store.commit({ ...batch, settled: batch.settled.slice(1) }),
  }));
  assert.ok((await rulesWith(careless, 0)).includes("identity"));
});

test("planted: an archive that does not tell its end is caught after a kill", async () => {
  assert.ok((await rulesWith(mute)).includes("archive"));
});

function storm(seed: number): Promise<SimReport> {
  return runSim({ ...STORMY, seed });
}

/** The rules broken by a crawl that was given something else. */
async function rulesWith(
  plant: (parts: CrawlParts) => CrawlParts,
  crashes: number = STORMY.crashes,
): Promise<string[]> {
  const { violations } = await runSim({ ...STORMY, seed: 1, crashes, plant });
  return [...new Set(violations.map(({ rule }) => rule))];
}

/** A clock on which a second is over after nine tenths of it. */
function hasty(parts: CrawlParts): CrawlParts {
  const { clock } = parts;
  const startMs = clock.nowMs();
  return {
    ...parts,
    clock: {
      nowMs: () => startMs + (clock.nowMs() - startMs) / 0.9,
      wallMs: () => clock.wallMs(),
      after: (delayMs, callBack) => clock.after(delayMs * 0.9, callBack),
      soon: (callBack) => clock.soon(callBack),
    },
  };
}

function deaf(parts: CrawlParts): CrawlParts {
  return { ...parts, settings: { ...parts.settings, ignoreRobots: true } };
}

function mute(parts: CrawlParts): CrawlParts {
  const { output } = parts;
  return output === undefined ? parts : { ...parts, output: { ...output, marks: () => ({}) } };
}

/** Replaces single methods of the store, and leaves the others as they are. */
function withStore(change: (store: Store) => Partial<Store>): (parts: CrawlParts) => CrawlParts {
  return (parts) => {
    const changed: Partial<Store> = change(parts.store);
    const store = new Proxy(parts.store, {
      get(target, name) {
        const value: unknown = Reflect.get(Object.hasOwn(changed, name) ? changed : target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    return { ...parts, store };
  };
}
