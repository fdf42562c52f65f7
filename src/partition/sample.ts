/**
 * A random sample of all URLs, the same in every process, which estimates coverage without a complete crawl to
 * compare with.
 *
 * In firewall mode a process drops links to other processes' parts. Links in the sample are fetched instead, to see
 * whether there is a page; the share of these pages that their owners lack estimates the share missing in all.
 */

const MIX = 0x9e3779b1 | 0;
const MORE = 0x85ebca6b | 0;

/** All bits of the fingerprint are mixed first. */
export function isInSample(high: number, low: number, share: number): boolean {
  const mixed = Math.imul(high ^ (low >>> 16), MIX);
  const point = Math.imul(mixed ^ (mixed >>> 15) ^ low, MORE);
  return (point ^ (point >>> 13)) >>> 0 < share * 2 ** 32;
}
