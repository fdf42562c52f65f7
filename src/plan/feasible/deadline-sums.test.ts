import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../../base/random.ts";
import { anyWishes, cappedTask, seeds } from "../capped-task.suite.ts";
import { Cuts, missingAtLeast } from "./deadline-sums.ts";
import { fitsAlone, keepsDeadlines } from "./feasible.ts";
import { byDeadlineDescending } from "../schedule/level-schedule.ts";
import { type Work, workOf } from "../schedule/columns.ts";

test("a slow site has to begin before another is done", () => {
  const cuts = new Cuts(2, Float64Array.of(5, 10.001));
  cuts.add({ bytes: 10, capBps: 1, deadlineSeconds: 10.001 });
  cuts.add({ bytes: 4.9, capBps: 2, deadlineSeconds: 5 });
  assert.ok(cuts.areKept);
  const more = { bytes: 0.2, capBps: 2, deadlineSeconds: 5 };
  cuts.add(more);
  assert.ok(!cuts.areKept);
  cuts.remove(more);
  assert.ok(cuts.areKept);
});

test("whoever comes and goes, the answer is that of the latest possible schedule", () => {
  const counts = { kept: 0, lost: 0 };
  for (const seed of seeds(1000)) {
    const work = workOf(cappedTask(seed, { ...anyWishes(seed, 25), dated: 1 }));
    const alone = [...work.bytes.keys()].filter((site) => fitsAlone(work, site));
    const cuts = new Cuts(work.rateBps, work.deadlineSeconds.toSorted());
    const random = randomFrom(seed);
    const bytes = new Float64Array(work.count);
    for (const site of alone) {
      cuts.add(claimOf(work, site));
      bytes[site] = work.bytes[site] as number;
      const other = alone[below(random, alone.length)] as number;
      if (random.next() < 0.3 && bytes[other] !== 0) {
        cuts.remove(claimOf(work, other));
        bytes[other] = 0;
      }
      const isKept = keepsDeadlines(work, bytes);
      counts[isKept ? "kept" : "lost"]++;
      assert.equal(cuts.areKept, isKept, `seed ${seed}, site ${site}`);
    }
  }
  assert.ok(counts.kept > 1000 && counts.lost > 1000, JSON.stringify(counts));
});

test("a first look at very many finds nothing missing where nothing is", () => {
  const counts = { found: 0, kept: 0 };
  for (const seed of seeds(20)) {
    const tight = 0.5 + 0.05 * (seed % 12);
    const task = cappedTask(seed, { count: 900, caps: [0.005, 0.1], dated: 1, tight });
    const work = workOf(task);
    const isKept = keepsDeadlines(work);
    const missing = missingAtLeast(work, work.bytes, byDeadlineDescending(work));
    if (isKept) assert.equal(missing, 0, `seed ${seed}`);
    if (isKept) counts.kept++;
    else if (missing > 0) counts.found++;
  }
  assert.ok(counts.kept > 2 && counts.found > 2, JSON.stringify(counts));
});

function claimOf({ bytes, capBps, deadlineSeconds }: Work, site: number) {
  return {
    bytes: bytes[site] as number,
    capBps: capBps[site] as number,
    deadlineSeconds: deadlineSeconds[site] as number,
  };
}
