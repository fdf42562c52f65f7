/**
 * Figures 2 and 3 of the paper on allocation: is a site's crawl time inversely proportional to its rate and
 * proportional to its size? The paper states t = ξ·D / v, with a ξ for each site.
 *
 * Each of six sites is crawled alone with the production loops under a limit v, once with several limits and
 * once with several page counts. ξ is the slope of t over D / v, the intercept is the start-up time, and R²
 * measures the fit.
 */

import type { WorldPlan } from "../world/plan.ts";
import { PAPER } from "./allocation-tasks.ts";
import {
  type Experiment,
  inEveryWorld,
  type Line,
  meanOf,
  type Plot,
  type Row,
  rounded,
} from "./experiment.ts";
import { fitLine, type LineFit } from "./line-fit.ts";
import { crawlWhole } from "./queue-crawl.ts";

const SITES = 6;
const LIMITS_BPS = [20e3, 30e3, 40e3, 60e3, 80e3, 120e3];
const PAGES = [20, 40, 60, 80, 100, 120];
/** The limit while the size varies. */
const LIMIT_BPS = 60e3;
/** The size while the limit varies. */
const PAGE_COUNT = 60;
/** Server rates range from just above the lowest limit to a multiple of the highest. */
const WORLD = {
  siteCount: SITES,
  speedBpsMin: 40e3,
  speedBpsMax: 1600e3,
  latencyMsMin: 10,
  latencyMsMax: 160,
  bytesMedianMin: 8_000,
  bytesMedianMax: 32_000,
  bytesMax: 300_000,
} satisfies Partial<WorldPlan>;

interface Measured {
  readonly limitBps: number;
  readonly bytes: number;
  readonly seconds: number;
}

interface SiteFound {
  readonly byRate: readonly Measured[];
  readonly bySize: readonly Measured[];
}

export const allocationFit: Experiment = {
  name: "allocation-fit",
  paper: `${PAPER}, Figures 2 and 3`,
  about:
    "The crawl time of a site at several limits v and with several sizes D, with the production loops; the best fit t = ξ·D / v + a, with ξ for each site and R².",
  parameters: {
    sites: SITES,
    limitBpsMin: Math.min(...LIMITS_BPS),
    limitBpsMax: Math.max(...LIMITS_BPS),
    pagesMin: Math.min(...PAGES),
    pagesMax: Math.max(...PAGES),
    limitBpsBySize: LIMIT_BPS,
    pagesByRate: PAGE_COUNT,
    serverBpsMin: WORLD.speedBpsMin,
    serverBpsMax: WORLD.speedBpsMax,
    latencyMsMin: WORLD.latencyMsMin,
    latencyMsMax: WORLD.latencyMsMax,
  },
  async run(options) {
    const worlds = await inEveryWorld(options, inOneWorld);
    const shown = worlds[0] ?? [];
    const rows = shown.map((site, index) => rowOf(`site${index}`, [site]));
    const all = worlds.flat();
    rows.push(rowOf(`mean of ${all.length}`, all));
    return { rows, plots: [overRate(shown), overSize(shown)] };
  },
};

async function inOneWorld(seed: number): Promise<SiteFound[]> {
  const found: SiteFound[] = [];
  for (let site = 0; site < SITES; site++) {
    const byRate: Measured[] = [];
    const bySize: Measured[] = [];
    for (const limitBps of LIMITS_BPS)
      byRate.push(await measure({ seed, site, limitBps, pages: PAGE_COUNT }));
    for (const pages of PAGES)
      bySize.push(await measure({ seed, site, limitBps: LIMIT_BPS, pages }));
    found.push({ byRate, bySize });
  }
  return found;
}

interface Crawl {
  readonly seed: number;
  readonly site: number;
  readonly limitBps: number;
  readonly pages: number;
}

async function measure({ seed, site, limitBps, pages }: Crawl): Promise<Measured> {
  const plan = {
    seed,
    world: WORLD,
    settings: { limitBps },
    pagesPerSite: pages,
    queue: "sites",
  } as const;
  return { limitBps, ...(await crawlWhole(plan, site)) };
}

/** The fit of t over D / v. */
function fitOf(measured: readonly Measured[]): LineFit {
  return fitLine(measured.map(({ limitBps, bytes, seconds }) => [bytes / limitBps, seconds]));
}

function rowOf(site: string, found: readonly SiteFound[]): Row {
  const byRate = found.map((one) => fitOf(one.byRate));
  const bySize = found.map((one) => fitOf(one.bySize));
  return {
    site,
    xiByRate: rounded(mean(byRate, "slope"), 3),
    startSecondsByRate: rounded(mean(byRate, "intercept"), 2),
    r2ByRate: rounded(mean(byRate, "explained"), 4),
    xiBySize: rounded(mean(bySize, "slope"), 3),
    startSecondsBySize: rounded(mean(bySize, "intercept"), 2),
    r2BySize: rounded(mean(bySize, "explained"), 4),
    mostBps: Math.round(meanOf(found.map(({ byRate: rates }) => Math.max(...rates.map(rateOf))))),
  };
}

function mean(fits: readonly LineFit[], figure: keyof LineFit): number {
  return meanOf(fits.map((fit) => fit[figure]));
}

function rateOf({ bytes, seconds }: Measured): number {
  return bytes / seconds;
}

function overRate(found: readonly SiteFound[]): Plot {
  const lines = found.map(({ byRate }, site): Line => ({
    name: `site${site}`,
    kind: "solid",
    points: byRate.map(({ limitBps, seconds }) => [limitBps, seconds] as const),
  }));
  return {
    name: "allocation-fit-rate",
    title: `Time for ${PAGE_COUNT} pages by the rate (Figure 2)`,
    x: { label: "rate", unit: "B/s" },
    y: { label: "time", unit: "s" },
    lines,
  };
}

function overSize(found: readonly SiteFound[]): Plot {
  const lines = found.map(({ bySize }, site): Line => ({
    name: `site${site}`,
    kind: "solid",
    points: bySize.map(({ bytes, seconds }) => [bytes, seconds] as const),
  }));
  return {
    name: "allocation-fit-size",
    title: `Time by the size of the site, at ${LIMIT_BPS / 1000} KB/s (Figure 3)`,
    x: { label: "size", unit: "B" },
    y: { label: "time", unit: "s" },
    lines,
  };
}
