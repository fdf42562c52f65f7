/**
 * An order of one's own: of what waits at a site, the highest score is fetched first.
 *
 *   node examples/02-order.ts https://example.org/ --contact you@example.org --pages 50
 *
 * Here short addresses go before long ones, because overviews tend to have short ones, and what has a query
 * goes last. A score is asked for once, when an address is met; links can be left out altogether by `onLink`.
 */

import { crawl, settingsFrom } from "../src/index.ts";

const settings = await settingsFrom(process.argv.slice(2), process.env);

await crawl({
  ...settings,
  score({ url, depth }) {
    const { pathname, search } = new URL(url);
    const folders = pathname.split("/").length - 1;
    return -folders - 0.01 * depth - (search === "" ? 0 : 100);
  },
  onLink: (url) => !url.endsWith(".pdf"),
  onPage: ({ url }) => console.log(url),
});
