/**
 * How long the reading of a page takes, part by part, over a folder of real HTML files.
 *
 *   node scripts/measure-page.ts FOLDER [FILES]
 *
 * Files are taken evenly from the whole folder and read before the clock starts. Of every ten pages
 * the fastest of many rounds counts, since others share the machine. A link is known once it was seen.
 */

import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { detectCharset, toUtf8 } from "../src/page/charset.ts";
import { digestOf } from "../src/page/digest.ts";
import { LinkHarvester } from "../src/page/links.ts";
import { NearHasher } from "../src/page/near-duplicate.ts";
import { judgeBody } from "../src/page/sniff.ts";
import { canonicalUrl, type CanonicalUrl } from "../src/url/url.ts";

const ROUNDS = 30;
const GROUP_PAGES = 10;

const [folder, files = "1000"] = process.argv.slice(2);
if (folder === undefined) throw new Error("usage: node scripts/measure-page.ts FOLDER [FILES]");

interface Sample {
  readonly url: CanonicalUrl;
  readonly body: Uint8Array;
}

const samples = load(folder, Number(files));
const harvester = new LinkHarvester({
  images: false,
  robotName: "weir",
  dropQuery: false,
  stripSessionIds: false,
});
const nearHasher = new NearHasher();
const seen = new Set<number>();
const isKnown = (high: number, low: number): boolean => {
  const key = (high & 0xfffff) * 2 ** 32 + low;
  if (seen.has(key)) return true;
  seen.add(key);
  return false;
};

let links = 0;
const harvestAll = ({ url, body }: Sample): void => {
  links += harvester.harvest(body, { url, written: undefined }, isKnown).fingerprints.length / 8;
};
const parts: Record<string, (sample: Sample) => void> = {
  sniff: ({ body }) => judgeBody("text/html", body),
  charset: ({ body }) => toUtf8(body, detectCharset(body, "text/html").name),
  digest: ({ body }) => digestOf(body),
  harvest: harvestAll,
  "harvest + near-duplicate": ({ url, body }) => {
    nearHasher.hash(body, harvester.harvest(body, { url, written: undefined }, isKnown).runs);
  },
};

const bytes = samples.reduce((sum, sample) => sum + sample.body.length, 0);
console.log(`${samples.length} pages, ${Math.round(bytes / samples.length)} bytes each`);
for (const [name, part] of Object.entries(parts))
  console.log(`${name.padEnd(26)}${fastestUs(part).toFixed(1).padStart(8)} µs a page`);
console.log(`${(links / samples.length / ROUNDS).toFixed(1)} distinct targets a page`);

function fastestUs(part: (sample: Sample) => void): number {
  const fastestMs = samples.map(() => Infinity);
  for (let round = 0; round < ROUNDS; round++)
    for (let first = 0; first < samples.length; first += GROUP_PAGES) {
      const group = samples.slice(first, first + GROUP_PAGES);
      const startMs = performance.now();
      for (const sample of group) part(sample);
      fastestMs[first] = Math.min(fastestMs[first] ?? 0, performance.now() - startMs);
    }
  const totalMs = fastestMs.filter(Number.isFinite).reduce((sum, ms) => sum + ms, 0);
  return (totalMs * 1000) / samples.length;
}

function load(root: string, countMax: number): Sample[] {
  const names = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.html?$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
  const stride = Math.max(1, names.length / countMax);
  const samples: Sample[] = [];
  for (let place = 0; place < names.length; place += stride) {
    const name = names[Math.floor(place)] ?? "";
    const url = canonicalUrl(encodeURI(`http://site.test/${name}`));
    if (typeof url === "string") samples.push({ url, body: readFileSync(join(root, name)) });
  }
  return samples;
}
