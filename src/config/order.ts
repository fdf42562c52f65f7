/**
 * What a person ordered: settings and starting addresses, checked together.
 *
 * Promise: either everything is in order, or one error names all that is not.
 */

import { CrawlError } from "../base/errors.ts";
import { visible } from "../base/visible.ts";
import { siteOf } from "../url/site.ts";
import type { CanonicalUrl } from "../url/url.ts";
import { bandwidthMistakes, bandwidthRemarks } from "./bandwidth-rules.ts";
import { rudeness } from "./manners.ts";
import type { Settings } from "./schema.ts";
import { readSeeds, type Seeds } from "./seeds.ts";
import { gatherSettings, type Variables } from "./sources.ts";

export interface Order {
  readonly settings: Settings;
  readonly seeds: readonly CanonicalUrl[];
  readonly outFolder: string;
  /** Odd but harmless, for people to read. */
  readonly remarks: readonly string[];
}

export async function readOrder(words: readonly string[], variables: Variables): Promise<Order> {
  const { settings, remarks, mistakes } = await gatherSettings(words, variables);
  return checkOrder(settings, remarks, mistakes);
}

/** The same for settings that come from a program; mistakes already found are told with the others. */
export function checkOrder(
  settings: Settings,
  remarks: readonly string[] = [],
  mistakes: readonly string[] = [],
): Order {
  const seeds = readSeeds(settings);
  const all = [
    ...mistakes,
    ...bandwidthMistakes(settings),
    ...seeds.mistakes,
    ...rudeness(settings, seeds.urls),
  ];
  const seedsOnly = mistakes.length === 0 && all.length === seeds.mistakes.length;
  if (all.length > 0) throw refusal(seedsOnly ? "SEED_REFUSED" : "SETTINGS_INVALID", all);
  const badLines = badLinesOf(seeds, settings.seedsFile ?? "");
  const [first] = seeds.urls;
  if (first === undefined)
    throw new CrawlError(
      "SEEDS_MISSING",
      ["There is no address to start from.", ...badLines].join("\n"),
    );
  return {
    settings,
    seeds: seeds.urls,
    outFolder: settings.outFolder ?? `weir-data/${folderNameOf(first)}`,
    remarks: [...remarks, ...bandwidthRemarks(settings), ...badLines],
  };
}

function badLinesOf({ badLines, badLineCount }: Seeds, file: string): string[] {
  if (badLineCount === 0) return [];
  return [
    `${badLineCount} bad ${badLineCount === 1 ? "line" : "lines"} in ${visible(file, 120)}, left out:`,
    ...badLines.map((line) => `  ${line}`),
    ...(badLineCount > badLines.length ? ["  …"] : []),
  ];
}

/** `https://docs.example:8080/x` is kept in `docs.example-8080`: only harmless letters remain. */
export function folderNameOf(url: CanonicalUrl): string {
  const host = siteOf(url).replace(/^https?:\/\//, "");
  return host.replaceAll(/[^a-z0-9.-]+/g, "-").replaceAll(/^[.-]+|[.-]+$/g, "") || "crawl";
}

function refusal(
  code: "SEED_REFUSED" | "SETTINGS_INVALID",
  mistakes: readonly string[],
): CrawlError {
  const heading = mistakes.length === 1 ? "" : `${mistakes.length} mistakes in what was asked:\n  `;
  return new CrawlError(code, heading + mistakes.join("\n  "));
}
