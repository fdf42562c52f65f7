/**
 * The request for a crawl: settings and seeds, checked together.
 *
 * Promise: either all are valid, or one error lists all mistakes.
 */

import { CrawlError } from "../base/errors.ts";
import { hideCredentials, visible } from "../base/visible.ts";
import { trustMistakes } from "../fetch/trust.ts";
import { withoutCredentials } from "../url/credentials.ts";
import { siteOf } from "../url/site.ts";
import type { CanonicalUrl } from "../url/url.ts";
import { bandwidthMistakes, bandwidthRemarks } from "./limit.ts";
import { politenessMistakes } from "./politeness.ts";
import { parallelMistakes } from "./processes.ts";
import { faultsInShort, planFaults, planMistakes, withoutLine } from "./deadlines.ts";
import { recrawlMistakes, recrawlRemarks } from "./recrawl.ts";
import type { Settings } from "./schema.ts";
import { readSeeds, type RefusedSeeds, type Seeds, seedsRefused, type Spellings } from "./seeds.ts";
import { type Gathered, gatherSettings, type Variables } from "./sources.ts";

export interface Order {
  readonly settings: Settings;
  readonly seeds: readonly CanonicalUrl[];
  readonly spellings: Spellings;
  readonly outFolder: string;
  /** For users: odd but harmless settings. */
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

/** Findings from reading the same request, to be reported with the others. */
export type Found = Partial<Pick<Gathered, "remarks" | "mistakes" | "faults">>;

/** The same for settings from a program. */
export function checkOrder(given: Settings, found: Found = {}): Order {
  const seeds = readSeeds(given);
  const settings = withoutUrlCredentials(given);
  const { urls } = seeds;
  const order = checked(settings, seeds, found, [
    ...politenessMistakes(settings, urls),
    ...recrawlMistakes(settings, urls),
  ]);
  return { ...order, remarks: [...order.remarks, ...recrawlRemarks(settings, urls)] };
}

/** For a plan, which sends no request: private addresses are allowed and no contact is needed. */
export function checkPlanOrder(given: Settings, found: Found = {}): Order {
  const seeds = readSeeds({ ...given, allowPrivate: ["0.0.0.0/0", "::/0"] });
  const settings = withoutUrlCredentials(given);
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
    ...trustMistakes(settings),
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
    throw new CrawlError(
      "SEED_REFUSED",
      ["No seed may be crawled.", ...badLines, ...refusedLines].join("\n"),
    );
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

/** Settings are stored and sent to the other processes, so no URL in them contains a password. */
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
  const which = count === 1 ? "a seed" : `${count} seeds`;
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

/** `https://docs.example:8080/x` is stored in `docs.example-8080`: only safe letters remain. */
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
