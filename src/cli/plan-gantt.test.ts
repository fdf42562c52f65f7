import assert from "node:assert/strict";
import { test } from "node:test";
import type { PlanRow } from "../report/plan-rows.ts";
import { ganttLines } from "./plan-gantt.ts";
import { paletteFor } from "./terminal.ts";

const SCREEN = { columns: 60, rows: 20, palette: paletteFor({ isTTY: false }, {}) };

function row(name: string, changes: Partial<PlanRow>): PlanRow {
  return {
    name,
    segments: [{ fromSeconds: 0, toSeconds: 100, rateBps: 1000 }],
    finishSeconds: 100,
    deadlineSeconds: undefined,
    isLate: false,
    band: undefined,
    ...changes,
  };
}

test("a bar is as long as its site takes and as deep as its rate, with a stroke at the deadline", () => {
  const half = [
    { fromSeconds: 0, toSeconds: 50, rateBps: 250 },
    { fromSeconds: 50, toSeconds: 75, rateBps: 1000 },
  ];
  const lines = ganttLines(
    [
      row("https://a.example", { segments: half, finishSeconds: 75, deadlineSeconds: 80 }),
      row("http://b.example", { deadlineSeconds: 500 }),
    ],
    SCREEN,
  );
  // 48 columns for 102 seconds: the rate changes in the 24th, ends in the 36th, the deadline is the 38th.
  assert.deepEqual(lines, [
    "a.example  ░░░░░░░░░░░░░░░░░░░░░░░▓███████████▒ │",
    "b.example  ███████████████████████████████████████████████›",
    "           0                     51 s            1 min 42 s",
    "           ░▒▓█ low to high rate   │ deadline",
  ]);
});

test("a terminal too narrow for a bar gets none, and no line is ever wider than it", () => {
  const rows = [row("https://a-rather-long-name.example", { deadlineSeconds: 90, isLate: true })];
  for (let columns = 1; columns <= 140; columns++) {
    const lines = ganttLines(rows, { ...SCREEN, columns });
    for (const line of lines) assert.ok(line.length <= columns, `${columns}: ${line}`);
    assert.equal(lines.length > 0, columns >= 23, `${columns} columns`);
  }
});

test("what is late is coloured where there are colours, and nowhere else", () => {
  const rows = [row("https://a.example", { deadlineSeconds: 90, isLate: true })];
  const coloured = ganttLines(rows, { ...SCREEN, palette: paletteFor({ isTTY: true }, {}) });
  assert.match(coloured[0] ?? "", /\x1b\[31ma\.example/);
  const plain = paletteFor({ isTTY: true }, { NO_COLOR: "1" });
  assert.doesNotMatch(ganttLines(rows, { ...SCREEN, palette: plain }).join(""), /\x1b/);
});
