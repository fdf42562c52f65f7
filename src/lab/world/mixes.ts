/**
 * Page sizes for tests of a rate limit, from pages too short to be slowed down to files that must be
 * slowed down. Spread one of these into a world's plan.
 *
 * A page has at least 0.7 times its site's median size, and one in a hundred has seven times it.
 */

import type { WorldPlan } from "./plan.ts";

/** Names of the page sizes in {@link PAGE_MIXES}. */
export type MixName = "small" | "docs" | "large" | "mixed";

type Sizes = Pick<WorldPlan, "bytesMedianMin" | "bytesMedianMax" | "bytesMax">;

/**
 * Page sizes for tests of a rate limit, to be spread into a world's plan.
 *
 * @example
 * import { makeWorld, PAGE_MIXES } from "weir/lab";
 *
 * const world = makeWorld({ siteCount: 4, ...PAGE_MIXES.large });
 * console.log(world.plan.bytesMedianMax);
 */
export const PAGE_MIXES: Readonly<Record<MixName, Sizes>> = {
  /** 2 to 20 KB. */
  small: { bytesMedianMin: 3_000, bytesMedianMax: 12_000, bytesMax: 20_000 },
  /** Like the pages of a manual: tens of kilobytes, and indexes of hundreds. */
  docs: { bytesMedianMin: 12_000, bytesMedianMax: 60_000, bytesMax: 1_000_000 },
  /** 200 KB to 20 MB. */
  large: { bytesMedianMin: 300_000, bytesMedianMax: 5_000_000, bytesMax: 20_000_000 },
  /** Sites of all these kinds. */
  mixed: { bytesMedianMin: 3_000, bytesMedianMax: 5_000_000, bytesMax: 20_000_000 },
};
