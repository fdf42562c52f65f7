/**
 * Predicts the bytes of a site's next round: Zhu et al. "predict the capacity to be crawled
 * next" from earlier rounds; here it is the sum of the expected cost of each page.
 *
 * A changed page is sent whole; an unchanged one costs a response of headers alone if its server supports
 * validators, and is sent whole if not. All other bytes (new pages, robots.txt, errors)
 * and errors of the estimate are in the surplus: bytes of earlier rounds per expected byte.
 */

/** Bytes of a 304 response, with its headers. */
const UNCHANGED_BYTES = 300;
/** Weight of the last round in the surplus: which few pages change is mostly chance. */
const LAST_WEIGHT = 0.25;
/** Bound for the surplus of one round, since a site may have been down or moved. */
const SURPLUS_MAX = 16;

interface KnownPage {
  /** Bytes received when it was last fetched. */
  readonly wireBytes: number;
  readonly hasValidators: boolean;
}

export function expectedBytes({ wireBytes, hasValidators }: KnownPage, chance: number): number {
  if (wireBytes === 0) return UNCHANGED_BYTES;
  return hasValidators ? chance * wireBytes + (1 - chance) * UNCHANGED_BYTES : wireBytes;
}

/** Bytes per expected byte, after one more round; a geometric mean, so half and twice cancel out. */
export function surplusAfter(
  surplus: number,
  round: { readonly expectedBytes: number | undefined; readonly bytes: number },
): number {
  if (round.expectedBytes === undefined || round.expectedBytes === 0) return surplus;
  const lately = round.bytes / round.expectedBytes;
  const bounded = Math.min(SURPLUS_MAX, Math.max(1 / SURPLUS_MAX, lately));
  return bounded ** LAST_WEIGHT * surplus ** (1 - LAST_WEIGHT);
}
