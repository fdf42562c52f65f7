import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../base/random.ts";
import { planPlot } from "./plan-plot.ts";
import { byFinish, highestBps, type PlanRow, spanSeconds, sumOfRates } from "./plan-rows.ts";

function row(name: string, finishSeconds: number, changes: Partial<PlanRow> = {}): PlanRow {
  return {
    name,
    segments: [{ fromSeconds: 0, toSeconds: finishSeconds, rateBps: 100 }],
    finishSeconds,
    deadlineSeconds: undefined,
    isLate: false,
    band: undefined,
    ...changes,
  };
}

test("rows are sorted by finish time", () => {
  const svg = planPlot({
    title: "Plan",
    rateBps: 200,
    rows: [row("https://second.example", 20), row("https://first.example", 10)],
  });
  assert.ok(svg.indexOf("first.example") < svg.indexOf("second.example"));
  assert.deepEqual(
    byFinish([row("b", 2), row("a", 1)]).map(({ name }) => name),
    ["a", "b"],
  );
});

/** Counts the marks for deadlines, missed deadlines, far deadlines (arrows) and finish ranges (whiskers). */
function marksIn(...rows: PlanRow[]): number[] {
  const svg = planPlot({ title: "Plan", rateBps: 200, rows });
  return [/px;stroke:var\(--ink\)/g, /px;stroke:var\(--limit\)/g, />→</g, /class="line s1"/g].map(
    (mark) => svg.match(mark)?.length ?? 0,
  );
}

test("deadlines, missed deadlines, far deadlines and finish ranges have different marks", () => {
  // The legend contains one deadline and one missed deadline.
  assert.deepEqual(marksIn(row("a", 10)), [1, 1, 0, 0]);
  assert.deepEqual(marksIn(row("a", 10, { deadlineSeconds: 12 })), [2, 1, 0, 0]);
  assert.deepEqual(marksIn(row("a", 10, { deadlineSeconds: 9, isLate: true })), [1, 2, 0, 0]);
  assert.deepEqual(marksIn(row("a", 10, { deadlineSeconds: 9999 })), [1, 1, 1, 0]);
  const band = { p5Seconds: 9, p95Seconds: 14 };
  assert.deepEqual(marksIn(row("a", 10, { band })), [1, 1, 0, 2]);
});

/** Compares with the picture's 2 % margin included. */
function near(span: number, seconds: number): boolean {
  return Math.abs(span / seconds - 1.02) < 1e-9;
}

test("the time axis includes all ends, finish ranges and near deadlines, but no far deadline", () => {
  assert.ok(near(spanSeconds([row("a", 10)]), 10));
  assert.ok(near(spanSeconds([row("a", 10, { deadlineSeconds: 15 })]), 15));
  assert.ok(near(spanSeconds([row("a", 10, { deadlineSeconds: 16 })]), 10));
  const band = { p5Seconds: 9, p95Seconds: 14 };
  assert.ok(near(spanSeconds([row("a", 10, { band })]), 14));
  assert.ok(spanSeconds([]) > 0);
});

test("summed rates do not overlap where one site ends and the next begins", () => {
  const segments = [{ fromSeconds: 10 + 1e-9, toSeconds: 30, rateBps: 40 }];
  const rows = [row("a", 10), row("b", 30, { segments })];
  assert.deepEqual(
    sumOfRates(rows).map(([, bps]) => bps),
    [100, 40, 0],
  );
  assert.equal(highestBps(rows), 100);
});

test("hostile names are escaped, and a picture of up to 300 sites stays below 400 kB", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = randomFrom(seed);
    const name = `<script>&"'\u0000${String.fromCodePoint(1 + below(random, 0xd7ff))}</svg>`;
    const rows = Array.from({ length: 1 + below(random, 300) }, (_, index) =>
      row(`${name}${index}`, 1 + below(random, 1e6)),
    );
    const svg = planPlot({ title: name, rateBps: 1 + below(random, 1e9), rows });
    assert.equal(svg.match(/<\/?script/g), null, `seed ${seed}`);
    assert.equal(svg.match(/<\/svg>/g)?.length, 1, `seed ${seed}`);
    assert.doesNotMatch(svg, /NaN|Infinity|undefined|\u0000/, `seed ${seed}`);
    assert.ok(svg.length < 400_000, `seed ${seed}: ${svg.length}`);
  }
  assert.doesNotMatch(planPlot({ title: "none", rateBps: 0, rows: [] }), /NaN|Infinity/);
});
