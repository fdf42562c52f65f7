/**
 * A random sample of all addresses, the same for every process: by it coverage is estimated where no complete
 * crawl is at hand to compare with.
 *
 * Behind a firewall a process throws links to others' parts away. Those of the sample it fetches instead, to see whether there is
 * a page; whatever of these their owners do not have is missing, and so is the same part of everything else.
 */

const MIX = 0x9e3779b1 | 0;
const MORE = 0x85ebca6b | 0;

/** Bits of a fingerprint also say whose an address is, so all of them are stirred first. */
export function isInSample(high: number, low: number, share: number): boolean {
  const stirred = Math.imul(high ^ (low >>> 16), MIX);
  const point = Math.imul(stirred ^ (stirred >>> 15) ^ low, MORE);
  return (point ^ (point >>> 13)) >>> 0 < share * 2 ** 32;
}
