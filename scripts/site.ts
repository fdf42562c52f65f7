/**
 * Builds the documents into `site/`: plain pages that open from a disk, with one style and no script.
 *
 * Usage: node scripts/site.ts [--out DIR] [--check]; `--check` writes nothing and ends with 1 when a link leads nowhere.
 */

import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { makeSite } from "./site-pages.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const STYLE = "scripts/site-style.css";

const { values } = parseArgs({
  options: { out: { type: "string", default: join(ROOT, "site") }, check: { type: "boolean" } },
});
const { pages, files, faults } = makeSite(ROOT);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
else if (values.check !== true) write(values.out);
console.log(`${pages.size} pages, ${files.size} files, ${faults.length} dead links`);

function write(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  for (const [place, html] of pages) {
    mkdirSync(dirname(join(folder, place)), { recursive: true });
    writeFileSync(join(folder, place), html);
  }
  for (const file of files) cpSync(join(ROOT, file), join(folder, file));
  cpSync(join(ROOT, STYLE), join(folder, "style.css"));
}
