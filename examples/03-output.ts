/**
 * An output of one's own: a line of CSV for every page, which comes out right even if the program is killed.
 *
 *   node examples/03-output.ts https://example.org/ --contact you@example.org --out weir-data/example.org
 *
 * A page is noted as done only when `onPage` has resolved. So a page whose line was not written is fetched
 * again by the next run, and at worst a line comes twice: readers of the file keep the last one of each URL.
 */

import { appendFile } from "node:fs/promises";
import { crawl, settingsFrom } from "../src/index.ts";

const FILE = process.env["CSV_FILE"] ?? "pages.csv";

const settings = await settingsFrom(process.argv.slice(2), process.env);
const result = await crawl({
  ...settings,
  async onPage({ url, status, title, body, duplicate }) {
    const cells = [url, status, title, body.length, duplicate ?? ""];
    await appendFile(FILE, `${cells.map(quoted).join(",")}\n`);
  },
});
console.log(`${result.pages} pages in ${FILE}`);

/** A cell that begins like a formula would be run by a spreadsheet. */
function quoted(value: string | number): string {
  const text = String(value).replace(/^[=+@-]/, "'$&");
  return `"${text.replaceAll('"', '""').replaceAll(/\s+/g, " ")}"`;
}
