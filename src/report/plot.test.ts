import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../base/random.ts";
import { barPlot } from "./bar-plot.ts";
import { heatMap } from "./heat-map.ts";
import { linePlot } from "./line-plot.ts";
import type { Point } from "./thin.ts";
import { scaleFor, shown } from "./scale.ts";
import { thinned } from "./thin.ts";

const HOSTILE = `</svg><script>alert("1")</script>&'\u001b[2J\u0000`;

test("a line plot draws its lines, its limit, its axes and its legend", () => {
  const svg = linePlot({
    title: "Rate",
    x: { label: "Time", unit: "s" },
    y: { label: "Rate", unit: "B/s" },
    lines: [
      {
        name: "measured",
        kind: "solid",
        points: [
          [0, 0],
          [10, 2e6],
        ],
      },
      {
        name: "limit",
        kind: "limit",
        points: [
          [0, 2e6],
          [10, 2e6],
        ],
      },
    ],
    width: 400,
    height: 300,
  });
  assert.match(svg, /viewBox="0 0 400 300"/);
  assert.match(svg, /<path class="line s0" d="M58 258L382 58"><title>measured<\/title>/);
  assert.match(svg, /<path class="line limit" d="M58 58L382 58">/);
  assert.match(svg, />Rate \(MB\/s\)</);
  assert.match(svg, />1\.5</);
  assert.match(svg, />Time \(s\)</);
});

test("a gap breaks the line, and a lone value between gaps is a dot", () => {
  const points: Point[] = [
    [0, 1],
    [1, 1],
    [2, NaN],
    [3, 1],
    [4, NaN],
    [5, 1],
    [6, 1],
  ];
  const svg = linePlot({
    title: "",
    x: { label: "", unit: "" },
    y: { label: "", unit: "" },
    lines: [{ name: "", kind: "solid", points }],
  });
  const path = /<path[^>]* d="([^"]*)"/.exec(svg)?.[1] ?? "";
  assert.equal(path.match(/M/g)?.length, 3);
  assert.equal(path.match(/h\.1/g)?.length, 1);
});

test("foreign text is escaped, and pictures contain no script", () => {
  const pictures = [
    linePlot({
      title: HOSTILE,
      x: { label: HOSTILE, unit: "clock" },
      y: { label: HOSTILE, unit: "B/s" },
      lines: [{ name: HOSTILE, kind: "dotted", points: [[1.7e12, 1]] }],
    }),
    heatMap({
      title: HOSTILE,
      rows: [{ name: HOSTILE, cells: [1, NaN, 3] }],
      columns: [HOSTILE, "b", "c", "d"],
      unit: HOSTILE,
    }),
    barPlot({ title: HOSTILE, bars: [{ name: HOSTILE, value: 3 }], unit: "B" }),
  ];
  for (const svg of pictures) {
    assert.doesNotMatch(svg, /<script|[\u0000-\u0009\u000b-\u001f]/);
    assert.equal(svg.match(/<svg/g)?.length, 1);
    assertNested(svg);
  }
});

test("pictures without data are well-formed", () => {
  const axis = { label: "", unit: "B/s" };
  assertNested(linePlot({ title: "", x: { label: "", unit: "s" }, y: axis, lines: [] }));
  assertNested(heatMap({ title: "", rows: [], columns: [], unit: "" }));
  assertNested(barPlot({ title: "", bars: [], unit: "" }));
  const flat = linePlot({
    title: "",
    x: { label: "", unit: "clock" },
    y: axis,
    lines: [{ name: "", kind: "solid", points: [[0, 0]] }],
  });
  assert.doesNotMatch(flat, /NaN|Infinity/);
});

test("an axis has round ticks that cover its values", () => {
  for (let seed = 1; seed <= 500; seed++) {
    const random = randomFrom(seed);
    const low = random.next() < 0.5 ? 0 : random.next() * 10 ** below(random, 13);
    const high = low + random.next() * 10 ** (below(random, 16) - 2) + low * 1e-6 + 1e-3;
    for (const unit of ["", "B", "B/s", "s"]) {
      const scale = scaleFor(low, high, unit, { ticksMax: 6 });
      const where = `seed ${seed}, ${low} to ${high} ${unit}`;
      assert.ok(scale.low <= low * (1 + 1e-9) && scale.high >= high * (1 - 1e-9), where);
      assert.ok(scale.ticks.length >= 2 && scale.ticks.length <= 9, where);
    }
  }
});

test("a point in time is written as a clock time, and a duration in a suitable unit", () => {
  const noon = Date.UTC(2026, 4, 4, 12);
  const hours = scaleFor(noon, noon + 4 * 3600e3, "clock", { ticksMax: 5, tight: true });
  assert.deepEqual(
    hours.ticks.map(({ label }) => label),
    ["12:00", "13:00", "14:00", "15:00", "16:00"],
  );
  assert.equal(hours.unit, "UTC, from 2026-05-04");
  const minutes = scaleFor(0, 600, "s", { ticksMax: 5 });
  assert.deepEqual([minutes.unit, minutes.ticks.at(-1)?.label], ["min", "10"]);
  assert.deepEqual(
    [shown(1.96e6, "B/s"), shown(999, "B"), shown(3, "")],
    ["1.96 MB/s", "999 B", "3"],
  );
});

test("thinning keeps the highest and lowest points, their order and the gaps", () => {
  for (let seed = 1; seed <= 100; seed++) {
    const random = randomFrom(seed);
    const count = below(random, 5000);
    const points: Point[] = Array.from({ length: count }, (_, x) => [
      x,
      random.next() < 0.01 ? NaN : random.next(),
    ]);
    const kept = thinned(points, 300);
    assert.ok(kept.length <= 300, `seed ${seed}`);
    assert.equal(Math.max(...values(kept)), Math.max(...values(points)), `seed ${seed}`);
    assert.equal(Math.min(...values(kept)), Math.min(...values(points)), `seed ${seed}`);
    assert.equal(hasGap(kept), hasGap(points), `seed ${seed}`);
    for (const [index, [x]] of kept.entries())
      assert.ok(index === 0 || x > (kept[index - 1]?.[0] ?? 0), `seed ${seed}`);
  }
});

function values(points: readonly Point[]): number[] {
  return points.map(([, y]) => y).filter((y) => !Number.isNaN(y));
}

function hasGap(points: readonly Point[]): boolean {
  return values(points).length < points.length;
}

/** Asserts that elements are closed in the reverse order of opening. */
function assertNested(svg: string): void {
  const open: string[] = [];
  for (const [, closing, name, self] of svg.matchAll(/<(\/?)([a-z]+)[^<>]*?(\/?)>/g)) {
    if (self === "/") continue;
    if (closing === "") open.push(name ?? "");
    else assert.equal(open.pop(), name);
  }
  assert.deepEqual(open, []);
}
