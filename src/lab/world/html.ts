/**
 * Generates the HTML of a page: head, menu, paragraphs with links, footer.
 *
 * The size is exact to a sentence, unless frame and links alone exceed it. Beyond `DISTINCT_BYTES` the
 * text repeats, so that a page of 20 MB is cheap. A script and a comment contain decoy links; a request
 * for one shows that the crawler does not parse HTML.
 */

import { Dice } from "./dice.ts";
import { bytesOf, linksOf, topicOf } from "./page.ts";
import type { World } from "./plan.ts";
import { Prose } from "./prose.ts";
import type { Site } from "./site.ts";
import { trapEntrance } from "./traps.ts";
import { TOPICS, type Topic } from "./vocabulary.ts";

/** Target of the decoy links. */
export const DECOY_PATH = "/decoy/no-link.html";

const PURPOSE_TEXT = 8;
const DISTINCT_BYTES = 16_384;
const FOOTER_BYTES = 260;

/** The body of an ordinary page. A near copy is the same page with another `stamp`. */
export function htmlOf(world: World, site: Site, number: number, stamp = ""): Buffer {
  const topic = TOPICS[topicOf(world, site, number)] as Topic;
  const prose = new Prose(new Dice(world.plan.seed, site.index, number, PURPOSE_TEXT), topic);
  const bytes = bytesOf(world, site, number);
  const links = linksOf(world, site, number);
  const title = prose.phrase(4);
  const head = headOf(site, topic.language, title);
  const linksBytes = links.reduce((sum, href) => sum + href.length + 40, 0);
  const textBytes = Math.max(0, bytes - head.length - linksBytes - FOOTER_BYTES);

  let html = head + linkedParagraphs(prose, links, Math.min(textBytes, DISTINCT_BYTES));
  const filler = Math.max(0, textBytes - DISTINCT_BYTES);
  if (number === 0) html += trapEntrance(site);
  const footer = footerOf(site, stamp);
  if (filler === 0) return Buffer.from(html + footer, "latin1");
  return withFiller(html, `<p>${prose.text(4_000)}</p>\n`, filler, footer);
}

function headOf(site: Site, language: string, title: string): string {
  const menu = site.sections
    .slice(0, 4)
    .map((section) => `<li>${section}</li>`)
    .join("");
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<script>var menu = '<a href="${DECOY_PATH}">menu</a>';</script>
</head>
<body>
<nav><a href="/">Home</a><ul>${menu}</ul></nav>
<main>
<h1>${title}</h1>
`;
}

function footerOf(site: Site, stamp: string): string {
  return `</main>
<!-- <a href="${DECOY_PATH}">an old link</a> -->
<footer><p class="stamp">Kept by the people of ${site.origin}${stamp}</p>
<a href="#top">Up</a> <a href="mailto:people@example.org">Write to us</a></footer>
</body>
</html>
`;
}

/** Three links per paragraph, with the text spread evenly around them. */
function linkedParagraphs(prose: Prose, links: readonly string[], textBytes: number): string {
  const gap = Math.floor(textBytes / (links.length + 1));
  let html = "<p>";
  for (const [index, href] of links.entries()) {
    html += `${prose.text(gap)}<a href="${href}">${prose.phrase(2)}</a> `;
    if (index % 3 === 2) html += "</p>\n<p>";
  }
  return `${html}${prose.text(gap)}</p>\n`;
}

function withFiller(start: string, block: string, fillerBytes: number, end: string): Buffer {
  const body = Buffer.allocUnsafe(start.length + fillerBytes + end.length);
  body.write(start, 0, "latin1");
  body.fill(block, start.length, start.length + fillerBytes, "latin1");
  body.write(end, start.length + fillerBytes, "latin1");
  return body;
}
