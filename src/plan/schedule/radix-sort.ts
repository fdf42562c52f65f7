/**
 * Sorts sites by a number each, the least first; equal ones keep their order.
 *
 * Many are sorted by the bits of their numbers, sixteen at a time from the last (radix sort: Knuth,
 * *The Art of Computer Programming*, volume 3, 5.2.5), in a tenth of the time of comparing: O(n). A
 * double sorts like a whole number when all bits of a negative one are inverted, and of any other
 * the sign.
 */

/** Fewer are sorted by comparing: counting 65,536 digits costs as much. */
const COUNT_MIN = 2000;
const DIGITS = 2 ** 16;
const SIGN = 2 ** 15;
/** Offsets of the sixteen-bit words of a double, the last first: byte orders differ. */
const WORDS = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1 ? [0, 1, 2, 3] : [3, 2, 1, 0];
const TOP_WORD = WORDS.at(-1) as number;

/** All sites below the count. */
export function orderBy(count: number, keyOf: (site: number) => number): Int32Array {
  const keys = new Float64Array(count);
  for (let site = 0; site < count; site++) keys[site] = keyOf(site);
  return sorted(firstSites(count), keys);
}

/** 0, 1, 2 and so on. */
function firstSites(count: number): Int32Array {
  const sites = new Int32Array(count);
  for (let site = 0; site < count; site++) sites[site] = site;
  return sites;
}

/** These sites by `keys[site]`. None is NaN. */
export function sorted(sites: Int32Array, keys: Float64Array): Int32Array {
  if (sites.length < COUNT_MIN)
    return sites.toSorted((a, b) => compared(keys[a] as number, keys[b] as number));
  const words = wordsOf(sites, keys);
  let from = new Int32Array(sites.length);
  let to = new Int32Array(sites.length);
  // The offset of each site's words.
  for (let place = 0; place < from.length; place++) from[place] = 4 * place;
  const begins = new Int32Array(DIGITS);
  for (const word of WORDS) {
    if (!countBegins(begins, words, word)) continue;
    for (let place = 0; place < from.length; place++) {
      const at = from[place] as number;
      const digit = words[at + word] as number;
      const target = begins[digit] as number;
      begins[digit] = target + 1;
      to[target] = at;
    }
    [from, to] = [to, from];
  }
  for (let place = 0; place < to.length; place++)
    to[place] = sites[(from[place] as number) >> 2] as number;
  return to;
}

/** The difference of two infinities is NaN. */
function compared(a: number, b: number): number {
  if (a < b) return -1;
  return a > b ? 1 : 0;
}

function wordsOf(sites: Int32Array, keys: Float64Array): Uint16Array {
  const numbers = new Float64Array(sites.length);
  // Adding 0 turns -0 into 0, which is equal.
  for (let place = 0; place < sites.length; place++)
    numbers[place] = (keys[sites[place] as number] as number) + 0;
  const words = new Uint16Array(numbers.buffer);
  for (let at = 0; at < words.length; at += 4) {
    const top = words[at + TOP_WORD] as number;
    if (top < SIGN) words[at + TOP_WORD] = top | SIGN;
    else for (const word of WORDS) words[at + word] = ~(words[at + word] as number);
  }
  return words;
}

/** The start of each digit's sites; false when all have the same digit, so that none moves. */
function countBegins(begins: Int32Array, words: Uint16Array, word: number): boolean {
  begins.fill(0);
  for (let at = word; at < words.length; at += 4) {
    const digit = words[at] as number;
    begins[digit] = (begins[digit] as number) + 1;
  }
  if (4 * (begins[words[word] as number] as number) === words.length) return false;
  let sum = 0;
  for (let digit = 0; digit < DIGITS; digit++) {
    const count = begins[digit] as number;
    begins[digit] = sum;
    sum += count;
  }
  return true;
}
