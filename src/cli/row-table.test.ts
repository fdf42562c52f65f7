import assert from "node:assert/strict";
import { test } from "node:test";
import { alignedTable, csvTable, markdownTable, type Row } from "./row-table.ts";

const ROWS: readonly Row[] = [
  { name: "a", mean: 5, paper: null },
  { name: "b, or | c", mean: 12.5, paper: 7 },
];

test("a table for the eye puts numbers to the right and words to the left", () => {
  assert.equal(
    alignedTable(ROWS),
    ["name       mean  paper", "a             5", "b, or | c  12.5      7"].join("\n"),
  );
});

test("a table for a document keeps its columns, whatever is in them", () => {
  assert.equal(
    markdownTable(ROWS),
    "| name | mean | paper |\n| --- | --: | --: |\n| a | 5 |  |\n| b, or \\| c | 12.5 | 7 |\n",
  );
});

test("a table for a spreadsheet quotes what would break it", () => {
  const rows = [...ROWS, { name: 'say "d"', more: 1 }];
  assert.equal(
    csvTable(rows),
    'name,mean,paper,more\na,5,,\n"b, or | c",12.5,7,\n"say ""d""",,,1\n',
  );
});

test("no rows, no table", () => {
  assert.equal(alignedTable([]), "");
});
