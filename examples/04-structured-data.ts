/**
 * Takes structured data out of pages: what shops, newspapers and recipes say of themselves in JSON-LD.
 *
 *   node examples/04-structured-data.ts https://example.org/ --contact you@example.org --pages 200
 *
 * Weir brings the bytes and the charset; how a page is taken apart is up to you. JSON-LD stands in script elements and
 * needs no parser. For tables and lists use one, such as parse5 or cheerio, on the same text.
 */

import { crawl, settingsFrom } from "../src/index.ts";

const SCRIPT = /<script[^>]*type=["']?application\/ld\+json["']?[^>]*>([^]*?)<\/script>/gi;

const settings = await settingsFrom(process.argv.slice(2), process.env);

for await (const page of crawl({ ...settings, acceptTypes: ["text/html"] })) {
  const html = new TextDecoder(page.charset).decode(page.body);
  for (const [, json = ""] of html.matchAll(SCRIPT)) {
    for (const thing of thingsIn(json))
      console.log(JSON.stringify({ url: page.url, type: thing["@type"], name: thing["name"] }));
  }
}

type Thing = Readonly<Record<string, unknown>>;

/** One thing, a list of them, or a graph; invalid JSON is ignored. */
function thingsIn(json: string): readonly Thing[] {
  try {
    const parsed: unknown = JSON.parse(json);
    const graph = isThing(parsed) && Array.isArray(parsed["@graph"]) ? parsed["@graph"] : parsed;
    return (Array.isArray(graph) ? graph : [graph]).filter(isThing);
  } catch {
    return [];
  }
}

function isThing(value: unknown): value is Thing {
  return typeof value === "object" && value !== null;
}
