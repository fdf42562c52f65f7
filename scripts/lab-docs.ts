/**
 * Runs every experiment of the lab and puts its table into `docs/lab.md`, its pictures beside it.
 *
 * A table stands between `<!-- NAME -->` and `<!-- /NAME -->`; everything else there is written by hand.
 * Usage: node scripts/lab-docs.ts [NAME …]
 */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { markdownTable } from "../src/cli/row-table.ts";
import { EXPERIMENTS } from "../src/lab/experiments/registry.ts";
import { linePlot } from "../src/report/line-plot.ts";

const PAGE = "docs/lab.md";
const PICTURES = "docs/lab";
const OPTIONS = { seed: 1, runs: 5 };

const asked = new Set(process.argv.slice(2));
mkdirSync(PICTURES, { recursive: true });
for (const { name, run } of EXPERIMENTS) {
  if (asked.size > 0 && !asked.has(name)) continue;
  const { rows, plots } = await run(OPTIONS);
  for (const plot of plots) writeFileSync(`${PICTURES}/${plot.name}.svg`, linePlot(plot));
  const text = readFileSync(PAGE, "utf8");
  const place = new RegExp(`(<!-- ${name} -->\n)[^]*?(<!-- /${name} -->)`);
  if (!place.test(text)) throw new Error(`${PAGE} has no place for ${name}`);
  const table = markdownTable(rows);
  writeFileSync(
    PAGE,
    text.replace(place, (_, open: string, close: string) => `${open}${table}${close}`),
  );
  console.log(`${name}: ${rows.length} rows, ${plots.length} pictures`);
}
