import assert from "node:assert/strict";
import { test } from "node:test";
import { below, pick, type Random, randomFrom } from "../base/random.ts";
import { END_OF_PAGE, HtmlScanner } from "./html-scanner.ts";
import { hammingDistance, NearHasher } from "./near-duplicate.ts";

function hashed(html: string): NearHasher {
  const bytes = Buffer.from(html);
  const scanner = new HtmlScanner({ tellImages: false });
  scanner.start(bytes);
  while (scanner.next() !== END_OF_PAGE);
  const hasher = new NearHasher();
  hasher.hash(bytes, scanner.runs);
  return hasher;
}

function distance(one: NearHasher, other: NearHasher): number {
  return hammingDistance(one.high ^ other.high, one.low ^ other.low);
}

function words(random: Random, count: number): string[] {
  return Array.from({ length: count }, () => below(random, 5_000).toString(36));
}

test("tags, scripts and case do not change a fingerprint; too few words have none", () => {
  const text = words(randomFrom(1), 200).join(" ");
  const plain = hashed(text);
  assert.equal(distance(plain, hashed(`<p class=x>${text.toUpperCase()}<script>1</script>`)), 0);
  const few = hashed("only a few words");
  assert.deepEqual([few.high, few.low], [0, 0]);
});

test("words are found alike across runs and in scripts without spaces", () => {
  const parts = [..."abZ09é日本語한 .,-\n", "<p>", "<b>", "</b>", "word", "Wörter", " "];
  for (let seed = 1; seed <= 2_000; seed++) {
    const random = randomFrom(seed);
    let html = "";
    for (let count = 200 + below(random, 400); count > 0; count--) html += pick(random, parts);
    const apart = html.replaceAll(/<[^>]*>/g, " ").match(/[\u3000-\ud7ff]|[a-z0-9é-ö]+/gi) ?? [];
    assert.equal(distance(hashed(html), hashed(apart.join(" "))), 0, `seed ${seed}`);
  }
});

test("text after the first 16 KiB changes nothing, in one run or many", () => {
  const first = "seven b ".repeat(2048);
  assert.equal(distance(hashed(first), hashed(`${first}${"other words ".repeat(9999)}`)), 0);
  const runs = "<p>seven b ".repeat(2048);
  assert.equal(distance(hashed(runs), hashed(`${runs}<p>other words`)), 0);
});

test("a page with one changed word stays near, another page is far", () => {
  let near = 0;
  const trials = 300;
  for (let seed = 1; seed <= trials; seed++) {
    const random = randomFrom(seed);
    const page = words(random, 300);
    const hash = hashed(page.join(" "));
    const changed = page.with(below(random, page.length), "17:43:02");
    if (distance(hash, hashed(changed.join(" "))) <= 3) near += 1;
    const other = distance(hash, hashed(words(random, 300).join(" ")));
    assert.ok(other > 12, `seed ${seed}: another page at distance ${other}`);
  }
  assert.ok(near >= 0.98 * trials, `${near} of ${trials} stayed near`);
});
