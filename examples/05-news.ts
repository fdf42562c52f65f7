/**
 * Watches news sites: every recrawl must be done by its deadline, and is reported when it ends.
 *
 *   node examples/05-news.ts --config examples/news.yaml --contact you@example.org --out weir-data/news
 *
 * The file says which sites, how often, and by when. A page that seldom changes is seldom asked for
 * again. Ctrl-C ends it, and so does the number of rounds in ROUNDS; with `--out` the next start goes on.
 */

import { crawl, settingsFrom } from "../src/index.ts";

const ROUNDS = Number(process.env["ROUNDS"] ?? Infinity);
const LOOK_EVERY_MS = 100;

const settings = await settingsFrom(process.argv.slice(2), process.env);
const watching = crawl({
  ...settings,
  watch: true,
  onPage: ({ url, title, duplicate }) => {
    if (duplicate !== "not_modified") console.log(`new or changed: ${url} ${title}`);
  },
  onDeadline: ({ site, isLate, finishInMs }) => {
    const seconds = Math.round(finishInMs / 1000);
    console.log(isLate ? `late: ${site}, done in ${seconds} s` : `in time again: ${site}`);
  },
});
process.once("SIGINT", () => watching.stop());

const timer = setInterval(() => {
  const sites = watching.snapshot()?.sites ?? [];
  if (sites.length > 0 && sites.every(({ round }) => round.number > ROUNDS)) watching.stop();
}, LOOK_EVERY_MS);
const result = await watching;
clearInterval(timer);

for (const { site, round, roundPages } of result.sites) console.log(site, { round, ...roundPages });
