import assert from "node:assert/strict";
import { test } from "node:test";
import { allocationBandwidth, allocationRigour, allocationSize } from "./allocation-six.ts";
import { sixSites } from "./allocation-tasks.ts";
import type { Row } from "./experiment.ts";

test("deadlines have the requested rigour", () => {
  const { sites } = sixSites({ seed: 3, rateBps: 1000, rigourBps: 400 });
  const needs = sites.map(({ bytes, deadlineSeconds = Infinity }) => bytes / deadlineSeconds);
  const rigour = needs.reduce((sum, need) => sum + need, 0);
  assert.ok(Math.abs(rigour - 400) < 0.01, `${rigour}`);
  assert.equal(needs.filter((need) => need > 0).length, 4);
});

test("the same seed gives the same findings, and each algorithm is best at its own objective", async () => {
  for (const experiment of [allocationBandwidth, allocationSize, allocationRigour]) {
    const findings = await experiment.run({ seed: 1, runs: 4 });
    assert.deepEqual(await experiment.run({ seed: 1, runs: 4 }), findings);
    assert.equal(findings.rows.length, 4);
    for (const row of findings.rows) {
      const about = `${experiment.name}: ${JSON.stringify(row)}`;
      const [maxt, sumt, optimal] = ["MMaxt", "MSumt", "Optimal"] as const;
      assert.ok(number(row, `maxSeconds${maxt}`) <= number(row, `maxSeconds${sumt}`), about);
      assert.ok(number(row, `sumSeconds${sumt}`) <= number(row, `sumSeconds${maxt}`), about);
      assert.ok(number(row, `maxSeconds${optimal}`) <= number(row, `maxSeconds${maxt}`), about);
      assert.ok(number(row, `sumSeconds${optimal}`) <= number(row, `sumSeconds${sumt}`), about);
      assert.equal(row["lateOptimal"], 0, about);
    }
  }
});

function number(row: Row, column: string): number {
  const value = row[column];
  assert.equal(typeof value, "number", column);
  return value as number;
}
