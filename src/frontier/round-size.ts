/**
 * How many bytes a new round of a site will bring: Zhu et al. "predict the capacity to be crawled
 * next" from earlier rounds; here it is added up page by page, from what each is expected to cost.
 *
 * A page that has changed comes whole; one that has not costs an answer of headers alone if its
 * server can be asked, and comes whole if not. What that leaves out (new pages, robots.txt, errors)
 * and what it gets wrong shows in how much earlier rounds brought for every byte expected.
 */

/** Of an answer that says only that nothing has changed, with its headers. */
const UNCHANGED_BYTES = 300;
/** Which few pages happened to change is mostly chance, so a single round says little. */
const LAST_WEIGHT = 0.25;
/** Nor must an odd one, in which a site was down or had moved, spoil the guess for the next. */
const SURPLUS_MAX = 16;

export interface KnownPage {
  /** As last fetched. */
  readonly wireBytes: number;
  readonly hasValidators: boolean;
}

export function expectedBytes({ wireBytes, hasValidators }: KnownPage, chance: number): number {
  if (wireBytes === 0) return UNCHANGED_BYTES;
  return hasValidators ? chance * wireBytes + (1 - chance) * UNCHANGED_BYTES : wireBytes;
}

/** How much comes for every byte expected, after one more round: half as much and twice as much even out. */
export function surplusAfter(
  surplus: number,
  round: { readonly expectedBytes: number | undefined; readonly bytes: number },
): number {
  if (round.expectedBytes === undefined || round.expectedBytes === 0) return surplus;
  const lately = round.bytes / round.expectedBytes;
  const bounded = Math.min(SURPLUS_MAX, Math.max(1 / SURPLUS_MAX, lately));
  return bounded ** LAST_WEIGHT * surplus ** (1 - LAST_WEIGHT);
}
