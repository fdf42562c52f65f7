/**
 * The shortest program: walk the pages of a site while they come.
 *
 *   node examples/01-pages.ts https://example.org/ --contact you@example.org --pages 20
 *
 * Every example takes the words that `weir crawl` takes. In a program of your own, write `from "weir"`.
 */

import { crawl, settingsFrom } from "../src/index.ts";

const settings = await settingsFrom(process.argv.slice(2), process.env);
const crawling = crawl(settings);

// The crawl waits until a page is taken, so slow work here costs no memory.
for await (const page of crawling) console.log(page.status, page.url, page.text().length);

const { pages, bytes, outcomes } = await crawling;
console.log(`${pages} pages, ${bytes} bytes`, outcomes);
