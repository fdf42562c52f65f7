import assert from "node:assert/strict";
import { test } from "node:test";
import { below, type Random, randomFrom } from "../base/random.ts";
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

test("a page with one changed word stays near, another page is far", () => {
  let near = 0;
  const rounds = 300;
  for (let seed = 1; seed <= rounds; seed++) {
    const random = randomFrom(seed);
    const page = words(random, 300);
    const hash = hashed(page.join(" "));
    const changed = page.with(below(random, page.length), "17:43:02");
    if (distance(hash, hashed(changed.join(" "))) <= 3) near += 1;
    const other = distance(hash, hashed(words(random, 300).join(" ")));
    assert.ok(other > 12, `seed ${seed}: another page at distance ${other}`);
  }
  assert.ok(near >= 0.98 * rounds, `${near} of ${rounds} stayed near`);
});
