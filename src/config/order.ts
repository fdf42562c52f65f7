/**
 * What a person ordered: settings and starting addresses, checked together.
 *
 * Promise: either everything is in order, or one error names all that is not.
 */

import { CrawlError } from "../base/errors.ts";
import { hideCredentials, visible } from "../base/visible.ts";
import { withoutCredentials } from "../url/credentials.ts";
import { siteOf } from "../url/site.ts";
import type { CanonicalUrl } from "../url/url.ts";
import { bandwidthMistakes, bandwidthRemarks } from "./bandwidth-rules.ts";
import { rudeness } from "./manners.ts";
import { parallelMistakes } from "./parallel-rules.ts";
import { faultsInShort, planFaults, planMistakes, withoutLine } from "./plan-rules.ts";
import { roundMistakes, roundRemarks } from "./rounds-rules.ts";
import type { Settings } from "./schema.ts";
import { readSeeds, type RefusedSeeds, type Seeds, seedsRefused, type Spellings } from "./seeds.ts";
import { type Gathered, gatherSettings, type Variables } from "./sources.ts";

export interface Order {
  readonly settings: Settings;
  readonly seeds: readonly CanonicalUrl[];
  readonly spellings: Spellings;
  readonly outFolder: string;
  /** Odd but harmless, for people to read. */
  readonly remarks: readonly string[];
}

export async function readOrder(words: readonly string[], variables: Variables): Promise<Order> {
  const gathered = await gatherSettings(words, variables);
  return checkOrder(gathered.settings, gathered);
}

/**
 * Reads settings in the spelling of the command line, as `weir crawl` does: words, environment variables (`WEIR_…`) and
 * `weir.yaml`.
 *
 * @example
 * import { crawl, settingsFrom } from "weir";
 *
 * const words = ["https://example.org/", "--limit", "2MB/s", "--contact", "you@example.org"];
 * const settings = await settingsFrom(words, process.env);
 * const result = await crawl({ ...settings, outFolder: "weir-data/example.org" });
 */
export async function settingsFrom(
  words: readonly string[],
  variables: Variables = {},
): Promise<Settings> {
  return (await readOrder(words, variables)).settings;
}

/** What was found before in the same order, to be told with the rest. */
export type Found = Partial<Pick<Gathered, "remarks" | "mistakes" | "faults">>;

/** The same for settings that come from a program. */
export function checkOrder(asked: Settings, found: Found = {}): Order {
  const seeds = readSeeds(asked);
  const settings = withoutUrlCredentials(asked);
  const { urls } = seeds;
  const order = checked(settings, seeds, found, [
    ...rudeness(settings, urls),
    ...roundMistakes(settings, urls),
  ]);
  return { ...order, remarks: [...order.remarks, ...roundRemarks(settings, urls)] };
}

/** For a plan, which asks nobody for anything: any address will do, and nobody need say who asks. */
export function checkPlanOrder(asked: Settings, found: Found = {}): Order {
  const seeds = readSeeds({ ...asked, allowPrivate: ["0.0.0.0/0", "::/0"] });
  const settings = withoutUrlCredentials(asked);
  return checked(settings, seeds, found, []);
}

function checked(
  settings: Settings,
  seeds: Seeds,
  { remarks = [], mistakes = [], faults = [] }: Found,
  more: readonly string[],
): Order {
  const { strict } = settings;
  const siteFaults = planFaults(settings, seeds.urls);
  const all = [
    ...mistakes,
    ...bandwidthMistakes(settings),
    ...planMistakes(settings),
    ...parallelMistakes(settings),
    ...(strict ? [...faults, ...siteFaults] : []),
    ...seeds.mistakes,
    ...more,
  ];
  const seedsOnly = mistakes.length === 0 && all.length === seeds.mistakes.length;
  if (all.length > 0) throw refusal(seedsOnly ? "SEED_REFUSED" : "SETTINGS_INVALID", all);
  const badLines = badLinesOf(seeds, settings.seedsFile ?? "");
  const [first] = seeds.urls;
  if (first === undefined)
    throw new CrawlError("SEEDS_MISSING", ["There is no seed.", ...badLines].join("\n"));
  const refused = seedsRefused(settings, seeds.urls);
  const refusedLines = refusedLinesOf(refused);
  if (refused.count === seeds.urls.length)
    throw new CrawlError("SEED_REFUSED", ["No seed may be crawled.", ...refusedLines].join("\n"));
  return {
    settings,
    seeds: seeds.urls,
    spellings: seeds.spellings,
    outFolder: settings.outFolder ?? `weir-data/${folderNameOf(first)}`,
    remarks: [
      ...remarks,
      ...bandwidthRemarks(settings),
      ...faultsInShort([...faults.map(withoutLine), ...siteFaults]),
      ...credentialRemarks(seeds),
      ...badLines,
      ...refusedLines,
    ],
  };
}

/** Settings are kept with the crawl and shared with its processes, so no URL in them holds a password. */
function withoutUrlCredentials(settings: Settings): Settings {
  const { urls, sites, include, exclude } = settings;
  return {
    ...settings,
    urls: urls.map(withoutCredentials),
    sites: sites.map((site) => ({ ...site, url: withoutCredentials(site.url) })),
    include: include.map(hideCredentials),
    exclude: exclude.map(hideCredentials),
  };
}

function credentialRemarks({ credentialCount: count }: Seeds): string[] {
  if (count === 0) return [];
  const which = count === 1 ? "a starting address" : `${count} starting addresses`;
  return [
    `user name and password in ${which} are not used: they were removed, and no login is made`,
  ];
}

function refusedLinesOf({ count, lines }: RefusedSeeds): string[] {
  if (count === 0) return [];
  return [
    `${count} ${count === 1 ? "seed is" : "seeds are"} refused; change the seed or the pattern:`,
    ...lines.map((line) => `  ${line}`),
    ...(count > lines.length ? ["  …"] : []),
  ];
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

export function refusal(
  code: "SEED_REFUSED" | "SETTINGS_INVALID",
  mistakes: readonly string[],
): CrawlError {
  const heading = mistakes.length === 1 ? "" : `${mistakes.length} mistakes in the settings:\n  `;
  return new CrawlError(code, heading + mistakes.join("\n  "));
}
